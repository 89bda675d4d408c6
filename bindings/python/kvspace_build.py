"""The build backend (PEP 517) of the package: packs the Python files and the shared library into a wheel.

The library is $KVSPACE_LIBRARY, or the one that `make` built, or it is compiled from src/ with the C compiler ($CC, cc).
Relies on the standard library alone, so that `pip install ./bindings/python` needs no network and no other package."""
import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NAME = "kvspace"
VERSION = re.search(r'^version = "(.*)"', (HERE / "pyproject.toml").read_text(encoding="utf-8"), re.M).group(1)
LIBRARY = "libkvspace.dylib" if sys.platform == "darwin" else "libkvspace.so"
STAMP = (1980, 1, 1, 0, 0, 0)  # the same input gives the same wheel


def _tag():
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"py3-none-{platform}"


def _compiled(folder):
    """Compiles the library into `folder`; None where there are no sources or no compiler."""
    other = "_darwin.c" if sys.platform != "darwin" else "_linux.c"
    sources = [str(path) for room in ("platform", "kvspace") for path in sorted((ROOT / "src" / room).glob("*.c"))
               if not path.name.endswith(other)]
    if not sources:
        return None
    target = pathlib.Path(folder) / LIBRARY
    system = ["-D_DARWIN_C_SOURCE"] if sys.platform == "darwin" else ["-D_GNU_SOURCE", "-Wl,-z,defs"]
    command = os.environ.get("CC", "cc").split() + [
        "-std=c17", "-O2", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-shared", "-pthread", *system,
        f'-DKVLANG_VERSION="{VERSION}"', f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}", "-o", str(target), *sources, "-lm"]
    print("compiling", LIBRARY, flush=True)
    try:
        subprocess.run(command, check=True)
    except (OSError, subprocess.CalledProcessError) as problem:
        raise SystemExit(f"kvspace: the library is not built and cannot be compiled here ({problem}); "
                         "run make first, or set KVSPACE_LIBRARY") from problem
    return target


def _library(folder):
    named = os.environ.get("KVSPACE_LIBRARY")
    if named:
        return pathlib.Path(named)
    built = ROOT / "build" / "lib" / LIBRARY
    if built.exists():
        return built.resolve()
    return _compiled(folder)


def _metadata():
    lines = ["Metadata-Version: 2.1", f"Name: {NAME}", f"Version: {VERSION}",
             "Summary: A tree of keys and typed values in memory that processes share", "License: MIT",
             "Requires-Python: >=3.8", "Provides-Extra: numpy", "Requires-Dist: numpy ; extra == 'numpy'",
             "Description-Content-Type: text/markdown", "", (HERE / "README.md").read_text(encoding="utf-8")]
    return "\n".join(lines)


def _wheel_text():
    return f"Wheel-Version: 1.0\nGenerator: kvspace_build\nRoot-Is-Purelib: false\nTag: {_tag()}\n"


class _Wheel:
    """A wheel under way: adds files and keeps their hashes for RECORD."""

    def __init__(self, path):
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record = []
        self.info = f"{NAME}-{VERSION}.dist-info"

    def add(self, name, data, mode=0o644):
        data = data.encode() if isinstance(data, str) else data
        entry = zipfile.ZipInfo(name, STAMP)
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.archive.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")

    def close(self):
        self.add(f"{self.info}/METADATA", _metadata())
        self.add(f"{self.info}/WHEEL", _wheel_text())
        record = f"{self.info}/RECORD"
        self.archive.writestr(zipfile.ZipInfo(record, STAMP), "\n".join(self.record + [f"{record},,", ""]))
        self.archive.close()


def _file_name():
    return f"{NAME}-{VERSION}-{_tag()}.whl"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    del config_settings, metadata_directory
    wheel = _Wheel(pathlib.Path(wheel_directory) / _file_name())
    for path in sorted((HERE / NAME).glob("*.py")):
        wheel.add(f"{NAME}/{path.name}", path.read_bytes())
    with tempfile.TemporaryDirectory() as folder:
        library = _library(folder)
        if library is None:
            print("kvspace: no library is packed; an installed one will be looked for", file=sys.stderr)
        else:
            wheel.add(f"{NAME}/{LIBRARY}", library.read_bytes(), 0o755)
    wheel.close()
    return _file_name()


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """pip install -e: a .pth file that points here. The library is then looked for in build/lib."""
    del config_settings, metadata_directory
    wheel = _Wheel(pathlib.Path(wheel_directory) / _file_name())
    wheel.add(f"{NAME}_editable.pth", f"{HERE}\n")
    wheel.close()
    return _file_name()


def build_sdist(sdist_directory, config_settings=None):
    del config_settings
    name = f"{NAME}-{VERSION}"
    with tarfile.open(pathlib.Path(sdist_directory) / f"{name}.tar.gz", "w:gz") as archive:
        for path in sorted([*HERE.glob("*.*"), *(HERE / NAME).glob("*.py")]):
            archive.add(path, f"{name}/{path.relative_to(HERE)}", recursive=False)
    return f"{name}.tar.gz"


def get_requires_for_build_wheel(config_settings=None):
    del config_settings
    return []


get_requires_for_build_editable = get_requires_for_build_sdist = get_requires_for_build_wheel
