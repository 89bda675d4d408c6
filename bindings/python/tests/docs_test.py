"""Every example of docs/python.md and of the package's README runs, in order, in one program each."""
import contextlib
import io
import re
import sys
import tempfile
import unittest
from unittest import mock

from kvspace_case import HERE, numpy

PAGES = [HERE.parents[2] / "docs" / "python.md", HERE.parent / "README.md"]


class Examples(unittest.TestCase):
    def test_the_pages(self):
        for page in PAGES:
            with self.subTest(page.name), tempfile.TemporaryDirectory() as folder, mock.patch.dict("os.environ", XDG_RUNTIME_DIR=folder):
                blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
                self.assertTrue(blocks)
                names = {}
                for block in blocks:
                    with contextlib.redirect_stdout(io.StringIO()):
                        exec(compile(block.replace("/tmp/demo", folder + "/demo"), f"{page.name}: {block}", "exec"), names)  # pylint: disable=exec-used
                names.get("space").close()


if __name__ == "__main__":
    if numpy is None:
        print("NumPy is not installed")
        sys.exit(77)
    unittest.main(verbosity=1)
