"""ps, pause, resume and kill on programs that run in other processes, are killed, or have failed; frames and variables as the tree shows them.
Relies on kvlang_tool.py. Promises: each waits for what it asked for, so that nothing here sleeps to be right."""
import json
import signal
import time

from kvlang_tool import FAILED, OK, USAGE, ProgramTest, main

LOOP = 'name = "loop"\ni = 0\nwhile (/stop == None) { i + 1 -> i }\nprintln("ended", i > 0)\n'
CALLS = """\
rwfunc inner(n:int64, tags:[]char/utf8·int64) -> (r:int64) {
    while (/stop == None) { r = n }
    tags·deep + r -> r
}
rwfunc outer(n:int64) -> (r:int64) { inner(n + 1, {deep=n}) -> x; x × 2 -> r }
outer(20) -> result
println(result)
"""


class Vthreads(ProgramTest):
    def begin(self, text):
        """Starts a program in self.space and waits until it runs."""
        process = self.start("-s", self.space, self.write("a.kv", text))
        self.wait_for(lambda: self.status(), "running")
        return process

    def status(self, vid=1):
        done = self.run_program("-s", self.space, "ps", "--all", "--json")
        rows = json.loads(done.stdout) if done.returncode == 0 and done.stdout.strip() else []
        return {row["vid"]: row["status"] for row in rows}.get(vid)

    def wait_for(self, what, value):
        end = time.monotonic() + 30
        while what() != value:
            self.assertLess(time.monotonic(), end, f"not {value}")
            time.sleep(0.02)

    def test_pause_look_change_resume(self):
        process = self.begin(CALLS)
        self.kvlang("-s", self.space, "pause", "1")
        self.assertEqual(self.status(), "paused")
        self.assertEqual(process.wait(timeout=30), FAILED)
        frame = "/vthread/1/[1,0]"
        self.assertEqual(self.kvspace("-s", self.space, "get", f"{frame}/n"), "20\n")
        inner = next(row["pc"] for row in json.loads(self.kvlang("-s", self.space, "ps", "--json"))).rsplit("/", 1)[0]
        self.assertTrue(inner.startswith(frame + "/["), inner)
        self.assertEqual(self.kvspace("-s", self.space, "get", f"{inner}/tags·deep"), "20\n")
        self.kvspace("-s", self.space, "set", f"{inner}/n", "100")
        self.kvspace("-s", self.space, "set", "/stop", "true")
        self.kvspace("-s", self.space, "set", f"{inner}/r", "100")
        self.assertEqual(self.kvlang("-s", self.space, "resume"), "240\n")
        self.assertEqual(self.status(), "done")

    def test_kill(self):
        process = self.begin(LOOP)
        self.kvlang("-s", self.space, "kill", "1")
        self.assertEqual(process.wait(timeout=30), FAILED)
        self.assertEqual(self.status(), "error")
        self.assertEqual(self.kvspace("-s", self.space, "get", "/vthread/1/name"), "loop\n")
        self.kvlang("-s", self.space, "kill", "7", status=USAGE)
        self.kvlang("-s", self.space, "kill", "x", status=USAGE)

    def test_resume_after_sigkill(self):
        process = self.begin(LOOP)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=30)
        self.kvspace("-s", self.space, "set", "/stop", "true")
        self.assertEqual(self.kvlang("-s", self.space, "resume", "1"), "ended true\n")

    def test_anonymous_space_of_a_killed_program(self):
        process = self.start(self.write("a.kv", LOOP))
        self.wait_for(lambda: "running" in self.kvlang("ps"), True)
        space = json.loads(self.kvlang("ps", "--json"))[0]["space"]
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=30)
        self.kvspace("-s", space, "set", "/stop", "true")
        self.assertEqual(self.kvlang("resume"), "ended true\n")
        self.assertEqual(self.spaces(), [])

    def test_resume_of_nothing(self):
        self.kvlang("resume", status=USAGE)
        self.kvlang("-s", self.space, "-c", "x = 1")
        self.assertEqual(self.kvlang("-s", self.space, "resume"), "")
        self.kvlang("-s", self.space, "resume", "9", status=USAGE)

    def test_failed_ones_are_not_run_again(self):
        self.kvlang("-s", self.space, "-c", 'println("once"); error("bad")', status=FAILED)
        self.assertEqual(self.kvlang("-s", self.space, "resume"), "")
        self.assertIn("RuntimeError: bad", self.kvlang("-s", self.space, "ps"))

    def test_ps_hides_what_is_done(self):
        self.kvlang("-s", self.space, "-c", "x = 1")
        self.assertEqual(len(self.kvlang("-s", self.space, "ps").splitlines()), 1)
        self.assertEqual(len(self.kvlang("-s", self.space, "ps", "-a").splitlines()), 2)

    def test_ps_while_it_runs_reads_consistent_values(self):
        process = self.begin('a = 0\nb = 0\nwhile (/stop == None) { a + 1 -> a\n a -> b }\n')
        for _ in range(30):
            a, b = (int(text) for text in self.kvspace("-s", self.space, "get", "/vthread/1/a", "/vthread/1/b").split())
            self.assertGreaterEqual(b + 1, a)
        self.kvspace("-s", self.space, "set", "/stop", "true")
        self.assertEqual(process.wait(timeout=30), OK)

    def test_resume_begins_what_was_only_made(self):
        self.kvlang("-s", self.space, "-c", 'rwfunc work(n:int64) -> (m:int64) { n × n -> m }\nfor (i in range(5)) { vthread·create("work", i) -> _ }')
        self.assertEqual(self.status(4), "init")
        self.kvlang("-s", self.space, "resume")
        self.assertEqual([self.kvspace("-s", self.space, "get", f"/vthread/{vid}/m") for vid in range(2, 7)], ["0\n", "1\n", "4\n", "9\n", "16\n"])


if __name__ == "__main__":
    main()
