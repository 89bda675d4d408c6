"""What the tests of the Python module share: the module of this source tree with the library of KVLANG_BUILD_DIR, and a space each."""
import os
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
BUILD = pathlib.Path(os.environ.get("KVLANG_BUILD_DIR", HERE.parents[2] / "build"))
LIBRARY = BUILD / "lib" / ("libkvspace.dylib" if sys.platform == "darwin" else "libkvspace.so")
if not LIBRARY.exists():
    print("the library is not built")
    sys.exit(77)
os.environ["KVSPACE_LIBRARY"] = str(LIBRARY)

import kvspace  # noqa: E402  pylint: disable=wrong-import-position

try:
    import numpy
except ImportError:
    numpy = None
needs_numpy = unittest.skipIf(numpy is None, "NumPy is not installed")


class SpaceCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "run").mkdir(mode=0o700)
        before = os.environ.get("XDG_RUNTIME_DIR")
        os.environ["XDG_RUNTIME_DIR"] = str(self.folder / "run")
        self.addCleanup(lambda: os.environ.pop("XDG_RUNTIME_DIR") if before is None else os.environ.update(XDG_RUNTIME_DIR=before))
        self.path = str(self.folder / "space")
        self.space = kvspace.open(self.path)
        self.addCleanup(self.space.close)

    def whole(self):
        self.assertEqual(self.space.check(), [])


def main():
    unittest.main(verbosity=1)
