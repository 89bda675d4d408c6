"""The floor plan's guard catches each kind of breach: a small tree with one breach of every rule, and one without any.
Relies on scripts/check-includes taking the tree to check as its argument."""
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("KVLANG_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
STORY = "/* A story. */\n"

CLEAN = {
    "include/kvspace/kvspace.h": "#include <stdint.h>\nstatic inline int32_t kvspace_one(void) { return 1; }\n",
    "include/kvlang/kvlang.h": "#include <kvspace/kvspace.h>\n",
    "src/platform/wait_linux.c": "#ifdef __linux__\n#endif\n#include <linux/futex.h>\n",
    "src/kvspace/node.c": '#include "kvspace/node.h"\n#include "platform/wait.h"\n#include <kvspace/kvspace.h>\n',
    "src/layout/scan.c": '#include "kvspace/node.h"\n#include <string.h>\n',
    "src/core/link.c": '#include "kvspace/node.h"\n#include <kvlang/kvlang.h>\n',
    "src/std/json.c": '#include "layout/scan.h"\n#include "core/link.h"\n#include <jansson.h>\n',
    "src/cli/kvlang.c": '#include "std/json.h"\n#include "layout/scan.h"\n',
    "examples/extension.c": "#include <kvlang/kvlang.h>\n",
}
for header in ("include/kvspace/kvspace.h", "include/kvlang/kvlang.h"):
    CLEAN[header] = "#ifndef GUARD_%d\n#define GUARD_%d\n%s#endif\n" % ((len(header),) * 2 + (CLEAN[header],))

# What is added to the clean tree, and what the complaint must name.
BREACHES = [
    ("src/core/bad.c", '#include "layout/scan.h"\n', "core must not include layout"),
    ("src/layout/bad.c", '#include "core/link.h"\n', "layout must not include core"),
    ("src/layout/bad.c", "#include <kvlang/kvlang.h>\n", "layout must not include <kvlang/kvlang.h>"),
    ("src/kvspace/bad.c", '#include "core/link.h"\n', "kvspace must not include core"),
    ("src/kvspace/bad.c", "#include <core/link.h>\n", "kvspace must not include core"),
    ("src/platform/bad.c", '#include "kvspace/node.h"\n', "platform must not include kvspace"),
    ("src/std/bad.c", '#include "cli/args.h"\n', "std must not include cli"),
    ("src/kvspace/bad.c", '#include "node.h"\n', "write the include from src/"),
    ("src/helpers/bad.c", "\n", "src/helpers is no room"),
    ("src/core/bad.c", "#if defined(__APPLE__)\n#endif\n", "__APPLE__ is asked outside src/platform"),
    ("include/kvspace/bad.h", "#include <pthread.h>\n", "not standard C"),
    ("include/kvspace/bad.h", "size_t kvspace_size(void);\n", "does not compile alone as c17"),
    ("include/kvspace/bad.h", "#include <stdbool.h>\nint kvspace_new(int new);\n", "does not compile alone as c++17"),
]


def write(root, name, text):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(STORY + text, encoding="utf-8")


def complaints(root):
    done = subprocess.run([sys.executable, str(SOURCE / "scripts" / "check-includes"), str(root)], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in CLEAN.items():
            write(root, name, text)
        # The rooms' headers that the clean tree includes must exist: outsiders are judged by what is there.
        for name in ("src/kvspace/node.h", "src/layout/scan.h", "src/core/link.h"):
            write(root, name, "")
        status, text = complaints(root)
        if status:
            print("FAIL: the clean tree is refused:\n" + text)
            failed += 1
        cases = BREACHES + [("examples/bad.c", '#include "core/link.h"\n', "only include/ is open to examples")]
        for name, text, expected in cases:
            write(root, name, text)
            status, output = complaints(root)
            (root / name).unlink()
            if not status or expected not in output:
                print(f"FAIL: {name} with {text.strip()!r}: expected {expected!r}, got {status}: {output.strip()!r}")
                failed += 1
        (root / "src/core/bad.c").write_text("int no_story;\n", encoding="utf-8")
        status, output = complaints(root)
        if not status or "does not open with a comment" not in output:
            print("FAIL: a file without its story passes")
            failed += 1
    return 1 if failed else 0


sys.exit(main())
