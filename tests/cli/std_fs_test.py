"""fs·: reading, writing in one step, names that are no UTF-8, big files, and what the system refuses. Relies on std_tool.py.
Promises: every refusal names the path and the reason; a write that fails leaves the old file and nothing beside it."""
import os
import stat

from kvlang_tool import main
from std_tool import FamilyTest, quoted


class Fs(FamilyTest):
    def names(self):
        return sorted(os.listdir(self.folder))

    def test_write_replaces_in_one_step_and_keeps_the_mode(self):
        self.write("a", "old")
        os.chmod(self.folder / "a", 0o640)
        before = os.stat(self.folder / "a").st_ino
        self.prints('fs·write("a", "new ä\\n")\nprint(fs·read("a"))', "new ä")
        after = os.stat(self.folder / "a")
        self.assertNotEqual(before, after.st_ino)
        self.assertEqual(stat.S_IMODE(after.st_mode), 0o640)
        self.assertEqual(self.names(), ["a", "program.kv", "run"])

    def test_a_link_stays_a_link(self):
        os.mkdir(self.folder / "real")
        os.symlink("real/target", self.folder / "link")
        (self.folder / "real" / "target").write_text("old", encoding="utf-8")
        self.prints('fs·write("link", "new")\nprintln(fs·stat("link")·kind, fs·read("real/target"))', "link new")

    def test_a_write_that_fails_leaves_the_old_file(self):
        if os.geteuid() == 0:
            self.raises('fs·write("/proc/version", "x")', "RuntimeError", "fs·write: /proc/version: ")
            return
        os.mkdir(self.folder / "locked")
        (self.folder / "locked" / "a").write_text("old", encoding="utf-8")
        os.chmod(self.folder / "locked", 0o555)
        self.raises('fs·write("locked/a", "x")', "RuntimeError", "locked/a", "Permission denied")
        self.assertEqual((self.folder / "locked" / "a").read_text(encoding="utf-8"), "old")

    def test_a_full_disk_is_told(self):
        if os.path.exists("/dev/full"):
            self.raises('fs·write("/dev/full", "x")', "RuntimeError", "/dev/full", "No space left")

    def test_errors_have_path_and_reason(self):
        for code, reason in [('fs·read("no/such")', "No such file"), ('fs·read(".")', "Is a directory"), ('fs·write(".", "x")', "directory"), ('fs·write("no/such/x", "x")', "No such file"),
                             ('fs·list("no/such")', "No such file"), ('fs·list("program.kv")', "Not a directory"), ('fs·stat("no/such")', "No such file"), ('fs·del("no/such")', "No such file"),
                             ('fs·del("run")', "not empty"), ('fs·mkdir("program.kv")', "File exists"), ('fs·mkdir("program.kv/x")', "Not a directory"), ('fs·copy("no/such", "x")', "No such file"),
                             ('fs·move("no/such", "x")', "No such file"), ('fs·append("no/such/x", "x")', "No such file"), ('fs·read("")', "No such file"), ('fs·mkdir("")', "No such file"),
                             ('fs·read(string·repeat("x", 5000))', "name too long"), ('fs·copy(".", "x")', "directory")]:
            with self.subTest(code=code):
                path = code.split('"')[1] if "repeat" not in code else "xxx"
                self.raises(code, "RuntimeError", code[:code.index("(")] + ": " + path, reason)

    def test_arguments_that_do_not_fit(self):
        self.raises('fs·read("a\\0b")', "ValueError", "zero byte")
        self.raises('fs·write("a", {x=1})', "TypeError", "content")
        self.raises('fs·write("a", [1, 2])', "TypeError", "uint8")
        self.raises('fs·readbytes("program.kv", -1)', "ValueError")
        self.raises('x = 1\nfs·exists(x)', "TypeError")

    def test_text_that_is_no_utf8(self):
        (self.folder / "a").write_bytes(b"ab\xffc")
        self.raises('fs·read("a")', "ValueError", "a: byte 3")
        self.prints('b = fs·readbytes("a")\nprintln(b)\nfs·write("b", b)\nprintln(fs·readbytes("b") == b, fs·readbytes("a", 2, 1), fs·readbytes("a", 4), fs·readbytes("a", 0, 0), fs·readbytes("a", 9))',
                    "[97, 98, 255, 99]", "true [255] [] [] []")

    def test_names_that_are_no_utf8_come_and_go(self):
        folder = os.fsencode(self.folder) + b"/d"
        os.mkdir(folder)
        names = sorted([b"\xff\xfe", b"a\x80b", b"\xed\xa0\x80", "ä".encode(), "\U0010ff81".encode(), b"\xc3", b"plain"])
        try:
            for name in names:
                with open(folder + b"/" + name, "wb") as file:
                    file.write(name)
        except OSError:
            self.skipTest("this file system wants names in UTF-8")
        self.prints('l = fs·list("d")\nok = 0\nfor (i, n in l) { if (string·len(n) > 0 && fs·exists("d/" + n)) { ok + 1 -> ok } }\n'
                    'for (i, n in l) { fs·move("d/" + n, "d/moved-" + n) }\nprintln(ok, map·len(l))', f"{len(names)} {len(names)}")
        self.assertEqual(sorted(os.listdir(folder)), sorted(b"moved-" + name for name in names))

    def test_lists_and_folders(self):
        self.prints('fs·mkdir("x/y/z")\nfs·mkdir("x/y/z/")\nfs·write("x/b", "")\nfs·write("x/a", "")\nprintln(fs·list("x"), fs·list("x/y/z"))\nfs·del("x/y/z")\nprintln(fs·exists("x/y/z"), fs·stat("x/y")·kind)',
                    '{0="a", 1="b", 2="y"} {}', "false directory")

    def test_append_copy_move(self):
        self.prints('fs·append("a", "1")\nfs·append("a", "2")\nfs·copy("a", "b")\nfs·copy("b", "b")\nfs·move("a", "c")\nprintln(fs·read("b"), fs·read("c"), fs·exists("a"))', "12 12 false")

    def test_a_big_file(self):
        size = 64 << 20
        block = os.urandom(1 << 16)
        with open(self.folder / "big", "wb") as file:
            for _ in range(size >> 16):
                file.write(block)
        self.prints('b = fs·readbytes("big")\nprintln(xv·langtype(b))\nfs·write("copy", b)\nprintln(hash·sha256(b) == hash·sha256(fs·readbytes("copy")))', f"[{size}]uint8", "true")

    def test_a_pipe_and_a_device(self):
        self.prints('println(fs·readbytes("/dev/zero", 0, 3))\nfs·write("/dev/null", "x")\nprintln(fs·stat("/dev/null")·kind)\nprintln(string·len(fs·read("/proc/self/status")) > 100)', "[0, 0, 0]", "other", "true")

    def test_the_time_of_a_file(self):
        self.write("a", "x")
        os.utime(self.folder / "a", (1700000000, 1700000000))
        self.prints('s = fs·stat("a")\nprintln(s·mtime, s·size, time·unix(s·mtime))', "2023-11-14T22:13:20Z 1 1700000000")

    def test_many_calls_leave_no_descriptors(self):
        self.prints('fs·write("a", "x")\nfor (i in range(3000)) {\n fs·read("a") -> t\n fs·copy("a", "b")\n fs·list("run") -> l\n}\nprintln(t)', "x")

    def test_quoted_is_what_the_language_reads(self):
        self.prints(f"println({quoted('a b')})", "a b")


if __name__ == "__main__":
    main()
