"""The prompt through a pipe: what is shown, what stays from one entry to the next, errors, its own commands, the exit status.
Relies on kvlang_tool.py. Promises: nothing is echoed and no prompt is printed where there is no terminal."""
from kvlang_tool import FAILED, OK, USAGE, ProgramTest, main


class Prompt(ProgramTest):
    def repl(self, *lines, status=OK, options=()):
        return self.kvlang(*options, "repl", stdin="\n".join(lines) + "\n", status=status)

    def test_expressions_are_shown(self):
        self.assertEqual(self.repl("1 + 2", '"text"', "[1, 2]", "None", "1 < 2"), "3\ntext\n[1, 2]\nNone\ntrue\n")

    def test_instructions_are_run(self):
        self.assertEqual(self.repl('println("once")', "x = 5", "6 -> y", "kv·set(\"/a\", 7)", "/a"), "once\n7\n")

    def test_names_stay(self):
        self.assertEqual(self.repl("x = 40", "x + 2", "x + 1 -> x", "x", "m = {a=1}", "m·b = [1, 2]", "m", "s = \"ab\"", "s + s"),
                         "42\n41\n{a=1, b=[1, 2]}\nabab\n")

    def test_values_are_copies(self):
        self.assertEqual(self.repl("a = [1, 2, 3]", "b = a", "b[0] = 9", "a", "b"), "[1, 2, 3]\n[9, 2, 3]\n")

    def test_functions_and_structs_stay_and_change(self):
        self.assertEqual(self.repl("rwfunc f(a:int64) -> (b:int64) { a + 1 -> b }", "f(1)", "rwfunc f(a:int64) -> (b:int64) { a + 2 -> b }", "f(1)",
                                   "struct P { x:float64 = 0.0 }", "p = P{x=1.5}", "p", "p·x"), "2\n3\nP{x=1.5}\n1.5\n")

    def test_entries_of_several_lines(self):
        self.assertEqual(self.repl("rwfunc g(a:int64) -> (b:int64) {", "    a × 2 -> b", "}", "for (i in range(2)) {", "println(g(i))", "}", "[1,", "2]",
                                   '"""a', 'b"""'), "0\n2\n[1, 2]\na\nb\n")

    def test_errors_end_an_entry_only(self):
        self.assertEqual(self.repl("x = 1", "x ÷ 0", "nothing(1)", "1 +", "x", status=USAGE), "1\n")
        self.assertIn("ZeroDivisionError", self.said)
        self.assertIn("NameError", self.said)
        self.assertIn("SyntaxError", self.said)

    def test_status_is_that_of_the_last_failure(self):
        self.repl("1 +", "1 ÷ 0", "2", status=FAILED)
        self.repl("error(\"bad\")", status=FAILED)

    def test_what_was_written_before_an_error_stays(self):
        self.assertEqual(self.repl("x = 1; y = 2; z = [1][5]", "x + y", status=FAILED), "3\n")

    def test_a_name_that_was_never_written(self):
        self.assertEqual(self.repl("q", "q == None"), "None\ntrue\n")

    def test_commands(self):
        self.write("more.kv", "two = 2\nrwfunc h() -> (r:int64) { 3 -> r }\nprintln(\"loaded\")\n")
        self.assertEqual(self.repl("one = 1", ":load more.kv", ":names", "h() + two + one"), "loaded\none\ntwo\n6\n")
        self.assertIn("The number of characters", self.repl(":help string.len"))
        self.assertIn(":quit", self.repl(":help"))
        self.assertEqual(self.repl("1", ":quit", "2"), "1\n")
        self.repl(":nothing", status=USAGE)

    def test_blank_lines_and_comments(self):
        self.assertEqual(self.repl("", "   ", "# nothing", "1 # one"), "1\n")

    def test_no_entry_at_the_end(self):
        self.assertEqual(self.kvlang("repl", stdin=""), "")
        self.assertEqual(self.kvlang("repl", stdin="x = [1,", status=USAGE), "")

    def test_space_stays_and_vthreads_go(self):
        self.repl("/kept = 5", "x = 1", options=("-s", self.space))
        self.assertEqual(self.repl("/kept", "kv·listlen(\"/vthread\")", options=("-s", self.space)), "5\n1\n")

    def test_many_entries(self):
        self.assertEqual(self.repl("n = 0", *["n + 1 -> n"] * 500, "n"), "500\n")


if __name__ == "__main__":
    main()
