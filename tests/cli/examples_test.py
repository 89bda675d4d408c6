"""Every program of examples/ runs to its end, and prints what stands beside it here; README.md shows examples/hello.kv as it is.
Relies on the built kvlang. Promises: an example that is changed or added without a line here fails."""
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("KVLANG_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
KVLANG = pathlib.Path(os.environ.get("KVLANG_BUILD_DIR", SOURCE / "build")) / "bin" / "kvlang"

EXPECTED = {
    "hello.kv": "{to=2, be=2, or=1, not=1}\n",
    "tour.kv": """\
numbers: 42 21 1 0.25 1024 44
strings: 世界! 2 世 LOUD {0="a", 1="b", 2="c"}
functions: 3 2
recursion: 6765
arrays: [2, 3, 5, 7, 11, 13, 17, 19, 23, 29] 29 129
shapes: [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] [4.0, 5.0, 6.0] [2, 3]
maps: apples 3
maps: plums 12
structs: Point{x=3.0, y=4.0} 5.0
pointers: 120
the tree: {ann=105} 105 false
vthreads: done 610
""",
}


def main():
    if not KVLANG.exists():
        print(f"skipped: there is no {KVLANG}")
        return 77
    failed = 0
    programs = sorted((SOURCE / "examples").glob("*.kv"))
    if sorted(EXPECTED) != [program.name for program in programs]:
        print("FAIL: examples/ and the list of this test differ")
        failed += 1
    for program in programs:
        done = subprocess.run([str(KVLANG), str(program)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=dict(os.environ, NO_COLOR="1"), timeout=120, check=False)
        printed, said = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        if done.returncode or said or printed != EXPECTED.get(program.name):
            print(f"FAIL: {program.name}: exit {done.returncode}, printed {printed!r}\n{said}")
            failed += 1
    if (SOURCE / "examples" / "hello.kv").read_text(encoding="utf-8") not in (SOURCE / "README.md").read_text(encoding="utf-8"):
        print("FAIL: README.md does not show examples/hello.kv")
        failed += 1
    return 1 if failed else 0


sys.exit(main())
