"""Every example of docs/kvspace-tool.md and of `kvspace help COMMAND` runs, and prints what stands below it."""
import os
import pathlib
import re
import subprocess

import kvspace_tool
from kvspace_tool import OK, TOOL

PAGE = pathlib.Path(os.environ.get("KVLANG_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2])) / "docs" / "kvspace-tool.md"
PROMPT = re.compile(r"^(/\S*)> (.*)$")


class Examples(kvspace_tool.ToolTest):
    def setUp(self):
        super().setUp()
        self.shell = {**self.environment, "PATH": f"{TOOL.parent}{os.pathsep}{os.environ['PATH']}"}
        rows = {"": "rwfunc(2,1,0,2)", "/[0,-1]": "param(A:int64)", "/[0,-2]": "param(B:int64)", "/[0,1]": "param(C:int64)", "/[1,0]": "opcode(add)",
                "/[1,-1]": "name(A)", "/[1,-2]": "name(B)", "/[1,1]": "name(C)", "/[2,0]": "opcode(return)"}
        for row, literal in rows.items():
            self.tool("set", "/lib/math·add" + row, literal)

    def sh(self, command, stdin=""):
        done = subprocess.run(["sh", "-c", command], env=self.shell, cwd=self.folder, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=60, check=False)
        return done.returncode, done.stdout

    def blocks(self, text):
        """The indented blocks: lists of lines."""
        block = []
        for line in text.splitlines() + [""]:
            if line.startswith("    "):
                block.append(line[4:])
            elif block:
                yield block
                block = []

    def transcript(self, lines):
        """`$ command` and what it prints, or the lines of a prompt."""
        while lines:
            command, rest = lines[0][2:], lines[1:]
            count = next((i for i, line in enumerate(rest) if line.startswith("$ ")), len(rest))
            shown, lines = rest[:count], rest[count:]
            with self.subTest(command):
                if command.endswith(" repl"):
                    self.prompt(command, shown)
                else:
                    self.assertEqual(self.sh(command)[1].splitlines(), shown)

    def prompt(self, command, lines):
        typed = [PROMPT.match(line) for line in lines]
        shown = [line for line, match in zip(lines, typed) if not match]
        status, out = self.sh(re.sub(r"-s \S+", "", command), "".join(match[2] + "\n" for match in typed if match))
        self.assertEqual((status, out.splitlines()), (OK, shown))

    def test_the_page(self):
        ran = 0
        for block in self.blocks(PAGE.read_text(encoding="utf-8")):
            if block[0].startswith("$ "):
                self.transcript(block)
                ran += 1
            elif all(line.startswith("kvspace ") for line in block) and "[OPTIONS]" not in block[0]:
                for line in block:
                    with self.subTest(line):
                        self.assertEqual(self.sh(line), (OK, ""))
                ran += 1
        self.assertGreater(ran, 5)

    def test_the_help(self):
        self.tool("set", "/vthread/7/..pc", '"[3,0]"')
        self.tool("set", "/picture", "[3]uint8([1,2,3])")
        self.tool("set", "/done", "true")
        self.tool("set", "/data/x", "1")
        ran = 0
        for command in re.findall(r"^  (\w+)", self.tool("help"), re.M):
            for block in self.blocks(self.tool("help", command)):
                for line in block:
                    if line.startswith("kvspace "):
                        with self.subTest(line):
                            self.assertEqual(self.sh(line)[0], OK)
                        ran += 1
        self.assertGreater(ran, 8)
        self.assertEqual((self.folder / "picture.png").read_bytes(), b"\1\2\3")

    def test_the_page_and_the_manual_name_every_command_and_option(self):
        manual = (PAGE.parent / "kvspace.1").read_text(encoding="utf-8").replace("\\-", "-")
        page = PAGE.read_text(encoding="utf-8")
        for command in re.findall(r"^  (\w+)", self.tool("help"), re.M):
            self.assertTrue(re.search(rf"`(kvspace )?{command}\b", page), command)
            self.assertIn(command, manual)
            for option in re.findall(r"--([a-z]+)", self.tool("help", command).split("options of every command")[0]):
                self.assertIn(option, manual, f"{command} --{option}")


if __name__ == "__main__":
    kvspace_tool.main()
