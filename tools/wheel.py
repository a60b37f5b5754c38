#!/usr/bin/env python3
"""wheel.py - the Python package margay as a wheel: what `make wheel` does.

    tools/wheel.py [BUILD_FOLDER [DIST_FOLDER]]

The wheel holds the module (python/margay), the command, the CUDA libraries, libmargay, and the generator of compiled kernels with
LLVM inside where it was built so. No Python of any version is compiled against, so that one wheel does for all: py3-none. Which
systems it runs on is auditwheel's to say: it reads the versions of the C library that the binaries ask for, names the wheel by
them, and puts the few libraries that a system may lack (libjansson, libzstd, liblz4, libz) inside under names of their own. It comes
from PyPI into BUILD_FOLDER/wheel-tools, unless this Python has it. Without it the wheel is linux_x86_64, for this machine's kind.

What a binary asks for of the C library, it asks for as the machine has it that linked it: dlopen of GLIBC_2.34, where it moved to another
file. In the wheel it asks for such names in whatever form there is, which makes it manylinux_2_28 or older; what older systems
have not at all is in python/oldest.c.
"""
import base64
import hashlib
import os
import pathlib
import platform
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import venv
import zipfile

TREE = pathlib.Path(__file__).resolve().parent.parent


def version():
    return re.search(r'^__version__ = "(.+)"$', (TREE / "python/margay/__init__.py").read_text(encoding="utf-8"), re.M)[1]


def is_new(version):
    return version.startswith("GLIBC_2.") and int(version.split(".")[1]) > 28


class Elf:
    """A 64-bit ELF file: the names that it has, and those it asks for, their versions, and where both stand."""

    def __init__(self, path):
        self.image = bytearray(path.read_bytes())
        headers, (size, count) = self.at("<Q", 40)[0], self.at("<HH", 58)
        sections = [self.at("<IIQQQQIIQQ", headers + k * size) for k in range(count)]
        self.has = set()
        self.needs = {}  # index: (version, where its entry is)
        self.asks = []  # (name, index, where that index is)
        symbols, versions, needed = (next((s for s in sections if s[1] == kind), None) for kind in (11, 0x6fffffff, 0x6ffffffe))
        self.strings = sections[symbols[6]][4]
        for k in range(symbols[5] // 24):
            name, _, _, section = self.at("<IBBH", symbols[4] + 24 * k)
            self.has |= {self.text(name)} if section else set()
        if not needed:
            return
        need = needed[4]
        for _ in range(needed[7]):
            _, entries, _, aux, following = self.at("<HHIII", need)
            entry = need + aux
            for _ in range(entries):
                _, _, index, name, behind = self.at("<IHHII", entry)
                self.needs[index] = self.text(name), entry
                entry += behind
            need += following
        for k in range(versions[5] // 2):
            index = self.at("<H", versions[4] + 2 * k)[0] & 0x7fff
            if index in self.needs:
                self.asks.append((self.text(self.at("<I", symbols[4] + 24 * k)[0]), index, versions[4] + 2 * k))

    def at(self, layout, offset):
        return struct.unpack_from(layout, self.image, offset)

    def text(self, name):
        start = self.strings + name
        return self.image[start:self.image.index(b"\0", start)].decode()


def has_forms():
    """{name: the versions that the C library here has it in}"""
    forms = {}
    for library in "cm":
        listed = subprocess.run(["objdump", "-T", f"/lib/{platform.machine()}-linux-gnu/lib{library}.so.6"], capture_output=True, text=True,
                                check=True).stdout
        for version, name in re.findall(r"\b(GLIBC_2[.\d]+)\)?\s+(\w+)$", listed, re.M):
            forms.setdefault(name, set()).add(version)
    return forms


def older(path, patchelf, oldest):
    """Lets an ELF file ask for no version where it asks for one newer than 2.28; `oldest` is python/oldest.c as a library."""
    elf, forms = Elf(path), has_forms()
    new = {index for index, (version, _) in elf.needs.items() if is_new(version)}
    ours, missing = Elf(oldest).has, set()
    for name, index, place in elf.asks:
        if index in new:
            struct.pack_into("<H", elf.image, place, 1)
            if all(is_new(version) for version in forms[name]):
                missing.add(name)
    if missing - ours:
        sys.exit(f"wheel: {path.name} asks for {', '.join(sorted(missing - ours))}, which older C libraries and python/oldest.c have not")
    for index in new:  # no symbol asks for it any more, but the loader would
        entry, kept = elf.needs[index][1], next(at for version, at in elf.needs.values() if version == "GLIBC_2.2.5")
        struct.pack_into("<IHHII", elf.image, entry, elf.at("<I", kept)[0], *elf.at("<HH", entry + 4), *elf.at("<I", kept + 8),
                         *elf.at("<I", entry + 12))
    path.write_bytes(elf.image)
    needed = ["libpthread.so.0", "libdl.so.2"] if new else []  # whose names moved into libc.so.6
    needed += [oldest.name] if missing else []
    if needed:
        subprocess.run([patchelf, *(word for name in needed for word in ("--add-needed", name)), path], check=True)


def contents(build):
    """Names in the wheel, and files."""
    files = {f"margay/{p.name}": p for p in sorted((TREE / "python/margay").glob("*.py"))}
    files["margay/native/margay"] = build / "margay"
    files["margay/native/libmargay.so.0"] = build / "libmargay.so.0"
    for library in sorted([*(build / "lib").glob("lib*.so.*"), build / "lib/libcuda.so"]):
        files[f"margay/native/lib/{library.name}"] = library
    for library in sorted((build / "lib/absent").glob("lib*.so.*")):
        files[f"margay/native/lib/absent/{library.name}"] = library
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


def libraries(build, folder, patchelf):
    """A folder to look for libraries in first: those that the wheel takes along, as older systems want them."""
    folder.mkdir()
    oldest = folder / "libmargay_oldest.so.0"
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", f"-Wl,-soname,{oldest.name}", "-o", oldest,
                    TREE / "python/oldest.c"], check=True)
    for binary in [build / "margay", *sorted((build / "lib").glob("lib*.so.*"))]:
        listed = subprocess.run(["ldd", binary], capture_output=True, text=True, check=True).stdout
        for name, path in re.findall(r"^\s*(\S+) => (/\S+)", listed, re.M):
            of_all_systems = name.startswith(("libc.", "libm.", "libgcc_s.", "libz."))
            if not of_all_systems and not (folder / name).exists() and not path.startswith(str(build)):
                shutil.copy(path, folder / name)
                older(folder / name, patchelf, oldest)
    return oldest


def write(build, folder, patchelf, oldest):
    """The wheel with this machine's tag; binaries without what debuggers want."""
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
                if patchelf:
                    older(source, patchelf, oldest)
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
        folder, python = pathlib.Path(folder), auditor(build)
        environment = {**os.environ, "PATH": f"{python.parent if python else ''}:{os.environ['PATH']}", "LD_LIBRARY_PATH": str(folder / "libraries")}
        patchelf = python and shutil.which("patchelf", path=environment["PATH"])
        wheel = write(build, folder, patchelf, libraries(build, folder / "libraries", patchelf) if patchelf else None)
        if python:
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
