#!/usr/bin/env python3
"""test_guard.py - what guards a build: --expect and --format; whose times a program's own are.

The programs are compiled here; what they must be told is worked out by hand beside them.

    test_guard.py MARGAY NVCC [unittest arguments]
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

MARGAY, NVCC = os.path.abspath(sys.argv[1]), sys.argv[2]

# columns: each of 32 warps writes a row (1 wavefront) and reads a column of 32 (32 wavefronts): 1056 where 64 are ideal, 16.5
# times. Its stores are contiguous. strided: 8 warps, each lane in a sector of its own: 256 sectors, 1024 bytes fill 32, 12.5 %.
KERNELS = """\
#include <cstdio>
__global__ void columns(float *out)
{
    __shared__ float tile[32][WIDTH];
    tile[threadIdx.y][threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void strided(float *out)
{
    out[threadIdx.x * STRIDE] = 1;
}
int main(int argc, char **)
{
    float *d;
    cudaMalloc(&d, 4096 * sizeof(float));
    columns<<<1, dim3(32, 32)>>>(d);
    strided<<<1, 256>>>(d);
    cudaDeviceSynchronize();
    puts("done");
    return argc - 1;
}
"""
RACE = """\
__global__ void neighbours(int *out)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = tile[63 - threadIdx.x];
}
int main()
{
    int *d;
    cudaMalloc(&d, 64 * sizeof(int));
    neighbours<<<1, 64>>>(d);
    cudaDeviceSynchronize();
}
"""


class Guard(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="margay-guard-")
        cls.path = pathlib.Path(cls.folder.name)
        cls.build("bad", KERNELS, "-DWIDTH=32", "-DSTRIDE=8")
        cls.build("race", RACE)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def build(cls, name, source, *flags):
        """The program `name`, of the file name.cu."""
        (cls.path / f"{name}.cu").write_text(source)
        subprocess.run([NVCC, "-lineinfo", "-arch=sm_90", *flags, "-o", name, f"{name}.cu"], cwd=cls.path, check=True)

    def margay(self, *args, status=0, env=None):
        done = subprocess.run([MARGAY, *map(str, args)], cwd=self.path, capture_output=True, text=True,
                              env={**os.environ, "LC_ALL": "C.UTF-8", **(env or {})})
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def expect(self, budgets, status, *options):
        return self.margay("profile", "--output", "/dev/null", *options, "--expect", budgets, "./bad", status=status).stderr


class Expect(Guard):
    def test_budgets_that_hold(self):
        self.assertEqual(self.expect("conflicts<=16.5,efficiency>=0.125,efficiency>=12.5%,sectors<=256,divergent<=0", 0), "")
        # A kernel without shared memory has no conflicts that could be too many.
        self.assertEqual(self.expect("conflicts<=17", 0), "")

    def test_a_budget_that_does_not_names_kernel_metric_value_and_budget(self):
        text = self.expect("conflicts<=1.1,efficiency>=0.8", 1)
        self.assertIn("margay: error: budget/conflicts in columns(float*)\n  --> bad.cu:7\n", text)
        self.assertIn("  conflicts is 16.5, and the budget is at most 1.1, with grid 1, block 32×32\n", text)
        self.assertIn("margay: error: budget/efficiency in strided(float*)\n  --> bad.cu:11\n", text)
        self.assertIn("  efficiency is 12.5 %, and the budget is at least 80 %, with grid 1, block 256\n", text)
        self.assertEqual(text.count("margay: error"), 2)

    def test_names_of_the_metrics_page(self):
        text = self.expect("memory_l1_wavefronts_shared<=1055", 1)
        self.assertIn("memory_l1_wavefronts_shared is 1056, and the budget is at most 1055", text)
        self.expect("memory_l1_wavefronts_shared<=1056", 0)

    def test_a_file_has_rules_and_exceptions(self):
        (self.path / "budgets.txt").write_text("# of all\nconflicts<=1.1,efficiency>=0.8\n\n"
                                               "conflicts<=17   ^columns\nefficiency>=10%  strided # known\n")
        self.assertEqual(self.expect("@budgets.txt", 0), "")
        (self.path / "less.txt").write_text("conflicts<=1.1\nefficiency>=12.6%  strided\n")
        text = self.expect("@less.txt,sectors<=200", 1)
        self.assertIn("at most 1.1 (less.txt:1)", text)
        self.assertIn("at least 12.6 % (less.txt:2)", text)
        self.assertIn("sectors is 256, and the budget is at most 200, with", text)

    def test_a_budget_for_no_kernel_fails(self):
        (self.path / "gone.txt").write_text("conflicts<=17\nconflicts<=1  transpose.*\n")
        self.assertIn("gone.txt:2: transpose.*: no kernel of the run has that name", self.expect("@gone.txt", 2))

    def test_slips(self):
        (self.path / "slip.txt").write_text("\nconflicts<=1.1  (\n")
        for budgets, words in (("conflicts<1", "NAME<=NUMBER or NAME>=NUMBER is needed"), ("speed<=1", "no such counter"),
                               ("efficiency>=80", "a share is a number from 0 to 1, or has a %"),
                               ("conflicts<=2%", "only a share has a %"), ("conflicts<=", "a number from 0 on"),
                               ("@none.txt", "No such file"), ("@slip.txt", "slip.txt:2: (:"), ("", "is needed")):
            text = self.expect(budgets, 2)
            self.assertIn(words, text)
            self.assertTrue(text.startswith("margay: error: "), text)

    def test_the_programs_own_failure_stays(self):
        done = self.margay("profile", "--output", "/dev/null", "--expect", "conflicts<=1", "./bad", "x", status=1)
        self.assertIn("budget/conflicts", done.stderr)
        done = self.margay("profile", "--output", "/dev/null", "--expect", "conflicts<=1", "./bad", "x", "y", status=2)


class Format(Guard):
    def test_gcc(self):
        done = self.margay("check", "--format", "gcc", "--only", "race", "./race", status=1)
        lines = done.stderr.splitlines()
        match = re.match(r"race\.cu:5:(\d+): error: neighbours\(int\*\): thread .* \[race/(write-read|read-write)\]$", lines[0])
        self.assertTrue(match, lines[0])
        self.assertRegex(lines[1], r"^race\.cu:4:\d+: note: the other access$")
        self.assertRegex(lines[2], r"^race\.cu:5:\d+: note: fix: .*__syncthreads")

    def test_github(self):
        done = self.margay("check", "--format", "github", "--only", "race", "./race", status=1)
        self.assertRegex(done.stderr.splitlines()[0],
                         r"^::error file=race\.cu,line=5,col=\d+,title=race/[a-z-]+::neighbours\(int\*\): thread .*"
                         r"%0Athe other access: race\.cu:4%0Afix: .*$")

    def test_text_is_the_default(self):
        self.assertEqual(self.margay("check", "--format", "text", "./race", status=1).stderr,
                         self.margay("check", "./race", status=1).stderr)

    def test_budgets(self):
        self.assertEqual(self.expect("conflicts<=1.1", 1, "--format", "gcc").strip(),
                         "bad.cu:7: error: columns(float*): conflicts is 16.5, and the budget is at most 1.1, "
                         "with grid 1, block 32×32 [budget/conflicts]")
        self.assertEqual(self.expect("conflicts<=1.1", 1, "--format", "github").strip(),
                         "::error file=bad.cu,line=7,title=budget/conflicts::columns(float*): conflicts is 16.5, and the "
                         "budget is at most 1.1, with grid 1, block 32×32")
        self.assertIn("%0A", self.margay("check", "--format", "github", "./race", status=1).stderr)
        self.assertIn("efficiency is 12.5 %25, and", self.expect("efficiency>=50%", 1, "--format", "github"))

    def test_no_such_format(self):
        self.assertIn("--format xml: text, gcc or github is needed", self.margay("check", "--format", "xml", "./race",
                                                                                 status=2).stderr)


TIMES = """\
#include <cstdio>
__global__ void clocked(long long *out) { out[0] = clock64(); }
__global__ void plain(long long *out) { out[0] = 1; }
int main(int argc, char **)
{
    long long *d;
    float ms;
    cudaEvent_t a, b;
    cudaMalloc(&d, sizeof(*d));
    cudaEventCreate(&a);
    cudaEventCreate(&b);
    cudaEventRecord(a);
    if (argc == 2)
        clocked<<<1, 1>>>(d);
    else
        plain<<<1, 1>>>(d);
    cudaEventRecord(b);
    cudaEventSynchronize(b);
    for (int i = 0; argc == 3 && i < 5; i++)
        cudaEventElapsedTime(&ms, a, b);
}
"""


class Times(Guard):
    """Whose times a program's own are is said once, and only to those who ask for times."""

    def test_notes(self):
        self.build("times", TIMES)
        for command in ("run", "profile", "check", "advise"):
            for args, words in (((), None), (("x",), "clock64"), (("x", "y"), "cudaEventElapsedTime")):
                done = self.margay(command, "./times", *args, status=0)
                notes = [line for line in done.stderr.splitlines() if "note:" in line]
                self.assertEqual(len(notes), 1 if words else 0, done.stderr)
                if words:
                    self.assertTrue(notes[0].startswith("margay: note: "), notes[0])
                    self.assertIn(words, notes[0])
                    self.assertIn("simulator's", notes[0])
                    self.assertNotIn("note:", self.margay(command, "--quiet", "./times", *args).stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
