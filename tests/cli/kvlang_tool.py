"""What the tests of the kvlang program share: a folder of their own, with a runtime directory in it, and running the program there.
Relies on KVLANG_BUILD_DIR (set by ctest). Promises: nothing of the user's own runtime directory is touched, and no run hangs."""
import os
import pathlib
import subprocess
import sys
import unittest

from folder_case import FolderTest

BUILD = pathlib.Path(os.environ.get("KVLANG_BUILD_DIR", "build")).resolve()
KVLANG, KVSPACE = BUILD / "bin" / "kvlang", BUILD / "bin" / "kvspace"
OK, FAILED, USAGE, SPACE = range(4)


class ProgramTest(FolderTest):
    """Runs the two programs."""

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def start(self, *arguments, program=KVLANG):
        process = subprocess.Popen([str(program), *arguments], env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="replace")
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def run_program(self, *arguments, stdin="", program=KVLANG, env=None):
        return subprocess.run([str(program), *arguments], env=env or self.environment, cwd=self.folder, input=stdin, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120, check=False, text=True, encoding="utf-8", errors="replace")

    def kvlang(self, *arguments, status=OK, stdin="", env=None):
        """Runs the program, which must end with `status`; gives its standard output, and leaves its standard error in self.said."""
        done = self.run_program(*arguments, stdin=stdin, env=env)
        self.said = done.stderr
        self.assertEqual(done.returncode, status, f"{arguments}\n{done.stdout}{done.stderr}")
        return done.stdout

    def kvspace(self, *arguments, status=OK):
        done = self.run_program(*arguments, program=KVSPACE)
        self.assertEqual(done.returncode, status, f"{arguments}\n{done.stdout}{done.stderr}")
        return done.stdout

    def spaces(self):
        """The files of anonymous spaces that are there now."""
        return sorted(str(path) for path in (self.folder / "run").rglob("*.kvspace"))


def main():
    if not KVLANG.exists():
        print(f"skipped: there is no {KVLANG}")
        sys.exit(77)
    unittest.main(verbosity=1)
