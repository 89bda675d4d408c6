"""What the tests of the kvlang program share: a folder of their own, with a runtime directory in it, and running the program there.
Relies on KVLANG_BUILD_DIR (set by ctest). Promises: nothing of the user's own runtime directory is touched, and no run hangs."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ.get("KVLANG_BUILD_DIR", "build")).resolve()
KVLANG, KVSPACE = BUILD / "bin" / "kvlang", BUILD / "bin" / "kvspace"
OK, FAILED, USAGE, SPACE = range(4)


class ProgramTest(unittest.TestCase):
    """A fresh folder and runtime directory for each test; self.space is the path of a space that is not there yet."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "run").mkdir(mode=0o700)
        self.space = str(self.folder / "space")
        self.environment = {key: value for key, value in os.environ.items() if key != "KVSPACE"}
        self.environment.update(NO_COLOR="1", HOME=str(self.folder), XDG_RUNTIME_DIR=str(self.folder / "run"), TMPDIR=str(self.folder / "run"))

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
