"""What the tests of the programs share: a folder of their own with a runtime directory in it.
Relies on unittest. Promises: nothing of the user's own home, runtime directory or default space is touched."""
import os
import pathlib
import tempfile
import unittest


class FolderTest(unittest.TestCase):
    """A fresh folder for each test; self.space is the path of a space that is not there yet."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "run").mkdir(mode=0o700)
        self.space = str(self.folder / "space")
        self.environment = {key: value for key, value in os.environ.items() if key != "KVSPACE"}
        self.environment.update(NO_COLOR="1", HOME=str(self.folder), XDG_RUNTIME_DIR=str(self.folder / "run"), TMPDIR=str(self.folder / "run"))
