"""test_sweep.py MARGAY NVCC - `margay sweep` and `margay compare`: times by block size, and which of two is faster.

The file of results must have the same bytes for any number of jobs, processes and machines, and go on where it stopped.
"""
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

MARGAY, NVCC = os.path.abspath(sys.argv[1]), sys.argv[2]

SOURCE = r"""
#include <cstdio>
#include <cstdlib>
#ifndef WORK
#define WORK 1
#endif
__global__ void chain(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i;
    for (int k = 0; k < WORK * 2000; k++)
        x = x * 1.0001f + 0.5f;
    if (i < n)
        a[i] = x;
}
__global__ void strided(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i % 256 * 256 + i / 256] += 1;
}
__global__ void in_order(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] += 1;
}
int main(int argc, char **argv)
{
    int block = argc > 1 ? atoi(argv[1]) : 256, n = 1 << 16;
    float *a;
    if (block == 96)
        return 3;
    cudaMalloc(&a, n * sizeof(float));
    cudaMemset(a, 0, n * sizeof(float));
    chain<<<n / block, block>>>(a, n);
    strided<<<n / block, block>>>(a, n);
    in_order<<<n / block, block>>>(a, n);
    return cudaDeviceSynchronize();
}
"""


class Sweep(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.dir = cls.folder.name
        cls.source, cls.program = os.path.join(cls.dir, "k.cu"), os.path.join(cls.dir, "k")
        with open(cls.source, "w") as file:
            file.write(SOURCE)
        subprocess.run([NVCC, "-O3", "-arch=sm_90", "-lineinfo", "-o", cls.program, cls.source], check=True)

    def margay(self, *args, status=0, env=None):
        done = subprocess.run([MARGAY, *args], capture_output=True, text=True, cwd=self.dir, env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def read(self, name):
        with open(os.path.join(self.dir, name)) as file:
            return file.read()

    SWEEP = ["sweep", "--board", "h100,h200", "--block", "64..256"]

    def test_one_file_for_any_number(self):
        whole = self.margay(*self.SWEEP, "--output", "one.json", "--jobs", "1", "./k", "{BLOCK}").stdout
        one = self.read("one.json")
        header, *points = [json.loads(line) for line in one.splitlines()]
        self.assertEqual(header["axes"], {"board": ["h100", "h200"], "BLOCK": ["64", "128", "256"]})
        self.assertEqual([p["point"] for p in points], list(range(6)))
        self.assertEqual([p["at"] for p in points],
                         [{"board": b, "BLOCK": n} for b in ("h100", "h200") for n in ("64", "128", "256")])
        for p in points:
            names = [k["kernel"].split("(")[0] for k in p["kernels"]]
            self.assertEqual(sorted(names), ["chain", "in_order", "strided"])
            for k in p["kernels"]:
                self.assertTrue(k["least"] < k["ns"] < k["most"], k)
        # The same by itself: what profile --time says of one point.
        self.margay("profile", "--time", "--board", "h200", "--output", os.devnull, "--json", "alone.json", "./k", "128")
        alone = {x["kernel"]: x["metrics"]["gpu__time_duration.sum"] for x in json.loads(self.read("alone.json"))["launches"]}
        self.assertEqual({k["kernel"]: k["ns"] for k in points[4]["kernels"]}, alone)

        # Three processes, as mpirun and srun start them: the last one has it all and shows it.
        shown = []
        for rank, names in enumerate([("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"),
                                      ("SLURM_PROCID", "SLURM_NTASKS")]):
            env = dict(zip(names, (str(rank), "3")))
            shown.append(self.margay(*self.SWEEP, "--output", "three.json", "./k", "{BLOCK}", env=env).stdout)
            self.assertEqual(len(self.read("three.json").splitlines()), 1 + 2 * (rank + 1))
        self.assertEqual(shown, ["", "", whole])
        self.assertEqual(self.read("three.json"), one)

        # All at once.
        processes = [subprocess.Popen([MARGAY, *self.SWEEP, "--output", "four.json", "./k", "{BLOCK}"], cwd=self.dir,
                                      stdout=subprocess.DEVNULL, env={**os.environ, "PMI_RANK": str(r), "PMI_SIZE": "4"})
                     for r in range(4)]
        self.assertEqual([p.wait() for p in processes], [0] * 4)
        self.assertEqual(self.read("four.json"), one)

        # It goes on where it was, and does nothing twice.
        lines = one.splitlines(keepends=True)
        with open(os.path.join(self.dir, "part.json"), "w") as file:
            file.write("".join(lines[:2] + [lines[4].replace('"launches": 1', '"launches": 7', 1)]))
        self.margay(*self.SWEEP, "--output", "part.json", "./k", "{BLOCK}")
        self.assertEqual(self.read("part.json"), one.replace(lines[4], lines[4].replace('"launches": 1', '"launches": 7', 1)))
        self.assertEqual([f for f in os.listdir(self.dir) if re.search(r"json\.", f)], [])

    def test_mpirun(self):
        mpirun = shutil.which("mpirun")
        if not mpirun:
            self.skipTest("no mpirun")
        sweep = ["sweep", "--block", "64,128,256", "--kernel", "in_order"]
        self.margay(*sweep, "--output", "single.json", "./k", "{BLOCK}")
        done = subprocess.run([mpirun, "--allow-run-as-root", "--oversubscribe", "-np", "2", MARGAY, *sweep, "--output",
                               "mpi.json", "./k", "{BLOCK}"], capture_output=True, text=True, cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.read("mpi.json"), self.read("single.json"))
        self.assertEqual(done.stdout.count("limited by"), 1)

    def test_macros_plot_and_page(self):
        args = ["sweep", "-D", "WORK=1..4", "--kernel", "chain", "--output", "work.json", "--html", "w.html", "--svg", "w.svg",
                "k.cu"]
        out = self.margay(*args).stdout
        ns = [json.loads(line)["kernels"][0]["ns"] for line in self.read("work.json").splitlines()[1:]]
        # 2000 dependent multiply-adds are four cycles and a bit each; the rest of a launch is always the same.
        self.assertEqual(len(ns), 3)
        self.assertTrue(1.4 < (ns[2] - ns[1]) / (ns[1] - ns[0]) < 2.6, ns)
        self.assertTrue(2000 * 4 / 1.98 < ns[1] - ns[0] < 2000 * 10 / 1.98, ns)
        self.assertIn("best", out)
        self.assertEqual(len(re.findall(r"^ *[124] .*chain\(float\*, int\)$", out, re.M)), 3)
        self.assertIn("<svg", self.read("w.svg"))
        self.assertIn("<svg", self.read("w.html"))
        self.assertIn("with WORK 1", self.read("w.html"))

    def test_failures(self):
        done = self.margay("sweep", "--block", "96,128", "--output", "f.json", "./k", "{BLOCK}", status=1)
        self.assertIn("exit status 3", done.stdout)
        self.assertEqual(json.loads(self.read("f.json").splitlines()[1])["failed"], "exit status 3")
        done = self.margay("sweep", "--board", "h100,l4", "--output", "b.json", "./k", status=1) # of which it has no code
        self.assertIn("PTX is for compute_90", done.stdout)
        self.assertIn("something else", self.margay("sweep", "--block", "128", "--output", "f.json", "./k", "{BLOCK}", status=2).stderr)
        self.assertIn("nothing would change", self.margay("sweep", "--block", "96,128", "./k", status=2).stderr)
        for wrong in (["--block", "9..3"], ["--block", "1,,2"], ["--block", "x y"], ["--block", "abc"],
                      ["--block", "64,0"], ["--size", "big"],
                      ["--block", "64", "--html", "x.html", "--svg", "./x.html"], ["-D", "A"], ["--jobs", "0", "--block", "1"],
                      ["--block", "1", "--block", "2"], []):
            self.assertIn("margay: error:", self.margay("sweep", *wrong, "./k", "{BLOCK}", status=2).stderr)

    def test_failures_alone_are_not_kept(self):
        """A sweep of which no value could be run stands in nobody's way, not even in its own."""
        failed = self.margay("sweep", "--block", "96", "--output", "n.json", "./k", "{BLOCK}", status=2)
        self.assertIn("exit status 3", failed.stdout)
        self.margay("sweep", "--block", "128", "--launches", "1", "--output", "n.json", "./k", "{BLOCK}")
        with open(os.path.join(self.dir, "part.cu"), "w") as file:
            file.write('#include "part.h"\n' + SOURCE)
        again = ["sweep", "--block", "64,128", "--launches", "1", "--output", "again.json", "part.cu"]
        self.assertIn("part.h", self.margay(*again, status=2).stdout)
        with open(os.path.join(self.dir, "part.h"), "w"):
            pass
        self.assertIn("best", self.margay(*again).stdout)

    def test_results_that_cannot_be_kept(self):
        """It is said before anything is run, and why."""
        done = self.margay("sweep", "--block", "64", "--output", "none/sweep.json", "k.cu", status=2)
        self.assertEqual(done.stderr, "margay: error: none/sweep.json: No such file or directory; --output names another file "
                                      "for the results\n")
        done = self.margay("sweep", "--block", "64", "--output", ".", "k.cu", status=2)
        self.assertIn(".: Is a directory; --output names", done.stderr)

    def test_macro_in_one_word(self):
        one = self.margay("sweep", "-DWORK=1,2", "--launches", "1", "--output", "attached.json", "k.cu")
        two = self.margay("sweep", "-D", "WORK=1,2", "--launches", "1", "--output", "apart.json", "k.cu")
        self.assertEqual(one.stdout, two.stdout)
        self.assertIn("WORK", one.stdout)

    def test_compare(self):
        out = self.margay("compare", "./k:^in_order", "./k:^strided").stdout
        self.assertRegex(out, r"A is faster: [\d.]+ times, \d+ % sure")
        self.assertIn("sectors", out)
        report = json.loads(self.margay("compare", "--json", "./k:^strided", "./k:^in_order").stdout)
        (pair,) = report["pairs"]
        self.assertEqual(pair["faster"], "b")
        a, b = pair["a"], pair["b"]
        # Two normal distributions of the logarithm, of which 80 % lie within the range.
        sigma = math.hypot(*(math.log(x["most"] / x["least"]) / (2 * 1.2816) for x in (a, b)))
        sure = 0.5 * (1 + math.erf(math.log(a["ns"] / b["ns"]) / sigma / math.sqrt(2)))
        self.assertAlmostEqual(pair["sure"], sure, delta=0.002)
        self.assertAlmostEqual(sum(a["parts"].values()), a["ns"], delta=10)
        # Reports, and kernels of one name.
        for n in ("64", "256"):
            self.margay("profile", "--time", "--output", os.devnull, "--json", n + ".json", "./k", n)
        pairs = json.loads(self.margay("compare", "--json", "64.json", "256.json").stdout)["pairs"]
        self.assertEqual([(p["a"]["kernel"], p["a"]["block"], p["b"]["block"]) for p in pairs],
                         [(p["b"]["kernel"], [64, 1, 1], [256, 1, 1]) for p in pairs])
        self.assertEqual(len(pairs), 3)
        same = self.margay("compare", "64.json:chain", "64.json:chain").stdout
        self.assertIn("no difference", same)
        self.margay("profile", "--output", os.devnull, "--json", "plain.json", "./k")
        self.assertIn("--time", self.margay("compare", "plain.json", "64.json", status=2).stderr)
        self.assertIn("nothing.json", self.margay("compare", "nothing.json", "64.json", status=2).stderr)

    def test_kernels_that_are_not_there(self):
        """Which there are is what one wants to know then."""
        self.assertIn("margay: error: ./k:nosuch: no kernel 'nosuch' was launched, but chain, strided, in_order\n",
                      self.margay("compare", "./k:nosuch", "./k:strided", status=2).stderr)
        told = self.margay("profile", "--kernel", "nosuch", "./k").stderr
        self.assertIn("no kernel whose name matches --kernel 'nosuch' was launched\n  hint: 'margay run PROGRAM' lists the kernels", told)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
