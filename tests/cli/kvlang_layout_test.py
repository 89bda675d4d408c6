"""The compiler's commands: layout, vet, fmt, dump. Relies on kvlang_tool.py, and on the kvspace program for changing rows by hand.
Promises: exit statuses, what is printed where, that files are replaced whole, and that what is laid out can be printed and run."""
import os
import stat

from kvlang_tool import FAILED, USAGE, ProgramTest, main

BANK = """\
# Money.
lib bank {
	# Adds.
	rwfunc pay(a:int64, b:int64) -> (c:int64) {
		a + b -> c # the sum
	}
	1 -> /lib/bank·rate
}
rwfunc main() -> () {
	println(bank·pay(1, 2))
}
"""


class Layout(ProgramTest):
    def in_space(self, *arguments, status=0, stdin=""):
        return self.kvlang("-s", self.space, *arguments, status=status, stdin=stdin)

    def test_layout_then_run(self):
        self.assertEqual(self.in_space("layout", self.write("bank.kv", BANK)), "")
        self.assertEqual(self.in_space("run", "main"), "3\n")
        self.assertEqual(self.kvspace("-s", self.space, "get", "/lib/bank·pay/[1,0]"), "add\n")

    def test_layout_wants_a_space(self):
        self.kvlang("layout", self.write("bank.kv", BANK), status=USAGE)
        self.assertIn("-s DSN", self.said)

    def test_layout_of_a_wrong_file_leaves_all_as_it_is(self):
        self.in_space("layout", self.write("bank.kv", BANK))
        self.in_space("layout", self.write("wrong.kv", BANK.replace("a + b", "a + nothing(b)")), status=USAGE)
        self.assertIn("wrong.kv:5:7: error: NameError", self.said)
        self.assertEqual(self.in_space("run", "main"), "3\n")

    def test_every_file_is_looked_at(self):
        wrong = self.write("wrong.kv", "x = \n")
        self.in_space("layout", wrong, self.write("nowhere.kv", "nothing()\n"), self.write("bank.kv", BANK), status=USAGE)
        self.assertIn("wrong.kv:1", self.said)
        self.assertIn("nowhere.kv:1:1: error: NameError", self.said)
        self.assertEqual(self.in_space("run", "main"), "3\n")

    def test_strict_refuses_what_a_paused_vthread_may_still_call(self):
        self.in_space("layout", self.write("a.kv", "rwfunc f() -> (r:int64) { 1 -> r }\nrwfunc main() -> () { vthread·create(\"g\") -> v }\n"
                                           "rwfunc g() -> () { println(f()) }\nrwfunc h() -> () { println(1) }\n"))
        self.in_space("run", "main")
        changed = self.write("b.kv", "rwfunc f() -> (r:int64) { 2 -> r }\n")
        self.in_space("layout", "--strict", changed, status=FAILED)
        self.assertIn("it may call f", self.said)
        self.in_space("layout", "--strict", self.write("c.kv", "rwfunc h() -> () { println(2) }\n"))
        self.in_space("layout", changed)

    def test_vet(self):
        self.assertEqual(self.kvlang("vet", self.write("bank.kv", BANK)), "")
        self.assertEqual(self.said, "")
        self.kvlang("vet", self.write("w.kv", "rwfunc f() -> (r:int64) { return\nprintln(1) }\n"))
        self.assertIn("warning", self.said)
        self.kvlang("vet", "-", stdin="x = sqare(2)\n", status=USAGE)
        self.assertIn("<stdin>:1:5: error: NameError", self.said)
        self.kvlang("vet", str(self.folder / "none.kv"), status=USAGE)
        self.assertIn("cannot read", self.said)

    def test_vet_sees_files_before_and_the_space(self):
        lib, use = self.write("bank.kv", BANK), self.write("use.kv", "println(bank·pay(1, 2))\n")
        self.kvlang("vet", use, status=USAGE)
        self.kvlang("vet", lib, use)
        self.in_space("layout", lib)
        self.in_space("vet", use)
        self.kvspace("-s", self.space, "get", "/lib/init", status=1)


class Format(ProgramTest):
    UGLY, NICE = "rwfunc f( a:int64 )->(r:int64){\na*2->r # twice\n}\n", "rwfunc f(a:int64) -> (r:int64) {\n\ta × 2 -> r # twice\n}\n"

    def test_prints(self):
        self.assertEqual(self.kvlang("fmt", self.write("a.kv", self.UGLY)), self.NICE)
        self.assertEqual(self.kvlang("fmt", "-", stdin=self.UGLY), self.NICE)

    def test_check(self):
        ugly, nice = self.write("ugly.kv", self.UGLY), self.write("nice.kv", self.NICE)
        self.assertEqual(self.kvlang("fmt", "--check", ugly, nice, status=FAILED), ugly + "\n")
        self.assertEqual(self.kvlang("fmt", "--check", nice), "")

    def test_write_keeps_rights_and_links(self):
        path = self.write("a.kv", self.UGLY)
        os.chmod(path, 0o640)
        os.symlink("a.kv", str(self.folder / "link.kv"))
        self.assertEqual(self.kvlang("fmt", "--write", str(self.folder / "link.kv")), "")
        self.assertEqual((self.folder / "a.kv").read_text(encoding="utf-8"), self.NICE)
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o640)
        self.assertTrue((self.folder / "link.kv").is_symlink())
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["a.kv", "link.kv", "run"])

    def test_what_is_wrong_stays(self):
        path = self.write("a.kv", "rwfunc f( {\n")
        self.kvlang("fmt", "--write", path, status=USAGE)
        self.assertEqual((self.folder / "a.kv").read_text(encoding="utf-8"), "rwfunc f( {\n")
        self.kvlang("fmt", "--write", "-", stdin="x = 1", status=USAGE)
        self.kvlang("fmt", "--write", "--check", path, status=USAGE)


class Dump(ProgramTest):
    def setUp(self):
        super().setUp()
        self.kvlang("-s", self.space, "layout", self.write("bank.kv", BANK))

    def dump(self, *arguments, status=0):
        return self.kvlang("-s", self.space, "dump", *arguments, status=status)

    def test_all_of_it_lays_out_again(self):
        text = self.dump()
        self.assertIn("a + b -> c # the sum", text)
        other = str(self.folder / "other")
        self.kvlang("-s", other, "layout", self.write("dump.kv", text))
        self.assertEqual(self.kvlang("-s", other, "dump"), text)

    def test_one_function(self):
        for name in ("bank.pay", "bank·pay", "/lib/bank·pay"):
            self.assertIn("rwfunc pay(a:int64", self.dump(name))
        self.assertNotIn("main", self.dump("bank"))
        self.dump("nothing", status=USAGE)
        self.assertIn("nothing laid out at /lib/nothing", self.said)

    def test_rows(self):
        self.assertEqual(self.dump("--rows", "bank.pay"), "/lib/bank·pay(a:int64, b:int64) -> (c:int64)\n\t1 add a, b -> c\n\t2 return\n")

    def test_what_was_changed_by_hand_is_in_the_text(self):
        self.kvspace("-s", self.space, "set", "/lib/bank·pay/[1,0]", "opcode(sub)")
        self.assertIn("a - b -> c", self.dump("bank.pay"))

    def test_what_has_no_form_is_shown_as_rows(self):
        self.kvspace("-s", self.space, "set", "/lib/bank·pay/[2,0]", "opcode(goto)")
        self.kvspace("-s", self.space, "set", "/lib/bank·pay/[2,-1]", "1")
        text = self.dump("bank.pay")
        self.assertIn("while (true)", text)
        self.kvspace("-s", self.space, "set", "/lib/bank·pay/[2,-1]", "9")
        self.assertIn("# \t2 goto 9", self.dump("bank.pay", status=FAILED))
        self.assertIn("1 of 1", self.said)


main()
