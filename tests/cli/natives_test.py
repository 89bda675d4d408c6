"""Every row of natives.def: its example runs and prints what the row says, and docs/natives.md is what the table says.
Relies on the built kvlang. Promises: a row without a working example fails here, with its name."""
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("KVLANG_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
KVLANG = pathlib.Path(os.environ.get("KVLANG_BUILD_DIR", SOURCE / "build")) / "bin" / "kvlang"


def table():
    loader = importlib.machinery.SourceFileLoader("natives", str(SOURCE / "scripts" / "natives"))
    sys.dont_write_bytecode = True
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("natives", loader))
    loader.exec_module(module)
    return module


def main():
    natives = table()
    failed = 0
    if not natives.PAGE.exists() or natives.PAGE.read_text(encoding="utf-8") != natives.page():
        print("FAIL: docs/natives.md is not what natives.def says: run scripts/natives")
        failed += 1
    if not KVLANG.exists():
        print(f"skipped: there is no {KVLANG}")
        return 1 if failed else 77
    with tempfile.TemporaryDirectory() as folder:
        for _, name, _, _, example, prints in natives.rows():
            program = pathlib.Path(folder) / "example.kv"
            program.write_text(example + "\n", encoding="utf-8")
            done = subprocess.run([str(KVLANG), str(program)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
            printed = done.stdout.decode("utf-8", "replace")
            if done.returncode or printed != prints + "\n":
                print(f"FAIL: {name}: expected {prints!r}, got {printed!r}, exit {done.returncode}\n{done.stderr.decode('utf-8', 'replace')}")
                failed += 1
    return 1 if failed else 0


sys.exit(main())
