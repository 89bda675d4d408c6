"""What the tests of the standard runtime's families share: programs that must print something, or fail with a certain error.
Relies on kvlang_tool.py. Promises: a failure shows the program, what it printed and its diagnostics."""
from kvlang_tool import FAILED, USAGE, ProgramTest


class FamilyTest(ProgramTest):
    def run_code(self, code, *options):
        return self.run_program(*options, self.write("program.kv", code + "\n"))

    def prints(self, code, *lines):
        """The program ends well and prints exactly these lines."""
        done = self.run_code(code)
        self.assertEqual((done.returncode, done.stdout.split("\n")), (0, [*lines, ""]), f"{code}\n{done.stderr}")

    def raises(self, code, kind, *parts):
        """The program ends with an error of that kind (at run time, or at layout where the compiler can tell), whose diagnostics have all the parts."""
        done = self.run_code(code)
        self.assertIn(done.returncode, (FAILED, USAGE), f"{code}\n{done.stdout}{done.stderr}")
        for part in (f"error: {kind}: ", *parts):
            self.assertIn(part, done.stderr, code)
        return done.stderr


def quoted(text):
    """A text as a literal of the language."""
    special = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\", "\0": "\\0"}
    return '"' + "".join(special.get(c) or (c if c >= " " else f"\\x{ord(c):02x}") for c in text) + '"'
