"""stat, spaces, check, export, import, top, repl and watch of the kvspace tool, with bad input for each."""
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

import kvspace_tool
from kvspace_tool import DAMAGED, NO, OK, SANITIZED, SPACE, TIMEOUT, TOOL, USAGE


class Facts(kvspace_tool.ToolTest):
    def test_stat_of_a_key(self):
        self.tool("set", "/v", "[[1,2,3],[4,5,6]]")
        self.tool("set", "/v/below", "1")
        shown = self.json("stat", "--json", "/v")
        self.assertEqual({name: shown[name] for name in ("key", "type", "ref", "store", "shape", "bytes", "children", "members")},
                         {"key": "/v", "type": "[2,3]int64", "ref": "inline", "store": "ndarray", "shape": "2x3", "bytes": 48,
                          "children": 1, "members": 0})
        self.tool("set", "/p", "&/v")
        self.assertEqual(self.json("stat", "--json", "/p")["target"], "/v")
        self.assertIn("pointer", self.tool("stat", "/p"))
        self.fails(NO, "stat", "/none", says="/none")

    def test_stat_of_the_space(self):
        self.set(a="1", b="2")
        shown = self.json("stat", "--json")
        self.assertEqual(shown["file"], self.space)
        self.assertGreater(shown["nodes"], 2)
        self.assertGreaterEqual(shown["file_bytes"], os.path.getsize(self.space) // 2)
        self.assertGreaterEqual(shown["participants"], 1)
        self.assertIn("limit_bytes", self.tool("stat"))

    def test_check_of_a_whole_space(self):
        self.set(a="1", b="{x=1}")
        self.assertEqual(self.tool("check"), "the space is whole\n")
        self.assertEqual(self.json("check", "--json"), {"faults": [], "whole": True})
        self.assertEqual(self.tool("check", "--repair"), "the space is whole\n")

    def data_places(self):
        """Where the sparse file has something: begins of pieces of 64 bytes that are not zero."""
        places, at = [], 0
        with open(self.space, "rb") as file:
            end = os.fstat(file.fileno()).st_size
            while at < end:
                try:
                    at = os.lseek(file.fileno(), at, os.SEEK_DATA)
                except OSError:
                    break
                hole = os.lseek(file.fileno(), at, os.SEEK_HOLE)
                file.seek(at)
                data = file.read(hole - at)
                places += [at + i for i in range(0, len(data), 64) if data[i:i + 64].strip(b"\0")]
                at = hole
        return places

    def test_damage_never_crashes_the_tool(self):
        for i in range(5):
            self.tool("set", f"/k{i}", f'"text {i} with some length to it, so that it takes a block"')
        self.tool("set", "/m", "{a=1; b={c=[1,2,3]}}")
        places = self.data_places()
        seed = int(os.environ.get("KVLANG_SEED", time.time_ns() & 0xffff))
        print(f"seed {seed} (KVLANG_SEED)", file=sys.stderr)
        chance = random.Random(seed)
        statuses = set()
        original = str(self.folder / "original")
        os.rename(self.space, original)
        count = 6 if SANITIZED else 40
        for at in [places[0], *chance.sample(places, min(len(places), count))]:  # the first is the header, which is refused
            subprocess.run(["cp", "--sparse=always", original, self.space], check=True)
            with open(self.space, "r+b") as file:
                file.seek(at)
                piece = file.read(64)
                file.seek(at)
                file.write(bytes(byte ^ chance.randrange(256) for byte in piece))
            for command in (("check",), ("tree",), ("get", "/k1"), ("set", "/k2", "7"), ("export",), ("del", "/k3"), ("check", "--repair")):
                done = self.run_tool(*command)
                self.assertIn(done.returncode, range(6), f"byte {at}: {command}: {done.returncode} {done.stderr}")
                statuses.add(done.returncode)
            if done.returncode == OK:  # mended: from here on nothing is wrong any more
                for command in (("check",), ("tree",), ("export",), ("set", "/new/key", "[1,2,3]"), ("del", "/new"), ("check",)):
                    self.tool(*command)
        self.assertTrue(statuses & {SPACE, DAMAGED}, statuses)

    def test_cut_files_are_refused(self):
        self.set(a="1")
        length = os.path.getsize(self.space)
        for size in (length - 1, length // 2, 4096, 4095, 100, 1, 0):
            os.truncate(self.space, size)
            done = self.run_tool("get", "/a")
            self.assertIn(done.returncode, (SPACE, DAMAGED), f"{size}: {done.stdout}{done.stderr}")
            self.assertTrue(done.stderr.startswith("kvspace: "), done.stderr)

    def test_spaces(self):
        nobody = {key: value for key, value in self.environment.items() if key != "KVSPACE"}
        self.assertEqual(self.json("spaces", "--json"), [])
        self.assertIn("no anonymous spaces", self.tool("spaces"))
        self.assertEqual(self.tool("stat", env=nobody), self.tool("spaces"))


class Transfer(kvspace_tool.ToolTest):
    def fill(self):
        self.set(a="1", a__b="[1,2,3]", t='"text"', f="float32(1.5)")
        self.tool("set", "/m", "{k=int8(1); l={deep=true}}")
        self.tool("set", "/p", "&/a")
        self.tool("set", "/a/..s", "250ms")

    def tree_without_sys(self, space):
        """All that is drawn but /sys, whose figures move."""
        text = self.tool("-s", space, "tree", "-a")
        return re.sub(r"├─ sys.*\n(│  .*\n)*", "", text)

    def test_export_and_import_give_the_same_tree(self):
        for form in ([], ["--compact"]):
            with self.subTest(form):
                self.fill()
                file = str(self.folder / "out")
                self.tool("export", *form, "-o", file)
                before = self.tree_without_sys(self.space)
                other = str(self.folder / f"other{len(form)}")
                self.tool("-s", other, "import", file)
                self.assertEqual(self.tree_without_sys(other), before)
                self.assertEqual(self.tool("-s", other, "export"), self.tool("export"))

    def test_json_is_json(self):
        self.fill()
        rows = json.loads(self.tool("export"))
        self.assertIn("int8", json.dumps(rows))
        self.assertTrue(all("key" in row for row in rows))

    def test_import_under_a_key(self):
        self.set(a__b="7")
        self.tool("import", "--under", "/copy", stdin=self.tool("export", "/a"))
        self.assertIn("= 7", self.tool("tree", "/copy"))

    def test_bad_imports(self):
        self.set(keep="1")
        for text in ("", "{", "[]x", "nonsense", '[{"key":5}]', '[{"key":"/x","type":"int9","value":1}]', "[{\"key\":\"no\"}]"):
            with self.subTest(text):
                done = self.run_tool("import", stdin=text)
                self.assertNotIn(done.returncode, (0, -6, -11), text)
                self.assertTrue(done.stderr.startswith("kvspace: import"), done.stderr)
        self.fails(SPACE, "import", str(self.folder / "none"), says="none")
        self.assertEqual(self.tool("get", "/keep"), "1\n")

    def test_cut_streams(self):
        self.fill()
        stream = self.run_tool("export", "--compact", binary=True, stdin=b"").stdout
        for size in range(1, len(stream), max(1, len(stream) // (6 if SANITIZED else 25))):
            done = self.run_tool("-s", str(self.folder / f"cut{size}"), "import", binary=True, stdin=stream[:size])
            self.assertIn(done.returncode, (USAGE, SPACE, DAMAGED, NO), f"{size}: {done.stderr}")

    def test_output_file_appears_whole_or_not_at_all(self):
        self.fill()
        file = self.folder / "out"
        file.write_text("before")
        self.fails(NO, "export", "/none", "-o", str(file))
        self.assertEqual(file.read_text(), "before")
        self.fails(SPACE, "export", "-o", str(self.folder / "no" / "out"), says="cannot write")
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.endswith(".part")], [])


class Watching(kvspace_tool.ToolTest):
    def line(self, watcher):
        return watcher.stdout.readline().rstrip("\n")

    def test_each_change_is_shown(self):
        self.set(x="1")
        watcher = self.start("watch", "/x", "--now", "--timeout", "60")
        self.assertEqual(self.line(watcher), "1")
        for literal, shown in (("2", "2"), ('"text"', "text"), ("[1,2]", "[1, 2]")):
            self.tool("set", "/x", literal)
            self.assertEqual(self.line(watcher), shown)
        self.tool("del", "/x")
        self.assertEqual(self.line(watcher), "deleted")
        self.tool("set", "/x", "7")
        self.assertEqual(self.line(watcher), "7")
        watcher.send_signal(signal.SIGINT)
        watcher.communicate(timeout=20)
        self.assertEqual(watcher.returncode, 0)

    def test_until_and_count(self):
        self.set(x="1")
        self.assertEqual(self.tool("watch", "/x", "--until", "1"), "1\n")
        watcher = self.start("watch", "/x", "--now", "--until", "int8(3)", "--timeout", "60", "--json")
        self.assertEqual(json.loads(self.line(watcher))["value"], 1)
        self.tool("set", "/x", "3")
        self.assertEqual(json.loads(self.line(watcher))["value"], 3)
        self.assertEqual(watcher.communicate(timeout=20)[0], "")
        self.assertEqual(watcher.returncode, 0)
        watcher = self.start("watch", "/later", "--now", "--count", "1", "--timeout", "60")
        self.assertEqual(self.line(watcher), "deleted")
        self.tool("set", "/later", "5")
        self.assertEqual(watcher.communicate(timeout=20)[0], "5\n")

    def test_timeout_and_bad_input(self):
        self.set(x="1")
        began = time.monotonic()
        self.fails(TIMEOUT, "watch", "/x", "--timeout", "0.3", says="timed out")
        self.assertGreater(time.monotonic() - began, 0.25)
        self.assertLess(time.monotonic() - began, 20)
        self.fails(USAGE, "watch", "/x", "--timeout", "soon", says="seconds")
        self.fails(USAGE, "watch", "/x", "--until", "[1,")
        self.fails(USAGE, "watch", "x")


class Live(kvspace_tool.ToolTest):
    def fill(self):
        for vid, status in (("7", "running"), ("8", "error")):
            self.tool("set", "--text", f"/vt/{vid}/..status", status)
            self.tool("set", f"/vt/{vid}/..steps", "1234")
            self.tool("set", "--text", f"/vt/{vid}/..pc", f"/vt/{vid}/[3,0]/[1,0]")

    def test_top_prints_once_without_a_terminal(self):
        self.fill()
        text = self.tool("top", "/vt")
        self.assertIn("VTHREAD", text)
        rows = [line.split() for line in text.splitlines() if line.startswith(("7", "8"))]
        self.assertEqual(rows, [["7", "running", "1234", "[3,0]/[1,0]"], ["8", "error", "1234", "[3,0]/[1,0]"]])
        shown = self.json("top", "--json", "/vt")
        self.assertEqual([(row["vthread"], row["status"], row["steps"]) for row in shown["vthreads"]],
                         [("7", "running", "1234"), ("8", "error", "1234")])

    def test_top_repeats_and_bounds(self):
        self.set(x="1")
        rounds = self.tool("top", "--json", "--count", "2", "--interval", "0.05", "/none").splitlines()
        self.assertEqual([json.loads(line)["vthreads"] for line in rounds], [[], []])
        self.fails(USAGE, "top", "--interval", "x", says="seconds")


class Prompt(kvspace_tool.ToolTest):
    def prompt(self, *lines):
        return self.run_tool("repl", stdin="".join(line + "\n" for line in lines))

    def test_commands_and_relative_keys(self):
        done = self.prompt("set /a/b {x=1; y=\"two words\"}", "cd /a", "pwd", "get b·x", "ls", "cd b", "·y", "get ../b·y", "cd ..",
                           "/a/c = [1, 2]", "c", "# a comment", "", "del c", "ls /a", "exit", "get /never")
        self.assertEqual(done.stderr.splitlines(), ["kvspace: there is no command c; see kvspace help"])
        self.assertEqual(done.stdout.splitlines(), ["/a", "1", "b·", "two words", "two words", "b·"])

    def test_errors_do_not_end_it(self):
        done = self.prompt("get /none", "get 'open", "fly", "set /x 1", "set /x", "cd /nowhere", "get -s other /x", "get /x")
        self.assertEqual(done.stdout, "1\n")
        self.assertEqual(len(done.stderr.splitlines()), 6, done.stderr)
        self.assertNotEqual(done.returncode, 0)

    def test_json(self):
        done = self.prompt("set /x 1", "get --json /x")
        self.assertEqual(json.loads(done.stdout)["value"], 1)


class Manners(kvspace_tool.ToolTest):
    def test_colours_only_where_they_are_wanted(self):
        self.set(x="1")
        coloured = {key: value for key, value in self.environment.items() if key != "NO_COLOR"}
        self.assertNotIn("\x1b", self.tool("tree", env=coloured))
        self.assertIn("\x1b", self.tool("tree", "--color", "always", env=coloured))
        self.assertNotIn("\x1b", self.tool("tree", "--color", "never", env=coloured))

    def test_a_reader_that_leaves_ends_it_quietly(self):
        for i in range(3):
            self.tool("set", f"/big{i}", "[50000]int64([7...])")
        tool = subprocess.Popen([str(TOOL), "get", "/big0", "/big1", "/big2"], env=self.environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)
        tool.stdout.read(10)
        tool.stdout.close()
        self.assertEqual(tool.stderr.read(), b"")
        self.assertEqual(tool.wait(timeout=30), SPACE)
        tool.stderr.close()
        self.assertEqual(self.tool("check"), "the space is whole\n")


if __name__ == "__main__":
    kvspace_tool.main()
