"""`pip install ./bindings/python` works without a network and without any other package, and what it installs is complete: it finds its
own library. Twice: with the library that was built, into a folder; and into a fresh virtual environment where pip compiles it.
Where pip is missing the wheel of the build backend is unpacked instead; where there is no compiler or no venv, the second one is left out."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

from kvspace_case import HERE, LIBRARY

PROGRAM = """
import kvspace, pathlib, sys
assert "site" in kvspace.__file__, kvspace.__file__
with kvspace.open() as space:
    space["/x"] = {"a": 1}
    assert space["/x"] == {"a": 1}
    assert space.check() == []
    space["/t"] = "text"
    assert space.export() and space.wait_until("/t", "text", 1)
assert kvspace.spaces() == []
print("installed", kvspace.__version__, "with" if "numpy" in sys.modules else "without", "NumPy")
"""
PIP = ["-m", "pip", "install", "--quiet", "--no-cache-dir"]


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=250, check=False, **options)
    if done.returncode:
        print(done.stdout)
        sys.exit(f"FAIL: {command}")
    return done.stdout


def has(python, *arguments):
    return subprocess.run([python, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def into_a_folder(folder, environment):
    """The library that was built is packed."""
    site, named = folder / "site", {**environment, "KVSPACE_LIBRARY": str(LIBRARY)}
    if has(sys.executable, "-m", "pip", "--version"):
        run([sys.executable, *PIP, "--target", str(site), str(HERE.parent)], env=named)
    else:
        print("no pip here; unpacking the wheel")
        code = "import kvspace_build; print(kvspace_build.build_wheel('.'))"
        wheel = run([sys.executable, "-c", code], cwd=folder, env={**named, "PYTHONPATH": str(HERE.parent)}).split()[-1]
        zipfile.ZipFile(folder / wheel).extractall(site)
    print(run([sys.executable, "-c", PROGRAM], env={**environment, "PYTHONPATH": str(site)}, cwd=folder), end="")


def into_a_fresh_environment(folder, environment):
    """The library is compiled: the sources are copied away from anything that was built."""
    python = folder / "venv" / "bin" / "python"
    compiler = environment.get("CC", "cc").split()[0]
    if not shutil.which(compiler) or not has(sys.executable, "-m", "venv", str(folder / "venv")) or not has(python, "-m", "pip", "--version"):
        print("no compiler or no venv here")
        return
    root = HERE.parents[2]
    source = folder / "source"
    for part in ("include", "src/kvspace", "src/platform", "bindings/python"):
        shutil.copytree(root / part, source / part, ignore=shutil.ignore_patterns("__pycache__"))
    run([str(python), *PIP, str(source / "bindings" / "python")], env=environment)
    shutil.rmtree(source)
    print(run([str(python), "-c", PROGRAM], env=environment, cwd=folder), end="")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "run").mkdir(mode=0o700)
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("KVSPACE", "KVLANG", "PYTHON", "PIP"))}
        environment.update(PIP_INDEX_URL="http://127.0.0.1:9/", PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_ROOT_USER_ACTION="ignore",
                           HOME=str(folder), XDG_RUNTIME_DIR=str(folder / "run"), http_proxy="http://127.0.0.1:9")
        into_a_folder(folder, environment)
        into_a_fresh_environment(folder, environment)
        left = [path for path in HERE.parent.rglob("*") if path.suffix in (".whl", ".egg-info") or path.name == "build"]
        if left:
            sys.exit(f"FAIL: the installation leaves {left} in the source tree")


if __name__ == "__main__":
    main()
