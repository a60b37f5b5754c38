#!/usr/bin/env python3
"""test_absent.py MARGAY CC NVIDIA - the libraries that Margay has no part of: all their names, their statuses, their words.

NVIDIA is a folder with NVIDIA's own libraries; one that is there may have no documented name that ours lacks.
"""
import ctypes
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import absent  # noqa: E402  the prefixes, and what is not documented

NPP = {f"npp{part}": ((12, 13), -9999) for part in ("c", "ial", "icc", "idei", "if", "ig", "im", "ist", "isu", "itc", "s")}
LIBRARIES = {"cudnn": ((9,), 3000), "cusolver": ((11, 12), 8), "cusolverMg": ((11, 12), 8), "cusparse": ((12,), 10), "nccl": ((2,), 5), **NPP}
CALLS = {"cudnn": "cudnnCreate", "cusolver": "cusolverDnCreate", "cusolverMg": "cusolverMgCreate", "cusparse": "cusparseCreate",
         "nccl": "ncclCommInitAll", "nppc": "nppSetStream", "nppial": "nppiAdd_8u_C1RSfs_Ctx", "npps": "nppsAdd_32f_Ctx",
         "nppisu": "nppiMalloc_8u_C1"}


class Absent(unittest.TestCase):
    def folder(self):
        return self.margay.parent / "lib" / "absent"

    def each(self):
        for name, (versions, status) in LIBRARIES.items():
            for version in versions:
                yield name, self.folder() / f"lib{name}.so.{version}", status

    @functools.lru_cache(None)
    def exported(self, path):
        lines = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout.splitlines()
        return {line.split()[2].partition("@")[0] for line in lines if line.split()[1] == "T"}

    def test_names(self):
        """Each exports what names.txt has for it, read here in another way than the build reads it."""
        listed, library = {}, None
        for line in (ROOT / "src/absent/names.txt").read_text().splitlines()[1:]:
            stem, *tails = line.split()
            if stem[0] == "[":
                library = listed.setdefault(stem[1:-1], set())
            for tail in tails:
                library.add(stem + tail.rstrip("+").replace(".", ""))
                library |= {stem + tail[:-1] + "_Ctx"} if tail[-1] == "+" else set()
        self.assertEqual(set(listed), set(LIBRARIES))
        for name, path, _ in self.each():
            self.assertEqual(self.exported(path), listed[name], path)
            self.assertIn(f"SONAME {path.name}", " ".join(subprocess.run(["objdump", "-p", path], capture_output=True, text=True).stdout.split()))
        self.assertGreater(sum(map(len, listed.values())), 10000)
        for name in absent.PREFIXES:
            theirs = [p for p in self.nvidia.glob(f"lib{name}.so.*") if p.name in {q.name for _, q, _ in self.each()}]
            for path in theirs:
                names = set(absent.entry_points(str(path), absent.PREFIXES[name]))
                self.assertFalse(names - listed[name], f"{path} has names that src/absent/names.txt lacks")

    def test_statuses(self):
        """Called, an entry point gives its library's status, and one line says so, however often it is called."""
        code, wanted, called = ["import ctypes"], [], set()
        for name, path, status in self.each():
            function = CALLS.get(name) or sorted(n for n in self.exported(path) if re.search(r"_Ctx$", n))[0]
            code += [f"f = ctypes.CDLL({str(path)!r})[{function!r}]", "f.restype = ctypes.c_longlong if 'Malloc' in f.__name__ else ctypes.c_int",
                     "print(f(0, 0, 0), f(0, 0, 0))"]
            wanted.append(f"{status} {status}\n" if "Malloc" not in function else "0 0\n")
            called.add(function)
        run = subprocess.run([sys.executable, "-c", "\n".join(code)], capture_output=True, text=True)
        self.assertEqual(run.stdout, "".join(wanted), run.stderr)
        for function in called:
            self.assertIn(f"the program calls {function}, which is not there", run.stderr)
        run = subprocess.run([self.margay, "run", sys.executable, "-c", "\n".join(code[:7])], capture_output=True, text=True)
        self.assertEqual(run.stdout, "".join(wanted[:2]), run.stderr)
        self.assertEqual(run.stderr.count("put a kernel or host code of your own in its place"), 2, run.stderr)

    def test_words(self):
        """What returns words returns some, and what returns a number 0; none of them is mistaken for a status."""
        rows = re.findall(r"^(TEXT|WORDS|NOTHING)\((\w+)\)", (ROOT / "src/absent/special.def").read_text(), re.M)
        found = set()
        for name, path, _ in self.each():
            for kind, function in rows:
                if function not in self.exported(path):
                    continue
                found.add(function)
                entry = ctypes.CDLL(os.fspath(path))[function]
                words = ctypes.create_string_buffer(64)
                if kind == "TEXT":
                    entry.restype = ctypes.c_char_p
                    self.assertRegex(entry(0), rb"^Margay has no \w+$")
                elif kind == "WORDS":
                    entry(words, ctypes.c_size_t(10))
                    self.assertEqual(words.value, b"Margay ha")
                else:
                    entry.restype = ctypes.c_void_p
                    self.assertIsNone(entry(0))
        self.assertEqual(found, {function for _, function in rows})

    def test_linked(self):
        """A program that is linked with them does not start by itself, and starts under Margay; the user's own come first."""
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "p.c")
            source.write_text("#include <stdio.h>\nint cusparseCreate(void **), cudnnCreate(void **);\n"
                              'int main(void) { void *h; printf("%d %d\\n", cusparseCreate(&h), cudnnCreate(&h)); return 0; }\n')
            program, own = pathlib.Path(folder, "p"), pathlib.Path(folder, "libcudnn.so.9")
            subprocess.run([self.cc, "-o", program, source, self.folder() / "libcusparse.so.12", self.folder() / "libcudnn.so.9"], check=True)
            bare = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
            if not any(subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout.count(n) for n in ("libcusparse.so.12", "libcudnn.so.9")):
                self.assertEqual(subprocess.run([program], env=bare, capture_output=True).returncode, 127)
            run = subprocess.run([self.margay, "run", program], env=bare, capture_output=True, text=True)
            self.assertEqual((run.returncode, run.stdout), (0, "10 3000\n"), run.stderr)
            source.write_text("int cudnnCreate(void **h) { return h ? 7 : 8; }\n")
            version = pathlib.Path(folder, "v")
            version.write_text("libcudnn.so.9 { global: cudnn*; };\n")
            subprocess.run([self.cc, "-shared", "-fPIC", "-o", own, source, f"-Wl,--version-script={version},-soname,libcudnn.so.9"], check=True)
            run = subprocess.run([self.margay, "run", program], env={**bare, "LD_LIBRARY_PATH": folder}, capture_output=True, text=True)
            self.assertEqual(run.stdout, "10 7\n", run.stderr)


if __name__ == "__main__":
    margay, Absent.cc, nvidia = sys.argv[1:4]
    Absent.margay, Absent.nvidia = pathlib.Path(margay).resolve(), pathlib.Path(nvidia)
    unittest.main(argv=sys.argv[:1])
