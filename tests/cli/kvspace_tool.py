"""What the tests of the kvspace tool share: a folder of their own, a space in it, and running the tool on it.
Relies on KVLANG_BUILD_DIR (set by ctest). Promises: nothing of the user's own runtime directory is touched, and no run hangs."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

from folder_case import FolderTest

BUILD = pathlib.Path(os.environ.get("KVLANG_BUILD_DIR", "build")).resolve()
TOOL = BUILD / "bin" / "kvspace"
SANITIZED = bool(os.environ.get("KVLANG_SANITIZE"))  # some ten times slower
OK, NO, USAGE, SPACE, TIMEOUT, DAMAGED = range(6)


class ToolTest(FolderTest):
    """The tool on the space of the test, which is its default one."""

    def setUp(self):
        super().setUp()
        self.environment["KVSPACE"] = self.space

    def start(self, *arguments, **options):
        return subprocess.Popen([str(TOOL), *arguments], env=options.pop("env", self.environment), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="replace", **options)

    def run_tool(self, *arguments, stdin="", env=None, binary=False):
        text = {} if binary else {"text": True, "encoding": "utf-8", "errors": "replace"}
        return subprocess.run([str(TOOL), *arguments], env=env or self.environment, input=stdin, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60, check=False, **text)

    def tool(self, *arguments, status=OK, stdin="", env=None):
        """Runs a command that must end with `status`; gives its standard output."""
        done = self.run_tool(*arguments, stdin=stdin, env=env)
        self.assertEqual(done.returncode, status, f"{arguments}\n{done.stdout}{done.stderr}")
        if status == OK:
            self.assertEqual(done.stderr, "", f"{arguments}")
        return done.stdout

    def fails(self, status, *arguments, says="", stdin="", env=None):
        """Runs a command that must fail, with a message that has `says` in it and begins with the program's name."""
        done = self.run_tool(*arguments, stdin=stdin, env=env)
        self.assertEqual(done.returncode, status, f"{arguments}\n{done.stdout}{done.stderr}")
        self.assertTrue(done.stderr.startswith("kvspace: "), done.stderr)
        self.assertIn(says, done.stderr)
        return done

    def set(self, **pairs):
        for name, literal in pairs.items():
            self.tool("set", "/" + name.replace("__", "/"), literal)

    def json(self, *arguments):
        return json.loads(self.tool(*arguments))


def main():
    if not TOOL.exists():
        print("the kvspace tool is not built")
        sys.exit(77)
    unittest.main(verbosity=1)
