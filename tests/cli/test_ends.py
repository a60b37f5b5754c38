#!/usr/bin/env python3
"""test_ends.py - runs of which there is no report, or only a part of one: each says in a few lines why. MARGAY NVCC"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

MARGAY, NVCC = os.path.abspath(sys.argv[1]), sys.argv[2]

PROGRAM = r"""
#include <cstdio>
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
    if (argc > 2)
        return 0;
    add<<<1, 64>>>(p);
    cudaDeviceSynchronize();
    if (argc > 1)
        puts("ready"), fflush(stdout), longest<<<1, 64>>>(p, 1l << 40);
    cudaDeviceSynchronize();
    cudaFree(p);
}
"""

# Its last launch is the one after which a kernel of 30 instructions is worth better code.
ENDS = r"""
#include <cstdio>
__global__ void twice(float *o, const float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        o[i] = a[i * 2] * 2;
}
int main()
{
    enum { N = 65536 };
    float *a, *b, one = 1;
    cudaMalloc(&a, 8 * N);
    cudaMalloc(&b, 4 * N);
    cudaMemcpy(a, &one, 4, cudaMemcpyHostToDevice);
    for (int i = 0; i < 300; i++)
        twice<<<N / 256, 256>>>(b, a, N);
    cudaMemcpy(&one, b, 4, cudaMemcpyDeviceToHost);
    printf("%g\n", one);
}
"""


# A thread of the program goes on launching while the process ends.
LAUNCHING = r"""
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>
__global__ void add(int *p) { p[blockIdx.x * 64 + threadIdx.x] += 1; }
int main()
{
    int *p;
    cudaMalloc(&p, 2048);
    cudaMemset(p, 0, 2048);
    std::thread([p] { for (;;) add<<<8, 64>>>(p); }).detach();
    usleep(20000);
    puts("ended");
    exit(0);
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

    def test_interrupted(self):
        """Ctrl-C ends the launch, and says where it was."""
        for command, status in (("run", 130), ("profile", 130), ("check", 2)):
            process = subprocess.Popen([MARGAY, command, "--json", "cut.json", "./k", "longest"], cwd=self.dir, text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            report = os.path.join(self.dir, "cut.json")
            self.assertEqual(process.stdout.readline(), "ready\n")
            time.sleep(2)
            os.killpg(process.pid, signal.SIGINT)
            error = process.communicate(timeout=60)[1]
            self.assertEqual(process.returncode, status, error)
            self.assertRegex(error, r"(?m)^margay: error: longest\(int\*, long\): the launch was ended by signal 2 "
                                    r"\(Interrupt\) after [\d.]+ s; block 0: warps 0-1 at k.cu:7\b")
            self.assertIn("was ended by signal 2 (Interrupt)\n", error)
            with open(report) as file:
                data = json.load(file)
            self.assertEqual([(x["kernel"], x["status"]) for x in data["launches"]],
                             [("add(int*)", "MG_OK"), ("longest(int*, long)", "MG_ERR_TIMEOUT")])
            self.assertIn("the launch was ended by signal 2", data["errors"][0]["message"])
            os.remove(report)

    def test_ends_while_code_is_made(self):
        """Quick code is there from an earlier run, and better code is begun just before the process ends: that is waited for.
        LLVM, which is loaded for it, must not be taken down meanwhile."""
        ends = os.path.join(self.dir, "ends.cu")
        with open(ends, "w") as file:
            file.write(ENDS)
        subprocess.run([NVCC, "-O3", "-arch=sm_90", "-o", "ends", "ends.cu"], cwd=self.dir, check=True)
        cache = os.path.join(self.dir, "code")
        for _ in range(12):
            shutil.rmtree(cache, ignore_errors=True)
            for engine in ("quick", ""): # by what the environment says, nothing: each in its turn
                done = self.margay("run", "./ends", env={"MARGAY_CACHE": cache, "MARGAY_ENGINE": engine})
                self.assertEqual((done.returncode, done.stdout), (0, "2\n"), done.stderr)

    def test_ends_while_a_thread_launches(self):
        with open(os.path.join(self.dir, "launching.cu"), "w") as file:
            file.write(LAUNCHING)
        for cudart in ("shared", "static"):
            subprocess.run([NVCC, "-arch=sm_90", "--cudart", cudart, "-o", "launching", "launching.cu"], cwd=self.dir, check=True)
            for command in ("run", "profile", "check") * 4:
                done = self.margay(command, "--engine", "interp", "./launching")
                self.assertEqual((done.returncode, done.stdout), (0, "ended\n"), done.stderr)

    def test_no_call_of_cuda(self):
        """What starts the program without our settings is the likely cause; one that launches nothing has another."""
        for command, status in (("run", 0), ("profile", 0), ("advise", 0), ("check", 2)):
            done = self.margay(command, "env", "-i", "true")
            self.assertEqual(done.returncode, status)
            self.assertIn("no kernel was launched: Margay saw no call of CUDA", done.stderr)
            self.assertEqual(len(re.findall("hint: .*env -i, sudo.*: put margay before that program", done.stderr)), 1)
            done = self.margay(command, "./k", "nothing", "else")
            self.assertEqual(done.returncode, status)
            self.assertRegex(done.stderr, r"no kernel was launched(: nothing was checked)?\n$")

    def test_no_code_for_the_device(self):
        """Of PTX for a newer device the one that runs it is named, the oldest of several; of machine code alone none is."""
        for name, flags in (("newer", ["-gencode=arch=compute_120,code=compute_120", "-gencode=arch=compute_100,code=compute_100"]),
                            ("machine", ["-gencode=arch=compute_90,code=sm_90"])):
            subprocess.run([NVCC, *flags, "-o", name, "k.cu"], cwd=self.dir, check=True)
        self.assertIn("the program's PTX is for compute_100, which compute capability 9.0 cannot run\n  hint: margay --device 10.0 "
                      "simulates a device that can; or rebuild it with nvcc -arch=sm_90\n", self.margay("run", "./newer").stderr)
        self.assertIn("add(int*)", self.margay("run", "--device", "10.0", "./newer").stderr)
        self.assertNotIn("--device", self.margay("run", "./machine").stderr)

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
