"""The kvspace tool on a terminal: colours and their absence, tables cut at its width, no control characters from the data, top's
live view, Ctrl-C, the prompt. The terminal is a pseudo-terminal."""
import fcntl
import os
import pty
import select
import struct
import termios
import time

import kvspace_tool
from kvspace_tool import OK, SPACE, TOOL, USAGE

ESCAPE = "\x1b["


class Terminal(kvspace_tool.ToolTest):
    def setUp(self):
        super().setUp()
        self.environment.pop("NO_COLOR")
        self.environment["TERM"] = "xterm"

    def on_terminal(self, *arguments, keys=(), columns=80, **environment):
        """Runs the tool on a terminal. `keys`: (what it has shown, what is typed then). Gives the exit status and all that was shown."""
        pid, terminal = pty.fork()
        if not pid:
            os.execve(str(TOOL), [str(TOOL), *arguments], {**self.environment, **environment})
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        shown, keys, deadline, seen = "", list(keys), time.monotonic() + 120, 0
        while time.monotonic() < deadline:
            if select.select([terminal], [], [], 0.05)[0]:
                try:
                    piece = os.read(terminal, 65536)
                except OSError:  # the other side is closed
                    break
                shown += piece.decode("utf-8", "replace")
            while keys and keys[0][0] in shown[seen:]: # behind what was waited for before
                wanted, typed = keys.pop(0)
                seen = shown.index(wanted, seen) + len(wanted)
                os.write(terminal, typed.encode())
        else:
            os.kill(pid, 9)
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.replace("\r\n", "\n")

    def test_colours_are_for_terminals(self):
        self.set(a__b="1", t='"text"')
        for command in (("tree",), ("ls",), ("ls", "-l"), ("stat", "/t"), ("help",), ("get", "/none")):
            self.assertIn(ESCAPE, self.on_terminal(*command)[1], command)
            self.assertNotIn(ESCAPE, self.on_terminal(*command, NO_COLOR="1")[1], command)
            self.assertNotIn(ESCAPE, self.on_terminal(*command, TERM="dumb")[1], command)
            self.assertNotIn(ESCAPE, self.on_terminal("--color", "never", *command)[1], command)
        self.assertIn(ESCAPE, self.on_terminal("tree", NO_COLOR="")[1])
        self.assertNotIn(ESCAPE, self.on_terminal("get", "/t")[1])

    def test_rows_end_where_the_terminal_does(self):
        self.tool("set", "--text", "/long", "wörd " * 200)
        self.tool("set", "--text", "/wide", "漢字" * 100)
        for columns in (30, 61, 80):
            for line in self.on_terminal("ls", "-l", NO_COLOR="1", columns=columns)[1].splitlines():
                width = sum(2 if "\u2e80" < character < "\uffff" else 1 for character in line)
                self.assertLessEqual(width, columns, line)
        self.assertIn("…", line)

    def test_data_cannot_steer_the_terminal(self):
        self.tool("set", "--text", "/evil", "\x1b]0;title\x07\x1b[2J")
        for command in (("ls", "-l"), ("tree",), ("top",)):
            done = self.on_terminal(*command, *(["-n", "1"] if command == ("top",) else []), NO_COLOR="1")
            self.assertNotIn("\x1b]", done[1])
            self.assertNotIn("\x07", done[1])

    def test_top_lives_until_ctrl_c(self):
        self.tool("set", "--text", "/vt/7/..status", "running")
        status, shown = self.on_terminal("top", "/vt", "-i", "0.05", keys=[("steps/s", "\x03")])
        self.assertEqual(status, OK)
        self.assertGreater(shown.count(ESCAPE + "H"), 1)
        self.assertIn("running", shown)
        self.assertEqual(self.tool("check"), "the space is whole\n")

    def test_watch_ends_well_with_ctrl_c(self):
        self.set(x="1")
        self.assertEqual(self.on_terminal("watch", "/x", "--now", keys=[("1\r\n", "\x03")])[0], OK)

    def test_the_compact_stream_is_not_for_a_terminal(self):
        self.set(x="1")
        self.assertEqual(self.on_terminal("export", "-c")[0], USAGE)
        self.assertEqual(self.on_terminal("export")[0], OK)

    def test_the_prompt(self):
        status, shown = self.on_terminal("repl", keys=[("/> ", "/a/b = [1, 2]\n"), ("2]\r\n/> ", "cd /a\n"), ("/a> ", "get b\n"), ("\n[1, 2]", "get /no\n"),
                                                       ("nothing at /no", ""), ("/a> ", "\x04")])
        self.assertEqual(status, OK)
        self.assertIn("[1, 2]\n", shown)

    def test_a_terminal_that_goes_away(self):
        for i in range(50):
            self.tool("set", f"/k{i}", "1")
        pid, terminal = pty.fork()
        if not pid:
            os.execve(str(TOOL), [str(TOOL), "top", "-i", "0.01", "/"], self.environment)
        os.read(terminal, 100)
        os.close(terminal)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                break
            time.sleep(0.05)
        else:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
            self.fail("it goes on without its terminal")
        self.assertIn(os.waitstatus_to_exitcode(status), (OK, SPACE, -1))  # -1: the hang-up itself


if __name__ == "__main__":
    kvspace_tool.main()
