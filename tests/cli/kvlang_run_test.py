"""Running programs from the command line: what runs, with which arguments, what is printed where, exit statuses, and what stays.
Relies on kvlang_tool.py. Promises: every form and exit status of the command line that runs something is tried once."""
from kvlang_tool import FAILED, SPACE, USAGE, ProgramTest, main


class Forms(ProgramTest):
    def test_code(self):
        self.assertEqual(self.kvlang("-c", "println(1)"), "1\n")
        self.assertEqual(self.said, "")

    def test_file(self):
        self.assertEqual(self.kvlang(self.write("a.kv", "println(1 + 2)\n")), "3\n")

    def test_standard_input(self):
        self.assertEqual(self.kvlang("-", stdin="println(7)"), "7\n")
        self.assertEqual(self.kvlang(stdin="println(8)"), "8\n")

    def test_program_reads_standard_input(self):
        program = self.write("a.kv", 'input("name? ") -> name\nprintln("hello " + name, input())\n')
        self.assertEqual(self.kvlang(program, stdin="Ann\n"), "hello Ann None\n")
        self.assertEqual(self.said, "name? ")

    def test_byte_order_mark_and_windows_lines(self):
        self.assertEqual(self.kvlang(self.write("a.kv", "\ufeffx = 1\r\nprintln(x)\r\n")), "1\n")

    def test_output_streams(self):
        self.assertEqual(self.kvlang("-c", 'cerr("bad"); print("a", 1); printf("%03d\\n", 7)'), "a1007\n")
        self.assertEqual(self.said, "bad\n")

    def test_no_file(self):
        self.kvlang("nowhere.kv", status=USAGE)
        self.assertIn("there is no file nowhere.kv", self.said)

    def test_misspelt_command(self):
        self.kvlang("resme", status=USAGE)
        self.assertIn("did you mean resume?", self.said)

    def test_a_folder_is_no_program(self):
        self.kvlang(str(self.folder), status=USAGE)

    def test_invalid_utf8(self):
        (self.folder / "bad.kv").write_bytes(b"println(1)\nx = \"\xff\"\n")
        self.kvlang("bad.kv", status=USAGE)
        self.assertIn("bad.kv:2:", self.said)

    def test_unknown_option(self):
        self.kvlang("--keeep", "-c", "println(1)", status=USAGE)
        self.assertIn("did you mean --keep?", self.said)

    def test_output_that_nobody_reads(self):
        process = self.start("-c", "while (true) { println(1) }")
        process.stdout.readline()
        process.stdout.close()
        self.kvlang("-c", "println(1)")


class Entries(ProgramTest):
    LIBS = ('lib shop { println("shop")\n rwfunc sell(n:int64) -> (m:int64) { n + 1 -> m }\n lib stock { println("stock") } }\n'
            'rwfunc main() -> () { println("main", shop·sell(1)) }\n')

    def test_init_before_main(self):
        self.assertEqual(self.kvlang("-c", 'println("init")\nrwfunc main() -> () { println("main") }'), "init\n")

    def test_main(self):
        self.assertEqual(self.kvlang("-c", 'rwfunc test() -> () { println("test") }\nrwfunc main() -> () { println("main") }'), "main\n")

    def test_test(self):
        self.assertEqual(self.kvlang("-c", 'rwfunc test() -> () { println("test") }'), "test\n")

    def test_libs_begin(self):
        self.assertEqual(self.kvlang("-c", self.LIBS), "shop\nstock\nmain 2\n")

    def test_named_entry(self):
        program = self.write("a.kv", self.LIBS + 'rwfunc other() -> () { println("other") }')
        self.assertEqual(self.kvlang("--entry", "other", program), "shop\nstock\nother\n")
        self.assertEqual(self.kvlang("-e", "shop.sell", program, "4"), "shop\nstock\n")
        self.kvlang("-e", "nothing", program, status=USAGE)
        self.assertIn("nothing", self.said)

    def test_nothing_to_run(self):
        self.kvlang("-c", "rwfunc one() -> () { println(1) }\nrwfunc two() -> () { println(2) }", status=USAGE)
        self.assertIn("one", self.said)
        self.assertIn("two", self.said)
        self.kvlang("-c", "# nothing", status=USAGE)

    def test_an_error_in_a_libs_init_names_no_function_of_ours(self):
        self.kvlang("-c", 'lib a { assert(false, "no") }\nrwfunc main() -> () { println(1) }', status=FAILED)
        self.assertIn("AssertionError: no", self.said)
        self.assertIn("  at a·init (-c:1)", self.said)
        self.assertNotIn("‥", self.said)


class Arguments(ProgramTest):
    PROGRAM = "rwfunc main(n:int64, s:[]char/utf32, xs:float64...) -> (r:int64) { println(n, s, xs) }\n"

    def test_literals_and_texts(self):
        program = self.write("a.kv", self.PROGRAM)
        self.assertEqual(self.kvlang(program, "3", "7", "1.5", "2"), "3 7 [1.5, 2.0]\n")
        self.assertEqual(self.kvlang(program, "-3", "-x"), "-3 -x []\n")

    def test_wrong_ones(self):
        program = self.write("a.kv", self.PROGRAM)
        self.kvlang(program, "x", "y", status=USAGE)
        self.assertIn("n is int64", self.said)
        self.kvlang(program, "1", status=USAGE)
        self.kvlang("-c", "println(1)", "2", status=USAGE)

    def test_any_takes_the_text(self):
        self.assertEqual(self.kvlang("-c", "rwfunc main(xs:any...) -> () { println(xs) }", "a", "1"), '{0="a", 1="1"}\n')

    def test_invalid_text(self):
        self.kvlang(self.write("a.kv", self.PROGRAM), "1", "\udcff", status=USAGE)


class Failures(ProgramTest):
    def test_run_time(self):
        program = self.write("a.kv", "rwfunc half(n:int64) -> (h:int64) {\n    n ÷ 0 -> h\n}\nhalf(4) -> x\n")
        self.assertEqual(self.kvlang(program, status=FAILED), "")
        self.assertEqual(self.said, f"{program}:2:7: error: ZeroDivisionError: 4 ÷ 0: division by zero\n        n ÷ 0 -> h\n          ^\n"
                                    f"  at init ({program}:4)\n  at half ({program}:2)\n")

    def test_compile_time(self):
        self.assertEqual(self.kvlang("-c", "println(1)\nfoo(2)\nx = 1 + true", status=USAGE), "")
        self.assertIn("-c:2:1: error: NameError", self.said)
        self.assertIn("-c:3:7: error: TypeError", self.said)
        self.kvlang("-c", "println(1)\nx = = 3", status=USAGE)
        self.assertEqual(self.said, "-c:2:5: error: SyntaxError: expected a value, found =\n    x = = 3\n        ^\n")

    def test_deep_recursion(self):
        self.kvlang("-c", "rwfunc f(n:int64) -> (m:int64) { f(n + 1) + 1 -> m }\nf(0) -> x", status=FAILED)
        self.assertIn("RecursionError", self.said)
        self.assertLess(len(self.said.splitlines()), 200)
        self.kvlang("--depth", "50", "-c", "rwfunc f(n:int64) -> (m:int64) { if (n == 0) { 0 -> m } else { f(n - 1) + 1 -> m } }\nf(100) -> x", status=FAILED)
        self.assertIn("RecursionError", self.said)

    def test_spawned(self):
        self.assertEqual(self.kvlang("-c", 'rwfunc f() -> () { error("lost") }\nvthread·spawn("f") -> v\nprintln(vthread·wait(v))'), "error\n")
        self.assertIn("RuntimeError: lost", self.said)

    def test_space_that_cannot_be_opened(self):
        self.kvlang("-s", "/nowhere/at/all", "-c", "println(1)", status=SPACE)
        self.kvlang("-s", "what:ever", "-c", "println(1)", status=SPACE)
        (self.folder / "text").write_text("this is no space, but a text that is long enough to be one\n" * 500, encoding="utf-8")
        self.kvlang("-s", str(self.folder / "text"), "-c", "println(1)", status=SPACE)


class Spaces(ProgramTest):
    def test_anonymous_ones_go(self):
        self.kvlang("-c", "println(1)")
        self.assertEqual(self.spaces(), [])
        self.kvlang("-c", "println(", status=USAGE)
        self.assertEqual(self.spaces(), [])

    def test_keep(self):
        self.kvlang("--keep", "-c", "/a = 5")
        self.assertEqual(len(self.spaces()), 1)
        self.assertEqual(self.kvspace("get", "/a"), "5\n")

    def test_failed_programs_can_be_looked_at(self):
        self.kvlang("-c", "x = 41; error(\"bad\")", status=FAILED)
        self.assertEqual(self.kvspace("get", "/vthread/1/x", "/vthread/1/..status"), "41\nerror\n")
        self.assertIn("RuntimeError: bad", self.kvlang("ps"))

    def test_not_for_ever(self):
        for _ in range(12):
            self.kvlang("-c", 'error("bad")', status=FAILED)
        self.assertEqual(len(self.spaces()), 8)

    def test_named_one_stays(self):
        self.kvlang("-s", self.space, "-c", "/count = 1\nrwfunc more(n:int64) -> (m:int64) { kv·incr(\"/count\", n) -> m }")
        self.assertEqual(self.kvlang("-s", self.space, "run", "more", "4"), "")
        self.assertEqual(self.kvlang("-c", "println(/count)", env={**self.environment, "KVSPACE": self.space}), "5\n")
        self.kvlang("-s", self.space, "run", "less", status=USAGE)
        self.assertIn("less", self.said)

    def test_edited_rows_run_as_edited(self):
        self.kvlang("-s", self.space, "-c", "rwfunc f() -> () { println(1 + 1) }\nf()")
        self.kvspace("-s", self.space, "set", "/lib/f/[1,-1]", "42")
        self.assertEqual(self.kvlang("-s", self.space, "run", "f"), "42\n")


class Limits(ProgramTest):
    """A full space is an error of the program; the space stays whole and can be used after something was deleted."""

    FILLS = {
        "array": "a:[]int64 = []\nwhile (true) { array·append(a, 1) -> a }",
        "text": 's = "abcdefgh"\nwhile (true) { s + s -> s }',
        "keys": 'for (i in range(10000000)) { kv·set("/t/" + string·formatint(i), i) }',
        "map": "m:[int64]·int64 = {}\nfor (i in range(10000000)) { m[i] = i }",
        "frames": "rwfunc f(n:int64) -> (m:int64) { f(n + 1) + 1 -> m }\nf(0) -> x",
        "vthreads": 'rwfunc f() -> () { }\nwhile (true) { vthread·create("f") -> _ }',
    }

    def test_full_space(self):
        for name, text in self.FILLS.items():
            with self.subTest(name):
                space = str(self.folder / name)
                self.kvlang("--limit", "12M", "-s", space, "-c", text, status=FAILED)
                self.assertIn("OutOfMemoryError", self.said)
                self.kvspace("-s", space, "check")
                self.kvspace("-s", space, "del", "-f", "/vthread", "/t")
                self.assertEqual(self.kvlang("-s", space, "-c", 'println("again")'), "again\n")

    def test_limits_that_are_none(self):
        for text in ("5x", "", "-1", "0", "1.5G", "99999999999T"):
            self.kvlang("--limit", text, "-c", "println(1)", status=USAGE)
        self.kvlang("--limit", "1M", "-c", "println(1)", status=SPACE)
        self.assertIn("at least", self.said)


class Others(ProgramTest):
    def test_version(self):
        self.assertRegex(self.kvlang("version"), r"^kvlang \d+\.\d+\.\d+ \(format \d+\)\n$")
        self.assertEqual(self.kvlang("--version"), self.kvlang("version"))

    def test_help(self):
        self.assertIn("resume [VID…]", self.kvlang("help"))
        self.assertIn("usage: kvlang", self.kvlang("kill", status=USAGE) or self.said)
        self.assertIn("--json", self.kvlang("ps", "--help"))
        self.assertIn("(s:[]char/utf32, a:int64, b:int64) -> (r:[]char/utf32)", self.kvlang("help", "string.slice"))
        self.kvlang("help", "string·slise", status=USAGE)
        self.assertIn("did you mean string·slice?", self.said)

    def test_caps(self):
        listed = self.kvlang("caps")
        for name in ("add", "println", "vthread·spawn", "string·slice"):
            self.assertRegex(listed, rf"(?m)^{name} +\(")


if __name__ == "__main__":
    main()
