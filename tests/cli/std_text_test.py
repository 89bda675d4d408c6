"""csv·, re·, hash·, base64·, kvlanglayout· and --deny. Relies on std_tool.py; Python's own modules say what is right.
Promises: bad input is an error with its place, no pattern runs for ever, and a source with errors changes nothing."""
import base64
import csv
import hashlib
import io
import json
import time

from kvlang_tool import USAGE, main
from std_tool import FamilyTest, quoted


class Csv(FamilyTest):
    TEXTS = ["", "a", "a,b\r\nc,d\r\n", "a,b\nc,d", '"a,b","c\nd","say ""hi"""\r\n', ",,\r\n", '""\r\n', "ä,\U0001f600\n", "\n\n", 'a,""\n', "a,b,c\nd\n", '"x"\n"y"']

    def test_reads_as_python_does(self):
        code = "".join(f"println(json·to(csv·read({quoted(text)})))\n" for text in self.TEXTS)
        lines = self.run_code(code).stdout.splitlines()
        self.assertEqual(len(lines), len(self.TEXTS))
        for text, line in zip(self.TEXTS, lines):
            rows = [row or [""] for row in csv.reader(io.StringIO(text, newline=""), strict=True)]
            self.assertEqual(line, json.dumps(rows, ensure_ascii=False, separators=(",", ":")), text)

    def test_round_trip(self):
        rows = [["a", "b,c", 'd"e'], ["", "x\r\ny", " "], [""], ["\r", "\n"], ["ä"]]
        code = f"r = csv·read({quoted(self.written(rows))})\nprint(csv·write(r))\nprintln(csv·write(csv·read(csv·write(r))) == csv·write(r))"
        self.assertIn("true", self.run_code(code).stdout)

    @staticmethod
    def written(rows):
        out = io.StringIO(newline="")
        csv.writer(out).writerows(rows)
        return out.getvalue()

    def test_separators_kinds_and_arrays(self):
        self.prints('print(csv·write({0={0="a;b"; 1=1.5; 2=true; 3=""}}, ";"), csv·write([[1, 2], [3, 4]]))\nprintln(csv·read("a\\tb", "\\t"))', '"a;b";1.5;true;', "1,2", "3,4", '{0={0="a", 1="b"}}')

    def test_refused(self):
        for text, part in [('a,"b', "line 1 is not closed"), ('x\n"a"b', "line 2"), ('x\n\na"b', "line 3"), ('"a\n\n', "line 1"), ('"a""', "not closed")]:
            self.raises(f"csv·read({quoted(text)})", "ValueError", part)
        self.raises('csv·read("a", "")', "ValueError", "separator")
        self.raises('csv·read("a", "ä")', "ValueError", "separator")
        self.raises('csv·read("a", "\\n")', "ValueError", "separator")
        self.raises("csv·write(1)", "TypeError", "rows")
        self.raises("csv·write({0={0={a=1}}})", "TypeError", "field")
        self.raises('csv·write({0="text"})', "TypeError", "rows")


class Regular(FamilyTest):
    def setUp(self):
        super().setUp()
        if "built without" in self.run_code('re·find("a", "a")').stderr:
            self.skipTest("without PCRE2")

    def test_matches(self):
        self.prints('println(re·match("äöü 12", "(\\\\w+) (\\\\d)(x)?(\\\\d)"))', '{0="äöü 12", 1="äöü", 2="1", 4="2"}')
        self.prints('println(re·match("a", "b"), re·find("ää b", "b"), re·find("abab", "a", 1), re·find("ab", "b", -1), re·find("ab", "a", 5), re·find("", ""))', "None 3 2 1 -1 0")
        self.prints('println(re·findall("aXbX", "[a-z]"), re·findall("abc", ""), re·findall("", "x"))', '{0="a", 1="b"} {0="", 1="", 2="", 3=""} {}')
        self.prints('println(re·split("a1b22c", "\\\\d+"), re·split("", ","), re·split(",", ","), re·split("ä€", ""))', '{0="a", 1="b", 2="c"} {0=""} {0="", 1=""} {0="ä", 1="€"}')
        self.prints('println(re·replace("aXbX", "X", "$$"), re·replace("john smith", "(?<a>\\\\w+) (?<b>\\\\w+)", "${b}, ${a}"), re·replace("abc", "", "-"), re·replace("a", "(a)|(b)", "[$1$2]"))',
                    "a$b$ smith, john -a-b-c- [a]")
        self.prints('println(re·findall("😀b", "."))', '{0="😀", 1="b"}')

    def test_refused(self):
        for pattern, part in [("(", "character 2"), ("[z-a]", "character"), ("*a", "character"), ("ää(", "character 4"), ("(?<n>a)(?<n>b)", "character"), ("\\C", "character"), ("(?<=a*)b", "")]:
            self.raises(f'println(re·match("aaab", {quoted(pattern)}))', "ValueError", part)
        self.raises('re·replace("a", "a", "$1")', "ValueError", "no group")
        self.raises('re·replace("a", "a", "${x")', "ValueError", "no group")
        self.raises('re·replace("a", "a", "$")', "ValueError", "no group")
        self.raises('re·replace("a", "a", "$99999999999999999999")', "ValueError", "no group")

    def test_patterns_that_explode_are_ended(self):
        for pattern in ["(a+)+$", "(a|aa)+$", "(.*)*b", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$"]:
            began = time.monotonic()
            done = self.run_code(f'println(re·match(string·repeat("a", 5000) + string·repeat("x", 5000) + "!", {quoted(pattern)}) == None)')
            self.assertLess(time.monotonic() - began, 60, pattern)
            self.assertTrue("too many steps" in done.stderr or done.stdout == "true\n", done.stderr)
        self.assertIn("too many steps", self.run_code('re·match(string·repeat("a", 40) + "!", "^(a+)+$") -> m').stderr)

    def test_more_patterns_than_are_kept(self):
        self.prints('n = 0\nfor (i in range(200)) {\n p = "x" + string·formatint(i % 50, 10) + "$"\n if (re·find("x" + string·formatint(i % 50, 10), p) == 0) { n + 1 -> n }\n}\nprintln(n)', "200")


class Bytes(FamilyTest):
    def test_hashes(self):
        for length in (0, 1, 3, 55, 56, 63, 64, 65, 119, 120, 1000, 100003):
            text = "ab€"[: length % 3 + 1] * length
            path = self.write("data", text)
            self.prints(f'println(hash·sha256(fs·read("{path}")), hash·sha256(fs·readbytes("{path}")))', " ".join([hashlib.sha256(text.encode()).hexdigest()] * 2))
        self.raises("hash·sha256([1, 2])", "TypeError", "uint8")
        self.raises("hash·sha256({a=1})", "TypeError")

    def test_base64(self):
        for data in (b"", b"f", b"fo", b"foo", bytes(range(256)), b"\xff" * 1000):
            path = self.folder / "data"
            path.write_bytes(data)
            coded = base64.b64encode(data).decode()
            self.prints(f'b = fs·readbytes("data")\nprintln(base64·encode(b), base64·decode("{coded}") == b, base64·decode("{base64.urlsafe_b64encode(data).decode().rstrip("=")}") == b)', f"{coded} true true")
        for text in ("a", "aaaaa", "a=", "=", "====", "a===", "aa=", "aaa=a", "aa==aa", "a b=", "aaa\\n", "ä", "aaa\\0", "ab==", "abd=", "*aaa"):
            self.raises(f'base64·decode("{text}")', "ValueError", "base64·decode")
        self.raises('base64·decodetext("/w==")', "ValueError")


class Compiler(FamilyTest):
    def test_a_program_that_writes_a_program(self):
        code = 's = "rwfunc made(n:int64) -> (r:int64) { n × n + 1 -> r }"\nprintln(kvlanglayout·vet(s) == "")\nprintln(kvlanglayout·layout(s))\nvid = vthread·create("made", 6)\nvthread·run(vid)\nprintln(kv·get("/vthread/" + string·formatint(vid, 10) + "/r"))\nprint(kvlanglayout·dump("made"))'
        self.prints(code, "true", '{0="/lib/made"}', "37", "rwfunc made(n:int64) -> (r:int64) { n × n + 1 -> r }", "")

    def test_a_source_with_errors_changes_nothing(self):
        self.raises('kvlanglayout·layout("rwfunc good() { println(1) }\\nrwfunc bad() { nosuch() }", "made.kv")', "ValueError", "made.kv:2:16", "NameError")
        self.prints('println(string·contains(kvlanglayout·vet("rwfunc good() {}\\nnosuch()"), "NameError"), kv·get("/lib/good"))', "true None")
        self.raises('kvlanglayout·format("x = ")', "ValueError", "SyntaxError")
        self.raises('kvlanglayout·dump("nosuch")', "NameError", "/lib/nosuch")

    def test_a_running_function_is_replaced_for_new_calls(self):
        code = 'rwfunc f() -> (r:int64) { 1 -> r }\nrwfunc main() {\n println(f())\n kvlanglayout·layout("rwfunc f() -> (r:int64) { 2 -> r }") -> _\n println(f())\n}'
        self.prints(code, "1", "2")


class Deny(FamilyTest):
    def test_families_that_are_switched_off(self):
        program = self.write("p.kv", 'println(1)\nfs·write("a", "x")\n')
        self.kvlang("--deny", "fs,proc", program, status=1)
        self.assertIn("RuntimeError: fs·write: the family fs is switched off (--deny fs)", self.said)
        self.assertFalse((self.folder / "a").exists())
        self.kvlang("--deny", "proc,http", program)
        self.assertTrue((self.folder / "a").exists())
        self.kvlang("--deny", "fs,nosuch", program, status=USAGE)
        self.assertIn("no family nosuch", self.said)

    def test_it_is_in_the_listings(self):
        listed = self.kvlang("caps")
        for name in ("json·from", "fs·write", "proc·exec", "http·get", "env·get", "csv·read", "re·match", "hash·sha256", "base64·encode", "kvlanglayout·vet"):
            self.assertIn(name, listed)
        self.assertIn("Makes a request", self.kvlang("help", "http·call"))


if __name__ == "__main__":
    main()
