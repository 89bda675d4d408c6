"""Every program of docs/language.md runs and prints what stands below it; an `error: KIND` block is how it fails.
Relies on the built kvlang. Promises: a block without an expectation fails."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("KVLANG_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
KVLANG = pathlib.Path(os.environ.get("KVLANG_BUILD_DIR", SOURCE / "build")) / "bin" / "kvlang"
BLOCK = re.compile(r"^```kv\n(.*?)^```\n(?:```\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


def check(folder, number, program, expected):
    path = pathlib.Path(folder) / f"block{number}.kv"
    path.write_text(program, encoding="utf-8")
    done = subprocess.run([str(KVLANG), str(path)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
    printed, said = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    if expected.startswith("error: "):
        return done.returncode in (1, 2) and expected.strip() in said, said
    return done.returncode == 0 and printed == expected, printed + said


def main():
    if not KVLANG.exists():
        print(f"skipped: there is no {KVLANG}")
        return 77
    blocks = BLOCK.findall((SOURCE / "docs" / "language.md").read_text(encoding="utf-8"))
    failed = len(blocks) < 15
    with tempfile.TemporaryDirectory() as folder:
        for number, (program, expected) in enumerate(blocks, 1):
            right, got = check(folder, number, program, expected)
            if not right:
                print(f"FAIL: block {number}:\n{program}expected:\n{expected}got:\n{got}")
                failed = True
    return 1 if failed else 0


sys.exit(main())
