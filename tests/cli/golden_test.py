"""The runner of golden programs: each kind of expectation passes when it is met and fails when it is not; disputed ones are
shown and not counted; a program without an expectation cannot pass. Relies on sh standing in for kvlang."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("KVLANG_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))

# name: (program, passes). The program is sh, whose comments look like kvlang's.
PROGRAMS = {
    "output_met.kv": ("# expect:\n#   one\n#\n#   two\necho one; echo; echo two\n", True),
    "output_differs.kv": ("# expect:\n#   one\necho two\n", False),
    "output_too_long.kv": ("# expect:\n#   one\necho one; echo two\n", False),
    "output_empty_expected.kv": ("# expect:\n# expect-exit: 0\necho one\n", False),
    "error_met.kv": ("# expect-error: TypeError\n# expect-exit: 1\necho TypeError >&2; exit 1\n", True),
    "error_exit_free.kv": ("# expect-error: TypeError\necho TypeError >&2; exit 2\n", True),
    "error_lacks.kv": ("# expect-error: TypeError\n# expect-exit: 1\necho NameError >&2; exit 1\n", False),
    "stderr_met.kv": ("# expect-stderr: a\n# expect-stderr: b\necho b a >&2\n", True),
    "stderr_lacks.kv": ("# expect-stderr: a\n# expect-stderr: c\necho b a >&2\n", False),
    "exit_met.kv": ("# expect-exit: 3\nexit 3\n", True),
    "exit_differs.kv": ("# expect:\n#   one\necho one; exit 3\n", False),
    "hangs.kv": ("# expect:\n#   one\necho one; sleep 60\n", False),
    "no_expectation.kv": ("echo one\n", False),
    "not_utf8_output.kv": ("# expect:\n#   one\nprintf '\\377\\n'\n", False),
}
DISPUTED = "disputed_one.kv"


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        programs = root / "programs"
        programs.mkdir()
        for name, (text, _) in PROGRAMS.items():
            (programs / name).write_text(text)
        (programs / DISPUTED).write_text("# expect:\n#   one\necho two\n")
        # A folder with a main.kv is one program: its other files are parts and are not run by themselves.
        (programs / "several").mkdir()
        (programs / "several" / "main.kv").write_text("# expect:\n#   main\necho main\n")
        (programs / "several" / "part.kv").write_text("exit 9\n")
        (root / "disputed.txt").write_text(f"# a list\n{DISPUTED} because\n")
        command = [sys.executable, str(SOURCE / "scripts" / "golden"), "--timeout", "2", "--disputed",
                   str(root / "disputed.txt"), "--kvlang"]
        done = subprocess.run(command + ["/bin/sh", str(programs)], text=True, stdout=subprocess.PIPE, check=False)
        complained = {pathlib.Path(path).name for path in re.findall(r"^FAIL (\S+):", done.stdout, re.M)}
        for name, (_, passes) in PROGRAMS.items():
            if (name in complained) == passes:
                print(f"FAIL: {name} {'fails' if passes else 'passes'}")
                failed += 1
        good = sum(passes for _, passes in PROGRAMS.values()) + 1
        expected = f"golden: {good} passed, {len(PROGRAMS) + 1 - good} failed, 1 disputed"
        if done.stdout.splitlines()[-1] != expected or done.returncode != 1:
            print(f"FAIL: expected {expected!r} and exit 1, got:\n{done.stdout}")
            failed += 1
        missing = subprocess.run(command + [str(root / "nothing"), str(programs)], text=True, stdout=subprocess.PIPE,
                                 check=False)
        if "skipped" not in missing.stdout or missing.returncode:
            print("FAIL: without a kvlang the runner must skip and say so")
            failed += 1
    return 1 if failed else 0


sys.exit(main())
