"""Anonymous spaces as the kvspace tool sees them: live while their program runs, gone when it ends well, kept when it was killed; the
tool looks into all of them and neither keeps alive nor removes one. The program is the Python module, in a process of its own."""
import os
import pathlib
import subprocess
import sys
import unittest

import kvspace_tool
from kvspace_tool import BUILD, SANITIZED, SPACE, USAGE

MODULE = pathlib.Path(__file__).resolve().parents[2] / "bindings" / "python"
LIBRARY = BUILD / "lib" / ("libkvspace.dylib" if sys.platform == "darwin" else "libkvspace.so")
PROGRAM = """
import kvspace, sys
space = kvspace.open()
space["/x"] = 5
for line in sys.stdin:
    exec(line)
    print("closed" if space.closed else space.dsn, flush=True)
"""


@unittest.skipIf(SANITIZED, "Python cannot load a sanitized library")
class Anonymous(kvspace_tool.ToolTest):
    def setUp(self):
        super().setUp()
        self.nobody = {key: value for key, value in self.environment.items() if key != "KVSPACE"}

    def program(self):
        environment = {**self.nobody, "PYTHONPATH": str(MODULE), "KVSPACE_LIBRARY": str(LIBRARY)}
        program = subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end, program)
        return program, self.say(program, "pass")

    def say(self, program, line):
        program.stdin.write(line + "\n")
        program.stdin.flush()
        return program.stdout.readline().strip()

    def end(self, program, kill=False):
        if kill:
            program.kill()
        if not program.stdin.closed:
            program.stdin.close()
        program.wait(timeout=30)
        program.stdout.close()

    def states(self):
        return {row["dsn"]: row["state"] for row in self.json("spaces", "--json")}

    def test_a_good_end_removes_it(self):
        program, dsn = self.program()
        self.assertEqual(self.states(), {dsn: "live"})
        self.assertEqual(self.tool("-s", dsn, "get", "/x"), "5\n")
        self.assertEqual(self.tool("get", "/x", env=self.nobody), "5\n")
        self.assertEqual(self.states(), {dsn: "live"})
        self.end(program)
        self.assertEqual(self.states(), {})
        self.fails(SPACE, "-s", dsn, "get", "/x")
        self.fails(USAGE, "get", "/x", env=self.nobody, says="which space")

    def test_a_crash_keeps_it_whoever_looks(self):
        program, dsn = self.program()
        self.end(program, kill=True)
        self.assertEqual(self.states(), {dsn: "crashed"})
        for _ in range(2):
            self.assertEqual(self.tool("get", "/x", env=self.nobody), "5\n")
            self.tool("-s", dsn, "set", "/x", "5")
            self.assertEqual(self.states(), {dsn: "crashed"})
        self.assertIn("crashed", self.tool("spaces"))
        self.assertEqual(self.tool("-s", dsn, "check"), "the space is whole\n")

    def test_a_tool_that_waits_in_it_does_not_keep_it(self):
        program, dsn = self.program()
        watcher = self.start("-s", dsn, "watch", "/x", "--now", "--count", "1", "--timeout", "30")
        self.assertEqual(watcher.stdout.readline(), "5\n")
        self.end(program)
        self.assertEqual(self.states(), {dsn: "live"})
        self.tool("-s", dsn, "set", "/x", "6")
        self.assertEqual(watcher.communicate(timeout=30)[0], "6\n")
        self.assertEqual(self.states(), {})

    def test_a_crash_while_a_tool_waits_keeps_it(self):
        program, dsn = self.program()
        watcher = self.start("-s", dsn, "watch", "/x", "--now", "--count", "1", "--timeout", "30")
        self.assertEqual(watcher.stdout.readline(), "5\n")
        self.end(program, kill=True)
        self.tool("-s", dsn, "set", "/x", "6")
        self.assertEqual(watcher.communicate(timeout=30)[0], "6\n")
        self.assertEqual(self.states(), {dsn: "crashed"})

    def test_watchers_and_threads_of_a_program_do_not_end_it(self):
        program, dsn = self.program()
        self.say(program, "w = space.watcher('/x'); w.close()")
        self.say(program, "other = kvspace.open(space.dsn); other.close()")
        self.say(program, "space.wait_until('/x', 5)")
        self.end(program, kill=True)
        self.assertEqual(self.tool("get", "/x", env=self.nobody), "5\n")
        self.assertEqual(self.states(), {dsn: "crashed"})

    def test_kept_on_purpose(self):
        program, dsn = self.program()
        self.assertEqual(self.say(program, "space.keep(); space.close()"), "closed")
        self.end(program)
        self.assertEqual(self.states(), {dsn: "kept"})
        self.tool("-s", dsn, "get", "/x")
        self.assertEqual(self.states(), {dsn: "kept"})

    def test_two_spaces_want_a_name_and_come_oldest_first(self):
        first, first_dsn = self.program()
        second, second_dsn = self.program()
        run = pathlib.Path(self.environment["XDG_RUNTIME_DIR"])
        for age, dsn in ((100, second_dsn), (50, first_dsn)):
            for path in run.rglob(dsn.split(":")[1] + ".kvspace"):
                os.utime(path, (path.stat().st_mtime - age,) * 2)
        self.fails(USAGE, "get", "/x", env=self.nobody, says="kvspace spaces")
        self.assertEqual(list(self.states()), [second_dsn, first_dsn])
        self.end(first)
        self.end(second)

    def test_the_one_that_runs_is_meant(self):
        for _ in range(2):
            self.end(self.program()[0], kill=True)
        self.fails(USAGE, "get", "/x", env=self.nobody, says="kvspace spaces")
        running, dsn = self.program()
        self.say(running, "space['/x'] = 'alive'")
        self.assertEqual(self.tool("get", "/x", env=self.nobody), "alive\n")
        self.assertEqual(len(self.states()), 3)
        self.assertEqual(self.tool("spaces", "--prune").count("crashed"), 2)
        self.assertEqual(self.states(), {dsn: "live"})
        self.assertIn("nothing to remove", self.tool("spaces", "--prune"))
        self.assertEqual(self.json("spaces", "--prune", "--json"), [])

    def test_a_change_wants_a_name(self):
        _, dsn = self.program()
        for command in (("set", "/x", "1"), ("del", "/x"), ("import",), ("repl",), ("check",)):
            self.fails(USAGE, *command, env=self.nobody, says="which space")
        self.assertEqual(self.tool("-s", dsn, "get", "/x"), "5\n")

    def test_names_are_checked(self):
        for name in ("anon:", "anon:../x", "anon:a/b", "anon:.hidden", "anon:" + "x" * 300):
            self.fails(USAGE, "-s", name, "get", "/x")
        self.fails(SPACE, "-s", "anon:nobody", "get", "/x", says="nobody")

    def test_other_files_of_the_directory_are_left_alone(self):
        program, dsn = self.program()
        folder = next(pathlib.Path(self.environment["XDG_RUNTIME_DIR"]).rglob("*.kvspace")).parent
        (folder / "foreign.kvspace").write_text("dear diary\n" * 1000)
        (folder / "empty.kvspace").touch()
        (folder / "folder.kvspace").mkdir()
        os.mkfifo(folder / "pipe.kvspace")
        self.assertEqual(self.states(), {dsn: "live"})
        self.end(program)
        self.assertEqual((folder / "foreign.kvspace").read_text(), "dear diary\n" * 1000)


if __name__ == "__main__":
    kvspace_tool.main()
