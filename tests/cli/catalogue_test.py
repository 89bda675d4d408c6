#!/usr/bin/env python3
"""The catalogue of wrong programs (tests/diagnostics) through the programs: `kvlang vet` prints exactly the text of each, with its exit
status, and the language server gives the same reports, columns in UTF-16.
Relies on lsp_editor.py, KVLANG_BUILD_DIR and KVLANG_SOURCE_DIR. Exit status 0 when all holds."""
import os
import pathlib
import re
import subprocess
import sys

from lsp_editor import KVLANG, PATIENCE, Editor, units

ROOT = pathlib.Path(os.environ.get("KVLANG_SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent.parent))
FOLDER = ROOT / "tests" / "diagnostics"
HEAD = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+):(?P<column>\d+): (?:warning|error: (?P<kind>\w+)): (?P<message>.*)$", re.M)
failures = []


def check_vet(name, wanted):
    done = subprocess.run([KVLANG, "vet", name], cwd=FOLDER, capture_output=True, timeout=PATIENCE, check=False)
    status = 2 if b": error: " in wanted else 0
    if (done.stderr, done.stdout, done.returncode) != (wanted, b"", status):
        failures.append(f"vet {name}: status {done.returncode}, wanted {status}\n--- wanted\n{wanted.decode()}--- got\n{done.stderr.decode()}")


def check_server(editor, name, source, wanted):
    """Bytes that are no UTF-8 cannot be sent in JSON; such programs are left to vet."""
    try:
        text = source.decode("utf-8")
    except UnicodeDecodeError:
        return
    lines = text.removeprefix("\ufeff").split("\n")
    expected = set()
    for match in HEAD.finditer(wanted.decode("utf-8")):
        line, column = int(match["line"]) - 1, int(match["column"]) - 1
        before = units(lines[line][:column]) + (1 if line == 0 and text.startswith("\ufeff") else 0)
        expected.add((line, before, match["kind"], match["message"]))
    uri = f"file:///{name}"
    got = {(report["range"]["start"]["line"], report["range"]["start"]["character"], report.get("code"), report["message"].split("\n")[0])
           for report in editor.open(uri, text)}
    if got != expected and "\r" not in text:
        failures.append(f"lsp {name}: wanted {sorted(map(str, expected - got))}, got {sorted(map(str, got - expected))}")


def main():
    if not pathlib.Path(KVLANG).exists():
        print("no program kvlang")
        return 77
    editor = Editor()
    programs = sorted(FOLDER.glob("*.kv"))
    every = 8 if os.environ.get("KVLANG_SANITIZE") else 1
    for i, path in enumerate(programs):
        wanted = path.with_suffix(".txt").read_bytes()
        check_server(editor, path.name, path.read_bytes(), wanted)
        if i % every == 0:
            check_vet(path.name, wanted)
    if editor.quit():
        failures.append("the server's exit status")
    for failure in failures:
        print("FAILED", failure)
    print(f"{len(programs)} programs, {len(failures)} failures")
    return 1 if failures or len(programs) < 200 else 0


sys.exit(main())
