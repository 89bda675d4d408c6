#!/usr/bin/env python3
"""The VS Code extension against the language server: Node runs it with a stand-in for the editor (vscode_editor.js).
Relies on KVLANG_BUILD_DIR and KVLANG_SOURCE_DIR, and on Node; skipped (77) without it. Exit status 0 when all holds."""
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(os.environ.get("KVLANG_SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent.parent))
KVLANG = pathlib.Path(os.environ.get("KVLANG_BUILD_DIR", ROOT / "build")) / "bin" / "kvlang"
node = shutil.which("node") or shutil.which("nodejs")
if not node or not KVLANG.exists():
    print("no node" if not node else "no program kvlang")
    sys.exit(77)
done = subprocess.run([node, ROOT / "tests/cli/vscode_editor.js", ROOT / "editors/vscode", KVLANG], timeout=120, check=False,
                      capture_output=True, text=True)
print(done.stdout + done.stderr)
sys.exit(done.returncode if done.stdout.endswith("done\n") or done.returncode else 1)
