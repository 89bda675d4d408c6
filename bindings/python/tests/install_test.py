"""`pip install ./bindings/python` works without a network and without any other package, and what it installs is complete: it finds
its own library. Where pip is missing the wheel of the build backend is unpacked instead."""
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

from kvspace_case import HERE, LIBRARY

PROGRAM = """
import kvspace, pathlib
assert "site" in kvspace.__file__, kvspace.__file__
with kvspace.open() as space:
    space["/x"] = {"a": 1}
    assert space["/x"] == {"a": 1}
    assert space.check() == []
print("installed", kvspace.__version__)
"""


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=200, check=False, **options)
    if done.returncode:
        print(done.stdout)
        sys.exit(f"FAIL: {command}")
    return done.stdout


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        site = folder / "site"
        (folder / "run").mkdir(mode=0o700)
        nowhere = {**os.environ, "KVSPACE_LIBRARY": str(LIBRARY), "PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_NO_INDEX": "1",
                   "PIP_DISABLE_PIP_VERSION_CHECK": "1", "HOME": str(folder), "http_proxy": "http://127.0.0.1:9"}
        if subprocess.run([sys.executable, "-m", "pip", "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0:
            run([sys.executable, "-m", "pip", "install", "--quiet", "--no-cache-dir", "--target", str(site), str(HERE.parent)], env=nowhere)
        else:
            print("no pip here; unpacking the wheel")
            code = "import kvspace_build; print(kvspace_build.build_wheel('.'))"
            wheel = run([sys.executable, "-c", code], cwd=folder, env={**nowhere, "PYTHONPATH": str(HERE.parent)}).split()[-1]
            zipfile.ZipFile(folder / wheel).extractall(site)
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("KVSPACE", "KVLANG", "PYTHON"))}
        clean.update(PYTHONPATH=str(site), XDG_RUNTIME_DIR=str(folder / "run"), HOME=str(folder))
        print(run([sys.executable, "-c", PROGRAM], env=clean, cwd=folder), end="")
        left = [path for path in HERE.parent.rglob("*") if path.suffix in (".whl", ".egg-info") or path.name == "build"]
        if left:
            sys.exit(f"FAIL: the installation leaves {left} in the source tree")


if __name__ == "__main__":
    main()
