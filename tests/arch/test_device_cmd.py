#!/usr/bin/env python3
"""test_device_cmd.py - `margay limits` and `margay occupancy`, driven as a person would.

A GPU is played by a library of the driver's name that answers from a file; programs are compiled by nvcc where there is one.

    test_device_cmd.py MARGAY CC NVCC|"" [unittest arguments]
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

MARGAY, CC, NVCC = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
TREE = pathlib.Path(__file__).resolve().parents[2]
OPTIONS = re.findall(r'^OPTION\(\w+, "([\w-]+)", (?:"[^"]*"|NULL), ([A-Z| ]+),',
                     (TREE / "src/cli/device_option.def").read_text(), re.M)
NEEDS_NVCC = unittest.skipUnless(NVCC and os.access(NVCC, os.X_OK), "nvcc is not installed")

# cuDeviceGetAttribute's numbers are read from FAKE_CUDA, a line each; 0 is the memory.
DRIVER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static long long look(int wanted, int *found)
{
    FILE *f = fopen(getenv("FAKE_CUDA"), "r");
    long long n, v, value = 0;
    *found = 0;
    while (f && fscanf(f, "%lld %lld", &n, &v) == 2)
        if (n == wanted) value = v, *found = 1;
    if (f) fclose(f);
    return value;
}
int cuInit(unsigned flags) { return getenv("FAKE_CUDA_BROKEN") ? 100 : (int)flags; }
int cuDeviceGetCount(int *n) { return *n = 1, 0; }
int cuDeviceGet(int *device, int n) { return *device = n, 0; }
int cuDeviceGetName(char *name, int size, int device) { return (void)device, snprintf(name, size, "%s", getenv("FAKE_CUDA_NAME")), 0; }
int cuDeviceGetAttribute(int *value, int n, int device) { int found; return (void)device, *value = (int)look(n, &found), !found; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { int found; return (void)device, *bytes = (size_t)look(0, &found), 0; }
"""
SOURCE = """\
__global__ void stage(float *a)
{
    __shared__ float tile[1000];
    tile[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = tile[threadIdx.x ^ 1];
}
template <class T> __global__ void __launch_bounds__(128) add(T *a) { a[threadIdx.x] += 1; }
template __global__ void add<float>(float *);
template __global__ void add<double>(double *);
#ifdef MAIN
int main() {}
#endif
"""
WHY = """\
Compute capability 9.0, NVIDIA H100 80GB HBM3
  256 threads a block
  70 registers a thread
  20000 bytes of shared memory a block

37.5 % occupancy: 3 blocks, 24 of 64 warps on each SM
Held back by registers.

  limit          blocks
> registers           3  18432 a block (by 256 a warp) of 65536 in 4 parts
  shared memory      11  21120 B a block (1024 the system's, by 128) of 233472
  barriers            -  none used
  warp slots          8  8 a block of 64
  block slots        32  an SM has 32

Next step: 4 blocks, with one of these:
  at most 64 registers a thread, 6 fewer: 50 %
  blocks of at most 224 threads: 43.75 %
For 64 registers: __launch_bounds__(256, 4), or nvcc -maxrregcount=64.
A larger block, of 288 threads, would fill 42.19 %.
"""


class Device(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="margay-device-")
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def margay(self, *args, **env):
        return subprocess.run([MARGAY, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, encoding="utf-8", timeout=120, cwd=self.dir,
                              env={**os.environ, "LC_ALL": "C.UTF-8", **env})

    def good(self, *args, status=0, **env):
        got = self.margay(*args, **env)
        self.assertEqual((got.returncode, got.stderr), (status, ""))
        return got.stdout

    def json(self, *args, **env):
        return json.loads(self.good(*args, "--json", **env))

    def bad(self, *args, message, **env):
        got = self.margay(*args, **env)
        self.assertEqual((got.returncode, got.stdout), (2, ""), args)
        self.assertRegex(got.stderr, r"\Amargay: error: [^\n]*" + message + r"[^\n]*\n\Z")

    def nvcc(self, *args):
        subprocess.run([NVCC, *args], check=True, cwd=self.dir, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    # ---- limits ----
    def test_limits_of_a_capability(self):
        text = self.good("limits")
        self.assertTrue(text.startswith("Compute capability 9.0 (Hopper), NVIDIA H100 80GB HBM3\n"))
        for row in ("  Threads a block                            1,024 threads", "  Grid, x                             2,147,483,647 blocks",
                    "  A block, opted in                                227 KiB", "  A multiprocessor                                 228 KiB",
                    "  one of     0, 8, 16, 32, 64, 100, 132, 164, 196, 228 KiB", "  Named barriers a block                                16",
                    "  L2 cache                                          50 MiB", "  Memory bandwidth, peak                         3.35 TB/s"):
            self.assertIn(row + "\n", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assertEqual(text, self.good("limits", "--cc", "sm_90a"))
        self.assertEqual(text, self.good("limits", "--board", "h100"))
        self.assertIn("Blackwell), NVIDIA GeForce RTX 5090\n", self.good("limits", "--cc=12.0"))

    def test_limits_as_json(self):
        one = self.json("limits")["devices"]
        self.assertEqual(len(one), 1)
        limits = one[0]["limits"]
        for key, value in {"warp_size": 32, "max_registers_per_thread": 255, "max_registers_per_block": 65536,
                           "shared_memory_per_block": 49152, "shared_memory_per_block_optin": 232448,
                           "shared_memory_reserved_per_block": 1024, "shared_memory_per_sm": 233472, "max_cluster_size": 8,
                           "shared_memory_allocation_unit": 128, "register_allocation_unit": 256, "barriers_per_sm": 64,
                           "l2_cache": 52428800, "memory_bandwidth": 3352320000000}.items():
            self.assertEqual(limits[key], value, key)
        self.assertEqual(one[0]["shared_memory_carveouts_kib"], [0, 8, 16, 32, 64, 100, 132, 164, 196, 228])
        every = self.json("limits", "--all")
        self.assertEqual([d["compute_capability"] for d in every["devices"]],
                         "5.0 5.2 5.3 6.0 6.1 6.2 7.0 7.2 7.5 8.0 8.6 8.7 8.9 9.0 10.0 10.1 10.3 11.0 12.0 12.1".split())
        for d in every["devices"]:
            self.assertEqual([d], self.json("limits", "--cc", d["compute_capability"])["devices"])
            self.assertIn(d["board"], [b["name"] for b in every["boards"]])
        self.assertEqual(every["devices"][0]["limits"]["shared_memory_reserved_per_block"], 0)
        self.assertIsNone(every["devices"][2]["limits"]["unified_cache_per_sm"]) # 5.3: not published
        h200 = self.json("limits", "--board", "h200")["devices"][0]["limits"]
        self.assertEqual({k for k in limits if limits[k] != h200[k]},
                         {"l2_cache", "memory_clock", "memory_bus_width", "memory", "memory_bandwidth"})

    def test_all_beside_each_other(self):
        text = self.good("limits", "--all")
        lines = text.splitlines()
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertEqual(sum(line.startswith("Compute capability") for line in lines), 5)
        self.assertIn("  A multiprocessor                      100 KiB    228 KiB    228 KiB    228 KiB", lines)
        self.assertIn("  12.1   0, 8, 16, 32, 64, 100", lines)
        self.assertIn("  H100 80GB HBM3                 9.0  132    50 MiB   79.2 GiB     3352    66.9", lines)

    def test_wrong_limits(self):
        for args, message in [
                (["--cc", "3.5"], r"--cc 3\.5: no such compute capability; known are 5\.0, 5\.2, .*, 12\.1"),
                (["--cc", "8.8"], r"--cc 8\.8: the programming guide does not list it"),
                (["--cc"], r"option '--cc' needs a value; see 'margay limits --help'"),
                (["--board", "voodoo"], r"--board voodoo: no board of that name; 'margay limits --all' lists them"),
                (["--board", "h200", "--cc", "8.0"], r"NVIDIA H200 has compute capability 9\.0, not 8\.0"),
                (["--device", "-1"], r"--device -1: the number of a GPU is needed, from 0 on; --cc takes a capability"),
                (["--device", "9.0"], r"--device 9\.0: the number of a GPU is needed"),
                (["--all", "--cc", "9.0"], r"--device, --all and --cc or --board exclude each other"),
                (["--jsn"], r"unknown option '--jsn'; did you mean '--json'\?"),
                (["--threads", "1"], r"unknown option '--threads'; see 'margay limits --help'"),
                (["9.0"], r"unexpected '9\.0'; see 'margay limits --help'")]:
            self.bad("limits", *args, message=message)

    # ---- limits --device ----
    def driver(self, changes):
        lib = self.path("libcuda.so.1")
        pathlib.Path(self.path("driver.c")).write_text(DRIVER)
        subprocess.run([CC, "-shared", "-fPIC", "-o", lib, self.path("driver.c")], check=True)
        table = self.json("limits")["devices"][0]["limits"]
        rows = re.findall(r'^LIMIT\("[^"]+", (\w+), "[^"]+", "[^"]*", (\d+),', (TREE / "src/arch/limit.def").read_text(), re.M)
        answers = {75: 9, 76: 0, 0: 84 << 30, **{int(n): table[key] for key, n in rows if n != "0"}, **changes}
        pathlib.Path(self.path("answers")).write_text("".join(f"{n} {v}\n" for n, v in answers.items()))
        return {"LD_LIBRARY_PATH": self.dir, "FAKE_CUDA": self.path("answers"), "FAKE_CUDA_NAME": "NVIDIA H100 80GB HBM3"}

    def test_a_device_that_is_as_the_table(self):
        env = self.driver({})
        text = self.good("limits", "--device", "0", **env)
        self.assertIn("\nbeside GPU 0 of this machine, NVIDIA H100 80GB HBM3\n", text)
        self.assertIn("  A block, opted in                                227 KiB               227 KiB\n", text)
        self.assertTrue(text.endswith("\nEvery row that the driver tells is equal.\n"))
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assertEqual(self.json("limits", "--device", "0", **env)["devices"][0]["device"]["differs"], [])

    def test_a_device_that_differs(self):
        env = self.driver({97: 99 * 1024, 16: 1})
        got = self.margay("limits", "--device", "0", **env)
        self.assertEqual((got.returncode, got.stderr), (1, ""))
        self.assertEqual([line for line in got.stdout.splitlines() if line.startswith("!")],
                         ["! A block, opted in                                227 KiB                99 KiB",
                          "! Multiprocessors                                      132                     1"])
        self.assertIn("\n2 rows (!) differ from the device.\n", got.stdout)
        got = self.margay("limits", "--device", "0", "--json", **env)
        device = json.loads(got.stdout)["devices"][0]["device"]
        self.assertEqual((got.returncode, device["differs"]), (1, ["shared_memory_per_block_optin", "sm_count"]))
        self.assertEqual(device["values"]["shared_memory_per_block_optin"], 99 * 1024)

    def test_a_board_that_is_not_in_the_table(self):
        env = {**self.driver({16: 20, 38: 1 << 20}), "FAKE_CUDA_NAME": "NVIDIA H100 80GB HBM3 Ti"}
        text = self.good("limits", "--device", "0", **env)
        self.assertTrue(text.startswith("Compute capability 9.0 (Hopper), without a board\n"))
        self.assertIn("  Multiprocessors                                        -                    20\n", text)
        self.assertTrue(text.endswith("\nEvery row that the driver tells is equal.\nThe table has no row for this board.\n"))
        got = self.json("limits", "--device", "0", **env)["devices"][0]
        self.assertEqual((got["board"], got["limits"]["sm_count"], got["device"]["values"]["sm_count"], got["device"]["differs"]),
                         (None, None, 20, []))

    def test_no_such_device(self):
        self.bad("limits", "--device", "0", message=r"--device 0: there is no CUDA driver on this machine \(libcuda\.so\.1\)")
        env = self.driver({})
        self.bad("limits", "--device", "1", message=r"there is no GPU 1: this machine has 1, counted from 0", **env)
        self.bad("limits", "--device", "0", message=r"the CUDA driver cannot be used: error 100", FAKE_CUDA_BROKEN="1", **env)
        env = self.driver({75: 3, 76: 5})
        self.bad("limits", "--device", "0", message=r"has compute capability 3\.5, which is not in the table", **env)

    # ---- occupancy of numbers ----
    def test_why_is_it_37_percent(self):
        self.assertEqual(self.good("occupancy", "--threads", "256", "--regs", "70", "--smem", "20000"), WHY)
        got = self.json("occupancy", "--threads", "256", "--regs", "70", "--smem", "20000")
        self.assertEqual(got["limits"], {"registers": 3, "shared_memory": 11, "barriers": None, "warps": 8, "blocks": 32})
        self.assertEqual((got["blocks_per_sm"], got["warps_per_sm"], got["occupancy"], got["binding"]), (3, 24, 0.375, "registers"))
        self.assertEqual(got["next_step"], {"blocks_per_sm": 4, "threads": 224, "regs": 64})
        # and what it says is so
        for change in (["--threads", "256", "--regs", "64"], ["--threads", "224", "--regs", "70"]):
            self.assertEqual(self.json("occupancy", *change, "--smem", "20000")["blocks_per_sm"], 4)

    def test_other_numbers(self):
        for args, blocks, binding in [("--threads 1024 --regs 32", 2, "warp slots"), ("--threads 1024 --regs 33", 1, "registers"),
                                      ("--threads 64 --regs 16", 32, "warp slots"), ("--threads 32 --regs 16", 32, "block slots"),
                                      ("--threads 128 --regs 16 --smem 48K", 4, "shared memory"),
                                      ("--threads 64 --regs 16 --barriers 8", 8, "barriers"),
                                      ("--threads 64 --regs 16 --barriers 8 --cc 8.9", 24, "warp slots"),
                                      ("--threads 64 --regs 16 --smem 20K --carveout 50", 6, "shared memory"),
                                      ("--threads 512 --regs 32 --cc 8.6", 3, "warp slots")]:
            got = self.json("occupancy", *args.split())
            self.assertEqual((got["blocks_per_sm"], got["binding"]), (blocks, binding), args)

    def test_other_steps(self):
        for args, key, value, words in [
                ("--threads 96 --regs 32 --barriers 16", "barriers", 12, "at most 12 named barriers a block, 4 fewer: 23.44 %"),
                ("--threads 512 --regs 32 --smem 20K --carveout 10", "carveout", 15, "carve-out of 15 % or more, now 10 %: 75 %"),
                ("--threads 33 --regs 64", "regs", 56, "31 of the block's 64 lanes are idle")]:
            step = self.json("occupancy", *args.split())["next_step"]
            self.assertEqual(step[key], value)
            text = self.good("occupancy", *args.split())
            self.assertIn(words, re.sub(r"\n +", " ", text))
            self.assertLessEqual(max(map(len, text.splitlines())), 80)
            then = self.json("occupancy", *args.split(), "--" + key, str(value))
            self.assertGreaterEqual(then["blocks_per_sm"], step["blocks_per_sm"])

    def test_blocks_that_cannot_run(self):
        for args, message in [("--threads 1024 --regs 128", "the registers of a block are 65536"),
                              ("--threads 32 --regs 300", "compiled for 300 registers a thread; NVIDIA H100 80GB HBM3 (compute capability 9.0) has 255"),
                              ("--threads 2000 --regs 32", "allows 1024 threads in all"),
                              ("--threads 64 --regs 32 --smem 227.5K", None), ("--threads 64 --regs 32 --smem 240000", "232448 are allowed")]:
            if message is None:
                self.bad("occupancy", *args.split(), message=r"--smem 227\.5K: bytes are needed, such as 49152 or 48K")
                continue
            self.assertIn("\nNo such block can run: launched with " if "compiled" not in message else "\nNo such block can run: ",
                          text := self.good("occupancy", *args.split(), status=1))
            self.assertIn(message, re.sub(r"\n +", " ", text)) # lines are broken at the width
            self.assertLessEqual(max(map(len, text.splitlines())), 80)
            got = self.json("occupancy", *args.split(), status=1)
            self.assertEqual((got["blocks_per_sm"], got["occupancy"]), (0, 0))
            self.assertIn(message, got["refused"])
        text = self.good("occupancy", "--threads", "64", "--regs", "32", "--smem", "100000")
        self.assertIn("cudaFuncAttributeMaxDynamicSharedMemorySize, 100000).\n", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)

    def test_sweeps(self):
        base = {"threads": 256, "regs": 70, "smem": 20000}
        for over, label in [("threads", "threads a block"), ("regs", "registers a thread"), ("smem", "shared memory a block (KiB)")]:
            args = [a for k, v in base.items() for a in (f"--{k}", str(v))]
            points = self.json("occupancy", *args, "--sweep", over)["sweep"]["points"]
            self.assertEqual(points[0][0], 0 if over == "smem" else 1)
            for i, (x, blocks) in list(enumerate(points))[::5]: # each point begins what holds up to the next
                last = points[i + 1][0] - 1 if i + 1 < len(points) else x
                for at in {x, last}:
                    got = self.json("occupancy", *args, f"--{over}", str(at)) if at else {"limits": {}, "blocks_per_sm": blocks}
                    self.assertEqual(got["blocks_per_sm"], blocks, (over, at))
            text = self.good("occupancy", *args, "--sweep", over)
            picture = text.split(WHY)[1]
            self.assertLessEqual(max(map(len, picture.splitlines())), 80)
            self.assertIn("\noccupancy (% of the warp slots)\n    100 ┤", picture)
            self.assertEqual(picture.splitlines()[-2].strip(), label)
            self.assertEqual(self.good("occupancy", *args, "--sweep", over, LC_ALL="C").split(WHY)[1].isascii(), True)
            svg = self.path(over + ".svg")
            self.good("occupancy", *args, "--sweep", over, "--svg", svg)
            tree = xml.etree.ElementTree.parse(svg).getroot()
            texts = ["".join(t.itertext()) for t in tree.iter("{http://www.w3.org/2000/svg}text")]
            for part in ("Occupancy", label, "occupancy (% of the warp slots)", "100", "occupancy"):
                self.assertIn(part, texts)
            self.assertTrue(any(t.startswith("now: ") and t.endswith(", 37.5 %") for t in texts), texts)
            self.assertIn("prefers-color-scheme:dark", pathlib.Path(svg).read_text())

    def test_wrong_occupancy(self):
        full = ["--threads", "256", "--regs", "32"]
        for args, message in [
                ([], r"--threads and --regs are needed \(and --smem, if it is not 0\), or --kernel PROGRAM"),
                (["--threads", "256"], r"--threads and --regs are needed"),
                (["--threads", "0", "--regs", "1"], r"--threads 0: a number from 1 is needed"),
                (["--threads", "x"], r"--threads x: a number from 1 is needed"),
                (["--regs", "99999999999999999999"], r"--regs 9+: a number from 1 is needed"),
                ([*full, "--smem", "1G"], r"--smem 1G: bytes are needed"),
                ([*full, "--smem", "-1"], r"--smem -1: bytes are needed"),
                ([*full, "--barriers", "17"], r"--barriers 17: a number from 0 to 16 is needed"),
                ([*full, "--carveout", "101"], r"--carveout 101: a percentage from 0 to 100 is needed"),
                ([*full, "--sweep", "blocks"], r"--sweep blocks: one of threads, smem, regs is needed"),
                ([*full, "--nvcc-args", "-O1"], r"--nvcc-args is for --kernel with a \.cu file"),
                ([*full, "--sweeep", "regs"], r"unknown option '--sweeep'; did you mean '--sweep'\?"),
                (["--kernel", ""], r"--kernel '': a program is needed"),
                (["--kernel", ":x"], r"--kernel ':x': a program is needed"),
                (["--kernel", "nosuch"], r"nosuch: cannot open the file: No such file or directory"),
                (["--kernel", "nosuch.cu"], r"nosuch\.cu: No such file or directory"),
                (["--kernel", sys.executable + ":("], r"--kernel '\(': Unmatched"),
                (["--kernel", __file__], r"there is no device code in it")]:
            self.bad("occupancy", *args, message=message)
        got = self.margay("occupancy", *full, "--svg", "nosuch/x.svg")
        self.assertEqual((got.returncode, got.stderr), (2, "margay: error: nosuch/x.svg: No such file or directory\n"))

    # ---- occupancy of kernels ----
    @NEEDS_NVCC
    def test_kernels_of_files(self):
        pathlib.Path(self.path("k.cu")).write_text(SOURCE)
        self.nvcc("-arch=sm_90", "-DMAIN", "-o", "program", "k.cu")
        self.nvcc("-arch=sm_90", "-cubin", "-o", "k.cubin", "k.cu")
        self.nvcc("-arch=sm_90", "-fatbin", "-o", "k.fatbin", "k.cu")
        self.nvcc("-arch=compute_90", "-ptx", "-o", "k.ptx", "k.cu")
        self.nvcc("-gencode=arch=compute_90,code=compute_90", "-DMAIN", "-o", "ptx_only", "k.cu")
        self.nvcc("-gencode=arch=compute_80,code=[sm_80,compute_80]", "-DMAIN", "-o", "older", "k.cu") # 9.0 compiles its PTX
        # ptxas takes PTX for sm_90a for sm_90a alone
        self.nvcc("-gencode=arch=compute_90a,code=compute_90a", "-DMAIN", "-o", "letter", "k.cu")
        self.nvcc("-arch=compute_90a", "-ptx", "-o", "letter.ptx", "k.cu")
        want = None
        for file, source in [("program", "machine code for 9.0"), ("k.cubin", "machine code for 9.0"), ("k.fatbin", "machine code for 9.0"),
                             ("k.cu", "machine code for 9.0"), ("k.ptx", "ptxas for 9.0"), ("ptx_only", "ptxas for 9.0"),
                             ("older", "ptxas for 9.0"), ("letter", "ptxas for 9.0"), ("letter.ptx", "ptxas for 9.0")]:
            got = sorted(self.json("occupancy", "--kernel", self.path(file))["kernels"], key=lambda k: k["kernel"])
            self.assertEqual({k.pop("regs_from") for k in got}, {source}, file)
            want = want or got
            self.assertEqual(got, want, file)
        self.assertEqual([(k["kernel"], k["threads"], k["shared_static"], k["barriers"]) for k in want],
                         [("stage(float*)", 1024, 4000, 1), ("void add<double>(double*)", 128, 0, 0), ("void add<float>(float*)", 128, 0, 0)])
        self.assertTrue(all(0 < k["regs"] < 40 for k in want))
        one = self.json("occupancy", "--kernel", self.path("program") + ":^stage", "--threads", "96", "--smem", "16K")
        self.assertEqual((one["threads"], one["shared_dynamic"], one["binding"]), (96, 16384, "shared memory"))
        self.assertEqual(one["blocks_per_sm"], one["kernels"][0]["blocks_per_sm"])
        text = self.good("occupancy", "--kernel", self.path("program") + ":_Z3addIfEvPT_", "--regs", "200")
        self.assertIn("void add<float>(float*)\n", text)
        self.assertIn("  128 threads a block, its launch bounds (--threads)\n  200 registers a thread\n", text)
        self.assertIn("  1024 threads a block, the size that fills an SM best (--threads)\n",
                      self.good("occupancy", "--kernel", self.path("k.cu") + ":stage", "--nvcc-args", "-O1 -DMAIN"))
        self.assertIn(", machine code for 8.0\n", self.good("occupancy", "--kernel", self.path("older"), "--cc", "8.9"))
        pathlib.Path(self.path("other.cu")).write_text("__global__ void other(int *a) { a[threadIdx.x] = 3; }\n")
        self.nvcc("-gencode=arch=compute_90,code=compute_90", "-DMAIN", "-o", "two_files", "k.cu", "other.cu")
        self.assertEqual(len(self.json("occupancy", "--kernel", self.path("two_files"))["kernels"]), 4)
        self.assertIn("machine code for 9.0: none is nearer", self.good("occupancy", "--kernel", self.path("k.cubin"), "--cc", "10.0"))
        self.bad("occupancy", "--kernel", self.path("program") + ":zzz", message=r"program: no kernel matches 'zzz'")
        self.bad("occupancy", "--kernel", self.path("program"), "--svg", "x.svg",
                 message=r"--svg: 3 kernels match; one is needed: --kernel PROGRAM:REGEX")
        self.bad("occupancy", "--kernel", self.path("program"), "--nvcc-args", "-O1",
                 message=r"--nvcc-args is for \.cu files, and .*program is none")

    @NEEDS_NVCC
    def test_source_that_does_not_compile(self):
        pathlib.Path(self.path("bad.cu")).write_text("__global__ void k() { nonsense; }\n")
        got = self.margay("occupancy", "--kernel", "bad.cu")
        self.assertEqual((got.returncode, got.stdout), (2, ""))
        self.assertRegex(got.stderr, r'identifier "nonsense" is undefined')
        self.assertRegex(got.stderr, r"margay: error: .*nvcc could not compile bad\.cu\n\Z")
        pathlib.Path(self.path("bad.ptx")).write_text("nonsense\n")
        got = self.margay("occupancy", "--kernel", "bad.ptx")
        self.assertEqual((got.returncode, got.stdout), (2, ""))
        self.assertRegex(got.stderr, r"margay: error: bad\.ptx: .*ptxas could not assemble its PTX for sm_90\n\Z")
        self.assertEqual([f for f in os.listdir(self.dir) if f.startswith("margay-")], [])

    # ---- both ----
    def test_help_and_manual(self):
        manual = (TREE / "docs/margay.1").read_text()
        self.assertGreater(len(OPTIONS), 10)
        for command in ("limits", "occupancy"):
            text = self.good(command, "--help")
            self.assertLessEqual(max(map(len, text.splitlines())), 100)
            for name, commands in OPTIONS:
                self.assertEqual(command.upper() in commands, f"--{name}" in text, (command, name))
            self.assertEqual(text, self.good(command, "-h"))
            self.assertRegex(self.good(command, "--version"), r"\Amargay \d+\.\d+\.\d+\n\Z")
        for name, _ in OPTIONS:
            self.assertIn(f"\n.It Fl -{name}", manual)
        self.good("occupancy", "--threads", "256", "--regs", "70", "--smem", "20000", "--sweep", "regs", "--svg", self.path("x.svg"))
        self.assertEqual(pathlib.Path(self.path("x.svg")).read_text(), (TREE / "docs/occupancy.svg").read_text())
        for page in ("limits.md", "occupancy.md"): # what is shown there is what is printed
            shown = re.findall(r"^    \$ (margay (?:limits|occupancy)[^\n]*)\n((?:    [^\n]*\n|\n)*)", (TREE / "docs" / page).read_text(), re.M)
            self.assertTrue(shown, page)
            for command, block in shown:
                if "--kernel" in command or "--device" in command:
                    continue
                block = "\n".join(line[4:] for line in block.rstrip("\n").split("\n")) + "\n"
                pattern = "".join(r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line + "\n") for line in block.split("\n")[:-1])
                self.assertRegex(self.good(*command.split()[1:]), r"\A" + pattern + r"\Z", command)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
