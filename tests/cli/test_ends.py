#!/usr/bin/env python3
"""test_ends.py - runs of which there is no report, or only a part of one: each says in a few lines why. MARGAY NVCC"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

MARGAY, NVCC = os.path.abspath(sys.argv[1]), sys.argv[2]

PROGRAM = r"""
#include <cstdlib>
__global__ void add(int *p) { p[threadIdx.x] += 1; }
__global__ void longest(int *p, long n)
{
    for (volatile long i = 0; i < n; i++)
        p[threadIdx.x] += i;
}
int main(int argc, char **argv)
{
    int *p;
    cudaMalloc(&p, 256);
    cudaMemset(p, 0, 256);
    add<<<1, 64>>>(p);
    cudaDeviceSynchronize();
    if (argc > 1)
        longest<<<1, 64>>>(p, 1l << 40);
    cudaDeviceSynchronize();
    cudaFree(p);
}
"""


class Ends(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.dir = folder.name
        with open(os.path.join(cls.dir, "k.cu"), "w") as file:
            file.write(PROGRAM)
        subprocess.run([NVCC, "-O3", "-arch=sm_90", "-lineinfo", "-o", "k", "k.cu"], cwd=cls.dir, check=True)
        subprocess.run(["strip", "-o", "stripped", "k"], cwd=cls.dir, check=True)

    def margay(self, *args, env=None):
        return subprocess.run([MARGAY, *args], capture_output=True, text=True, cwd=self.dir, timeout=100,
                              env={**os.environ, **(env or {})})

    def test_stripped(self):
        """One message, of the command; and the report has it."""
        error = ("margay: error: this program carries the CUDA runtime inside and has no symbol table by which to find it\n"
                 "  hint: Relink it without -s and do not strip it, or link with nvcc -cudart shared.\n")
        for command in ("run", "profile", "advise"):
            done = self.margay(command, "--json", "r.json", "./stripped")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", error), command)
            with open(os.path.join(self.dir, "r.json")) as file:
                self.assertIn("no symbol table", json.load(file)["errors"][0]["message"])
        done = self.margay("check", "./stripped")
        self.assertEqual((done.returncode, done.stderr),
                         (2, error + "margay: error: nothing was checked: the run failed with the error above\n"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
