"""get, set, del, cp and mv of the kvspace tool: every kind of literal and every way of showing it; what is absent, malformed or in
the way ends with its own message and exit status."""
import json
import os
import unittest

import kvspace_tool
from kvspace_tool import NO, OK, SPACE, USAGE

# literal as typed, as `get` prints it, its type, its JSON
VALUES = [
    ("42", "42", "int64", 42),
    ("-7", "-7", "int64", -7),
    ("18446744073709551615", "18446744073709551615", "uint64", 18446744073709551615),
    ("int8(3)", "3", "int8", 3),
    ("int8(200)", "-56", "int8", -56),
    ("1.5", "1.5", "float64", 1.5),
    ("2.0", "2.0", "float64", 2.0),
    ("float32(0.1)", "0.1", "float32", 0.1),
    ("inf", "inf", "float64", "inf"),
    ("true", "true", "bool", True),
    ('"text"', "text", "[]char/utf32", "text"),
    ('"zwölf ½ 🎈"', "zwölf ½ 🎈", "[]char/utf32", "zwölf ½ 🎈"),
    ('""', "", "[]char/utf32", ""),
    ("[1,2,3]", "[1, 2, 3]", "[3]int64", [1, 2, 3]),
    ("[[1,2],[3,4]]", "[[1, 2], [3, 4]]", "[2,2]int64", [[1, 2], [3, 4]]),
    ("[2]float32([1,2])", "[1.0, 2.0]", "[2]float32", [1.0, 2.0]),
    ("250ms", "250ms", "duration", "250ms"),
    ("2026-12-01T05:38:04Z", "2026-12-01T05:38:04Z", "time", "2026-12-01T05:38:04Z"),
    ("&/x", "/x", "*", "/x"),
]


class Values(kvspace_tool.ToolTest):
    def test_every_literal_reads_back_as_text_json_and_literal(self):
        for literal, plain, kind, as_json in VALUES:
            with self.subTest(literal):
                self.tool("set", "/v", literal)
                self.assertEqual(self.tool("get", "/v"), plain + "\n")
                shown = json.loads(self.tool("get", "--json", "/v"))
                self.assertEqual(shown["key"], "/v")
                self.assertTrue(shown["type"].startswith(kind), shown["type"])
                self.assertEqual(shown["value"], as_json)
                typed = self.tool("get", "--typed", "/v").rstrip("\n")
                self.tool("set", "/again", typed)
                self.assertEqual(self.json("get", "--json", "/again"), {**shown, "key": "/again"})

    def test_a_container_is_written_whole(self):
        self.tool("set", "/m", "{a=1; b=[1,2]; c={d=\"x\"}}")
        self.assertEqual(self.json("get", "--json", "/m")["value"], {"a": 1, "b": [1, 2], "c": {"d": "x"}})
        self.assertEqual(self.tool("get", "/m·b", "/m·c·d"), "[1, 2]\nx\n")
        self.tool("set", "/m", "{z=1}")
        self.assertEqual(self.json("get", "--json", "/m")["value"], {"z": 1})
        self.fails(NO, "get", "/m·a", says="/m·a")

    def test_value_from_standard_input(self):
        self.tool("set", "/v", "-", stdin="[1,\n2,\n3]\n")
        self.assertEqual(self.tool("get", "/v"), "[1, 2, 3]\n")
        self.tool("set", "/t", "--text", stdin="two\nlines \"raw\"\n")
        self.assertEqual(self.tool("get", "/t"), "two\nlines \"raw\"\n\n")

    def test_text_as_it_is(self):
        self.tool("set", "--text", "/t", "it's {as} it is")
        self.assertEqual(self.tool("get", "/t"), "it's {as} it is\n")

    def test_raw_bytes(self):
        self.tool("set", "/v", "int32(258)")
        self.assertEqual(self.run_tool("get", "--raw", "/v", binary=True, stdin=b"").stdout, b"\x02\x01\x00\x00")
        self.tool("set", "/v", "[]uint8([1,2,255])")
        self.assertEqual(self.run_tool("get", "--raw", "/v", binary=True, stdin=b"").stdout, b"\x01\x02\xff")
        self.tool("set", "/m", "{a=1}")
        self.fails(NO, "get", "--raw", "/m", says="container")

    def test_several_keys_and_the_absent_one(self):
        self.set(a="1", b="2")
        done = self.fails(NO, "get", "/a", "/none", "/b", says="/none")
        self.assertEqual(done.stdout, "1\n2\n")

    def test_a_key_with_only_children_says_so(self):
        self.tool("set", "/dir/a", "1")
        self.fails(NO, "get", "/dir", says="children: 1")

    def test_system_variables_and_ascii(self):
        self.tool("set", "/x/..pc", "7")
        self.assertEqual(self.tool("get", "/x/‥pc"), "7\n")
        self.assertEqual(self.tool("get", "--ascii", "/x/..pc"), "7\n")
        self.tool("set", "/m", "{a=1}")
        self.assertEqual(self.tool("--ascii", "get", "/m.a"), "1\n")
        self.assertEqual(self.json("get", "--ascii", "--json", "/m.a")["key"], "/m.a")

    def test_malformed_keys(self):
        self.set(a="1")
        for key in ("x", "", "/a//b", "/a·", "/\x07", "/" + "x" * 256, "/x" * 3000):
            with self.subTest(key[:20]):
                self.fails(USAGE, "get", key)
                self.fails(USAGE, "set", key, "1")
        self.fails(USAGE, "get", "lib/x", says="did you mean /lib/x")

    def test_longest_step_and_key_work(self):
        self.tool("set", "/" + "s" * 255, "1")
        self.assertEqual(self.tool("get", "/" + "s" * 255), "1\n")
        key = "/abc" * 1024
        self.tool("set", key, "2")
        self.assertEqual(self.tool("get", key), "2\n")

    def test_malformed_literals_point_at_the_byte(self):
        self.set(a="1")
        done = self.fails(USAGE, "set", "/v", "[1,,2]")
        lines = done.stderr.splitlines()
        self.assertEqual(lines[1], "    [1,,2]")
        self.assertEqual(lines[2].strip(), "^")
        self.assertIn(len(lines[2]) - 4, (3, 4))
        for literal in ("hello", "[1,", "int8(", "{a=", "\"open", "int9(3)", "1 2", "[1, \"a\"]", "", "/a//b"):
            with self.subTest(literal):
                self.fails(USAGE, "set", "/v", literal)
        self.fails(NO, "get", "/v")
        self.fails(USAGE, "set", "/v", "hello", says="--text")

    def test_invalid_utf8(self):
        self.fails(USAGE, "set", "--text", "/v", b"\xff\xfe")
        self.fails(USAGE, "set", b"/\xff", "1")

    def test_output_is_safe_for_a_terminal(self):
        self.tool("set", "/v", r'"\x1b[31m"')
        self.assertNotIn("\x1b", self.tool("tree"))
        self.assertNotIn("\x1b", self.tool("ls", "-l"))

    def test_negative_numbers_are_operands(self):
        self.tool("set", "/v", "-5")
        self.assertEqual(self.tool("get", "/v"), "-5\n")

    def test_options_are_checked(self):
        self.set(a="1")
        self.fails(USAGE, "get", says="usage")
        self.fails(USAGE, "set", "/a", "1", "2", says="usage")
        self.fails(USAGE, "get", "--jsn", "/a", says="did you mean --json")
        self.fails(USAGE, "get", "--depth", "3", "/a", says="takes no --depth")
        self.fails(USAGE, "get", "--json", "--raw", "/a", says="exclude")
        self.fails(USAGE, "gte", "/a", says="did you mean get")
        self.fails(USAGE, "ls", "--max", "many", says="--max")
        self.fails(USAGE, "ls", "--max", says="needs a value")
        self.fails(USAGE, "-z", "ls", says="-z")
        self.fails(USAGE, "--color", "sometimes", "ls", says="auto")


class Deleting(kvspace_tool.ToolTest):
    def test_del_takes_everything_below(self):
        self.set(x="1", x__y="2", x__y__z="3")
        self.tool("set", "/x/..s", "4")
        self.tool("del", "/x")
        for key in ("/x", "/x/y", "/x/y/z", "/x/..s"):
            self.fails(NO, "get", key)
        self.fails(NO, "del", "/x", says="/x")
        self.tool("del", "-f", "/x")

    def test_del_value_leaves_the_rest(self):
        self.set(x="1", x__y="2")
        self.tool("del", "--value", "/x")
        self.assertEqual(self.tool("get", "/x/y"), "2\n")
        self.fails(NO, "get", "/x")
        self.fails(NO, "del", "--value", "/x")

    def test_deleting_everything_wants_force(self):
        self.set(x="1", y="2")
        self.fails(USAGE, "del", "/", says="--force")
        self.tool("del", "--force", "/")
        self.fails(NO, "get", "/x")

    def test_none_deletes(self):
        self.set(x="1")
        self.tool("set", "/x", "None")
        self.fails(NO, "get", "/x")


class Copying(kvspace_tool.ToolTest):
    def test_cp_copies_the_subtree(self):
        self.set(a="1", a__b="[1,2]", a__c="{x=1}")
        self.tool("cp", "/a", "/z")
        self.assertEqual(self.tool("get", "/z", "/z/b", "/z/c·x", "/a/b"), "1\n[1, 2]\n1\n[1, 2]\n")
        self.tool("set", "/z/b", "0")
        self.assertEqual(self.tool("get", "/a/b"), "[1, 2]\n")

    def test_the_target_must_be_free(self):
        self.set(a="1", b="2", b__c="3")
        self.fails(NO, "cp", "/a", "/b", says="--force")
        self.fails(NO, "mv", "/a", "/b", says="--force")
        self.assertEqual(self.tool("get", "/b"), "2\n")
        self.tool("cp", "-f", "/a", "/b")
        self.assertEqual(self.tool("get", "/b"), "1\n")
        self.fails(NO, "get", "/b/c")

    def test_cp_value_leaves_children(self):
        self.set(a="1", a__x="9", b__c="3")
        self.tool("cp", "--value", "/a", "/b")
        self.assertEqual(self.tool("get", "/b", "/b/c"), "1\n3\n")
        self.fails(NO, "get", "/b/x")
        self.fails(NO, "cp", "--value", "/none", "/d")

    def test_mv(self):
        self.set(a="1", a__b="2")
        self.tool("mv", "/a", "/deep/er/z")
        self.assertEqual(self.tool("get", "/deep/er/z", "/deep/er/z/b"), "1\n2\n")
        self.fails(NO, "get", "/a")
        self.fails(NO, "mv", "/a", "/c")
        self.fails(NO, "cp", "/a", "/c")

    def test_into_itself_is_refused(self):
        self.set(a="1", a__b="2")
        self.fails(USAGE, "mv", "/a", "/a/b/c")
        self.fails(USAGE, "cp", "/a", "/a/b/c")
        self.assertEqual(self.tool("get", "/a/b"), "2\n")


class Opening(kvspace_tool.ToolTest):
    def test_reading_does_not_create_a_space(self):
        self.fails(SPACE, "get", "/x", says=self.space)
        self.assertFalse((self.folder / "space").exists())
        self.fails(SPACE, "del", "/x")
        self.assertFalse((self.folder / "space").exists())

    def test_the_space_is_named_by_option_or_environment(self):
        other = str(self.folder / "other")
        self.tool("-s", other, "set", "/x", "1")
        self.tool("set", "/x", "2")
        self.assertEqual(self.tool("-s", other, "get", "/x"), "1\n")
        self.assertEqual(self.tool("get", f"--space=shm:{other}", "/x"), "1\n")
        self.assertEqual(self.tool("get", "/x"), "2\n")
        nobody = {key: value for key, value in self.environment.items() if key != "KVSPACE"}
        self.fails(USAGE, "get", "/x", env=nobody, says="which space")
        self.fails(USAGE, "-s", "redis://nowhere", "get", "/x")

    def test_a_foreign_file_is_refused_and_left_alone(self):
        (self.folder / "space").write_text("dear diary\n" * 1000)
        done = self.fails(SPACE, "get", "/x")
        self.assertIn("kvspace", done.stderr)
        self.fails(SPACE, "set", "/x", "1")
        self.assertEqual((self.folder / "space").read_text(), "dear diary\n" * 1000)

    @unittest.skipIf(os.geteuid(), "only root can give files away")
    def test_a_space_of_somebody_else_wants_trust(self):
        self.set(x="1")
        os.chown(self.space, 12345, 12345)
        for command in (("get", "/x"), ("set", "/x", "2"), ("check",), ("del", "/x")):
            self.fails(SPACE, *command, says="--trust")
        self.assertEqual(self.tool("--trust", "get", "/x"), "1\n")
        self.assertEqual(self.tool("get", "--trust", "/x"), "1\n")

    def test_a_new_space_is_its_owners_alone(self):
        self.set(x="1")
        self.assertEqual(os.stat(self.space).st_mode & 0o777, 0o600)

    def test_what_is_no_space(self):
        (self.folder / "folder").mkdir()
        os.mkfifo(self.folder / "pipe")
        for name in ("folder", "pipe", "no/where"):
            self.fails(SPACE, "-s", str(self.folder / name), "set", "/x", "1", says=name)
        self.fails(SPACE, "-s", "/dev/null", "get", "/x", says="/dev/null")
        self.fails(USAGE, "-s", "shm:", "get", "/x")
        self.fails(USAGE, "-s", "lmdb:/x", "get", "/x", says="lmdb")

    def test_a_full_output_is_an_error(self):
        self.tool("set", "/x", "[4000]int64([7...])")
        with open("/dev/full", "w", encoding="utf-8") as full:
            import subprocess  # pylint: disable=import-outside-toplevel
            done = subprocess.run([str(kvspace_tool.TOOL), "get", "/x"], env=self.environment, stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, SPACE)
        self.assertIn("cannot write", done.stderr)

    def test_help_and_version(self):
        self.assertIn("watch", self.tool("help"))
        for command in "get set del ls tree watch cp mv stat check export import top repl spaces".split():
            text = self.tool("help", command)
            self.assertTrue(text.startswith(f"kvspace {command}"), text)
            self.assertEqual(self.tool(command, "--help"), text)
            self.assertIn(f"  {command}", self.tool("help"))
        self.assertRegex(self.tool("version"), r"^kvspace \d+\.\d+\.\d+ \(format \d+\)\n$")
        self.fails(USAGE, "help", "fly")
        self.assertEqual(self.run_tool().returncode, USAGE)
        self.assertEqual(self.run_tool("--help").returncode, OK)


if __name__ == "__main__":
    kvspace_tool.main()
