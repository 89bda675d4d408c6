"""proc·exec: arguments, input, outputs, environment, time limits, and children that end badly. Relies on std_tool.py and a POSIX shell.
Promises: nothing hangs, whatever the child does with its ends of the pipes, and no child is left."""
import os
import subprocess
import time

from kvlang_tool import main
from std_tool import FamilyTest


class Proc(FamilyTest):
    def test_arguments_are_taken_as_they_are(self):
        self.prints('r = proc·exec({"printf", "%s|", "a b", "$HOME", "*", "ä", ""})\nprintln(r·status, r·out, r·err, r·timedout)', "0 a b|$HOME|*|ä||  false")

    def test_status_and_signal(self):
        self.prints('println(proc·exec("exit 3", {shell=true})·status, proc·exec("kill -9 $$", {shell=true})·status, proc·exec("kill -TERM $$", {shell=true})·status)', "3 -9 -15")

    def test_both_outputs(self):
        self.prints('r = proc·exec("echo out; echo err >&2", {shell=true})\nprint(r·out, r·err)', "out", "err")

    def test_input(self):
        self.prints('println(proc·exec({"cat"}, {stdin="ä\\n"})·out == "ä\\n", proc·exec({"cat"})·out == "")', "true true")
        self.prints('b:[]uint8 = [0, 255, 10]\nprintln(proc·exec({"cat"}, {stdin=b; bytes=true})·out == b, proc·exec({"cat"}, {stdin=b})·out == "\\0\\u{fffd}\\n")', "true true")

    def test_much_input_and_output_at_once(self):
        self.prints('s = string·repeat("0123456789", 800000)\nprintln(proc·exec({"cat"}, {stdin=s})·out == s)', "true")
        self.prints('r = proc·exec("yes o | head -c 20000000 & yes e | head -c 20000000 >&2; wait", {shell=true})\nprintln(string·len(r·out), string·len(r·err))', "20000000 20000000")

    def test_a_child_that_does_not_read(self):
        self.prints('s = string·repeat("x", 3000000)\nprintln(proc·exec({"true"}, {stdin=s})·status, proc·exec("exec <&-; sleep 0.2; echo on", {shell=true; stdin=s})·out)', "0 on", "")

    def test_time_limits(self):
        began = time.monotonic()
        self.prints('r = proc·exec({"sleep", "60"}, {timeout=0.3})\nprintln(r·status, r·timedout)', "-9 true")
        self.prints('r = proc·exec("echo begun; sleep 60 & sleep 60", {shell=true; timeout=time/duration·millis(300)})\nprintln(r·timedout, r·out)', "true begun", "")
        self.prints('r = proc·exec("exec >&- 2>&-; sleep 60", {shell=true; timeout=0.3})\nprintln(r·status, r·timedout)', "-9 true")
        self.prints('r = proc·exec("trap \'\' TERM INT; while :; do :; done", {shell=true; timeout=0.3})\nprintln(r·timedout)', "true")
        self.assertLess(time.monotonic() - began, 50)

    def test_no_grandchild_is_left_by_a_time_limit(self):
        mark = f"6{os.getpid()}.25"
        self.prints(f'r = proc·exec("sleep {mark} & sleep {mark}", {{shell=true; timeout=0.3}})\nprintln(r·timedout)', "true")
        listed = subprocess.run(["ps", "-eo", "args"], stdout=subprocess.PIPE, text=True, check=False).stdout
        self.assertNotIn(f"sleep {mark}", listed)

    def test_environment_and_folder(self):
        self.prints('r = proc·exec({"/usr/bin/env"}, {env={A="1"; B="x y"}})\nprint(r·out)', "A=1", "B=x y")
        os.mkdir(self.folder / "d")
        self.prints('print(proc·exec({"pwd"}, {dir="d"})·out)', str((self.folder / "d").resolve()))
        self.environment["FROM_TEST"] = "here"
        self.prints('print(proc·exec("echo $FROM_TEST", {shell=true})·out, env·get("FROM_TEST"), env·get("NOT_THERE"), env·get("NOT_THERE", 7))\nprintln()', "here", "hereNone7")

    def test_what_cannot_be_started(self):
        self.raises('proc·exec({"no-such-program"})', "RuntimeError", "no-such-program: No such file")
        self.raises('proc·exec({"/"})', "RuntimeError", "/: Permission denied")
        self.raises('proc·exec({"true"}, {dir="no/such"})', "RuntimeError", "no/such: No such file")
        self.raises('proc·exec({"./program.kv"})', "RuntimeError", "Permission denied")

    def test_a_call_that_fails_is_made_once(self):
        self.raises('println(proc·exec("echo once >> f; yes", {shell=true; limit=10})·out)', "RuntimeError", "limit")
        self.raises('c = "echo once >> g; yes"\no:[]char/utf8·any = {shell=true; limit=10}\nr = proc·exec(c, o)', "RuntimeError", "limit")
        self.assertEqual((self.folder / "f").read_text(encoding="utf-8") + (self.folder / "g").read_text(encoding="utf-8"), "once\nonce\n")

    def test_too_much_output(self):
        self.raises('proc·exec({"yes"}, {limit=100000})', "RuntimeError", "more than the limit of 100000 bytes")

    def test_arguments_that_do_not_fit(self):
        self.raises('proc·exec("ls -l")', "TypeError", "shell=true")
        self.raises("proc·exec({})", "ValueError", "empty")
        self.raises('proc·exec({""})', "ValueError", "empty")
        self.raises('proc·exec({"ls", 1})', "TypeError", "an argument is int64")
        self.raises("proc·exec([1, 2])", "TypeError")
        self.raises('proc·exec({"a\\0b"})', "ValueError", "zero byte")
        self.raises('proc·exec({"ls"}, {timout=1})', "ValueError", "no option timout", "timeout")
        self.raises('proc·exec({"ls"}, {timeout=0})', "ValueError", "timeout")
        self.raises('proc·exec({"ls"}, {timeout="1"})', "TypeError", "timeout")
        self.raises('proc·exec({"ls"}, {env="A=1"})', "TypeError", "env")
        self.raises('m = {}\nk = "A=B"\nm·*k = "1"\nproc·exec({"ls"}, {env=m})', "ValueError", "A=B")
        self.raises('proc·exec({"ls"}, {shell=1})', "TypeError", "shell")
        self.raises('proc·exec({"ls"}, {limit=-1})', "ValueError", "limit")

    def test_many_calls_leave_no_descriptors(self):
        self.prints('for (i in range(400)) { proc·exec({"true"}, {stdin="x"}) -> r }\nprintln(r·status)', "0")


if __name__ == "__main__":
    main()
