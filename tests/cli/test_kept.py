#!/usr/bin/env python3
"""test_kept.py - what nvcc makes of a .cu file is kept, and made again when anything that it read has changed.

    test_kept.py MARGAY NVCC [unittest arguments]
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

MARGAY, NVCC = os.path.abspath(sys.argv[1]), sys.argv[2]
SOURCE = '#include <cstdio>\n#include "val ue.h"\nint main() { printf("%d\\n", VALUE EXTRA); }\n'


class Kept(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="margay-kept-")
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        self.cache = self.path / "cache" / "margay"
        self.write("a.cu", SOURCE)
        self.write("val ue.h", "#define VALUE 1\n")
        time.sleep(0.05)

    def write(self, name, text):
        (self.path / name).write_text(text)

    def start(self, *args, **env):
        return subprocess.Popen([MARGAY, "run", "--verbose", *args, "a.cu"], cwd=self.path, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env={**{k: v for k, v in os.environ.items() if k != "MARGAY_CACHE"},
                                                             "NVCC": NVCC, "XDG_CACHE_HOME": str(self.path / "cache"), **env})

    def run_it(self, value, compiled, *args, **env):
        """The program prints `value`; nvcc was asked or not."""
        process = self.start(*args, **env)
        out, err = process.communicate()
        self.assertEqual((process.returncode, out), (0, f"{value}\n"), err)
        self.assertEqual("margay: compiling:" in err, compiled, err)
        self.assertEqual("has not changed" in err, not compiled, err)

    def entries(self):
        return sorted(self.cache.glob("*.mgc"))

    def test_the_second_run_needs_no_nvcc(self):
        self.run_it(1, True, "--nvcc-args=-DEXTRA=")
        self.run_it(1, False, "--nvcc-args=-DEXTRA=")

    def test_a_changed_header_recompiles(self):
        self.run_it(1, True, "--nvcc-args=-DEXTRA=")
        self.write("val ue.h", "#define VALUE 2\n")
        time.sleep(0.05)
        self.run_it(2, True, "--nvcc-args=-DEXTRA=")
        self.run_it(2, False, "--nvcc-args=-DEXTRA=")
        # The same size and the same time stamp: contents decide.
        stamp = os.stat(self.path / "val ue.h").st_mtime_ns
        self.write("val ue.h", "#define VALUE 3\n")
        os.utime(self.path / "val ue.h", ns=(stamp, stamp))
        self.run_it(3, True, "--nvcc-args=-DEXTRA=")
        (self.path / "val ue.h").unlink()
        process = self.start("--nvcc-args=-DEXTRA=")
        process.communicate()
        self.assertEqual(process.returncode, 2)

    def test_a_header_of_a_header_counts(self):
        self.write("val ue.h", '#include "inner.h"\n')
        self.write("inner.h", "#define VALUE 4\n")
        time.sleep(0.05)
        self.run_it(4, True, "--nvcc-args=-DEXTRA=")
        self.run_it(4, False, "--nvcc-args=-DEXTRA=")
        self.write("inner.h", "#define VALUE 5\n")
        self.run_it(5, True, "--nvcc-args=-DEXTRA=")

    def test_source_and_flags_count_and_both_stay(self):
        self.run_it(1, True, "--nvcc-args=-DEXTRA=")
        self.run_it(3, True, "--nvcc-args=-D 'EXTRA=+2'")
        self.write("a.cu", SOURCE.replace("VALUE EXTRA", "10 * VALUE EXTRA"))
        time.sleep(0.05)
        self.run_it(10, True, "--nvcc-args=-DEXTRA=")
        self.write("a.cu", SOURCE)
        self.run_it(1, False, "--nvcc-args=-DEXTRA=")
        self.run_it(3, False, "--nvcc-args=-D 'EXTRA=+2'")
        self.run_it(1, True, "--nvcc-args=-DEXTRA=", "--device=8.0")
        self.run_it(1, True, "--nvcc-args=-DEXTRA=", NVCC_APPEND_FLAGS="-O1")

    def test_a_file_that_changes_meanwhile_is_not_kept(self):
        future = time.time() + 60
        os.utime(self.path / "val ue.h", (future, future))
        self.run_it(1, True, "--nvcc-args=-DEXTRA=")
        self.run_it(1, True, "--nvcc-args=-DEXTRA=")
        self.assertEqual(self.entries(), [])

    def test_arguments_that_name_other_files_are_not_kept(self):
        self.write("b.cu", "int other() { return 7; }\n")
        self.write("a.cu", "int other();\n" + SOURCE)
        for value in (7, 8):
            self.write("b.cu", f"int other() {{ return {value}; }}\n")
            self.run_it(1 + value, True, "--nvcc-args='-DEXTRA=+other()' b.cu")
        self.assertEqual(self.entries(), [])

    def test_off(self):
        self.run_it(1, True, "--nvcc-args=-DEXTRA=", MARGAY_CACHE="off")
        self.run_it(1, True, "--nvcc-args=-DEXTRA=", MARGAY_CACHE="off")
        self.assertEqual(self.entries(), [])
        self.run_it(1, True, "--nvcc-args=-DEXTRA=", MARGAY_CACHE=str(self.path / "mine"))
        self.run_it(1, False, "--nvcc-args=-DEXTRA=", MARGAY_CACHE=str(self.path / "mine"))

    def test_damage_is_noticed(self):
        self.run_it(1, True, "--nvcc-args=-DEXTRA=")
        (entry,) = self.entries()
        whole = entry.read_bytes()
        for damaged in (b"", whole[:100], whole[:-1], whole[:-1] + bytes([whole[-1] ^ 1]), whole[:20] + b"x" + whole[21:]):
            entry.write_bytes(damaged)
            self.run_it(1, True, "--nvcc-args=-DEXTRA=")
            self.assertEqual(entry.read_bytes()[:15], whole[:15])
        entry.chmod(0o666)  # somebody else could have written it
        self.run_it(1, True, "--nvcc-args=-DEXTRA=")

    def test_two_processes_at_once(self):
        both = [self.start("--nvcc-args=-DEXTRA=") for _ in range(4)]
        for process in both:
            out, err = process.communicate()
            self.assertEqual((process.returncode, out), (0, "1\n"), err)
        self.assertEqual(len(self.entries()), 1)
        self.assertEqual([p.name for p in self.cache.iterdir()], [self.entries()[0].name])
        self.run_it(1, False, "--nvcc-args=-DEXTRA=")

    def test_the_folder_is_bounded(self):
        self.cache.mkdir(parents=True)
        old, other = self.cache / ("0" * 32 + ".mgc"), self.cache / "notes.txt"
        other.write_text("not ours\n")
        begun = self.cache / ("1" * 32 + ".mgc.4242")  # by a process that was killed
        for name in (old, begun):
            with open(name, "wb") as file:
                file.truncate(300 << 20)
            os.utime(name, (1, 1))
        self.run_it(1, True, "--nvcc-args=-DEXTRA=")
        self.assertFalse(old.exists() or begun.exists())
        self.assertTrue(other.exists())
        self.run_it(1, False, "--nvcc-args=-DEXTRA=")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
