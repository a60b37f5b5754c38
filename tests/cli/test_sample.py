"""`margay profile --sample`: estimates held against the counts of all blocks. test_sample.py MARGAY NVCC [PROGRAM...]

Without programs, of one that is compiled here: a kernel whose blocks differ, one whose blocks wait for one another, small grids;
what reports say of a sample; that it is the same for any number of threads. With programs: in at least 95 of 100 cases a sum lies
in its interval.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = r"""
#include <cstdio>
__global__ void uneven(unsigned *out, const unsigned *in)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (unsigned k = 0; k < in[blockIdx.x] % 40; k++)
        sum += in[(i * 37 + k * k * 511) % 65536];
    out[i] = sum;
}
__global__ void ticket(unsigned *out, unsigned *turn)
{
    __shared__ unsigned mine;
    if (threadIdx.x == 0)
        mine = atomicAdd(turn, 1);
    __syncthreads();
    out[mine * blockDim.x + threadIdx.x] = mine;
}
int main()
{
    unsigned *in, *out, *turn, host[65536], x = 1, last;
    for (unsigned &v : host)
        v = (x = x * 1664525u + 1013904223u) >> 8;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, 4 * 64 * 4096);
    cudaMalloc(&turn, 4);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(turn, 0, 4);
    uneven<<<4096, 64>>>(out, in);
    uneven<<<40, 64>>>(out, in);
    ticket<<<512, 64>>>(out, turn);
    cudaMemcpy(&last, turn, 4, cudaMemcpyDeviceToHost);
    printf("%u\n", last);
}
"""


def profile(margay, folder, program, *options):
    path = os.path.join(folder, "report.json")
    done = subprocess.run([margay, "profile", "--clock", "host", "--json", path, *options, *program], capture_output=True, text=True,
                          timeout=900, env={**os.environ, "MARGAY_CACHE": os.path.join(folder, "cache")})
    if done.returncode:
        raise AssertionError(f"{done.returncode}\n{done.stdout}\n{done.stderr}")
    with open(path, encoding="utf-8") as file:
        return done, json.load(file)["launches"]


def judge(exact, sampled):
    """Sums that were estimated, and how many of them lie where they are said to."""
    sums = held = 0
    for name, estimate in sampled["metrics"].items():
        truth = exact["metrics"][name]
        if truth or estimate:
            sums += 1
            held += abs(truth - estimate) <= sampled["sample"]["within"].get(name, 0) + 0.5
    return sums, held


def shape(launch):
    return launch["mangled"], tuple(launch["grid"]), tuple(launch["block"]), launch["shared_dynamic"]


def programs(margay, folder, names):
    """Launches of one kernel and shape are judged where all of them count the same: their order may differ."""
    sums = held = 0
    for name in names:
        known, differ = {}, set()
        for launch in profile(margay, folder, [name])[1]:
            if known.setdefault(shape(launch), launch)["metrics"] != launch["metrics"]:
                differ.add(shape(launch))
        for launch in profile(margay, folder, [name], "--sample", "1/8")[1]:
            if "sample" in launch and shape(launch) in known and shape(launch) not in differ:
                more, good = judge(known[shape(launch)], launch)
                sums, held = sums + more, held + good
    print(f"{held} of {sums} sums lie in their intervals")
    return 0 if sums >= 100 and held >= 0.95 * sums else 1


class Sample(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        source, cls.program = os.path.join(cls.folder.name, "k.cu"), os.path.join(cls.folder.name, "k")
        with open(source, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        subprocess.run([NVCC, "-arch=sm_90", "-cudart", "shared", "-o", cls.program, source], check=True)
        cls.exact = profile(MARGAY, cls.folder.name, [cls.program])[1]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def sampled(self, *options):
        return profile(MARGAY, self.folder.name, [self.program], *options)

    def test_intervals(self):
        done, launches = self.sampled("--sample", "1/16")
        sample = launches[0]["sample"]
        self.assertEqual((sample["blocks"], sample["others"]), (4096, "run"))
        self.assertTrue(200 <= sample["counted"] <= 320, sample)
        sums, held = judge(self.exact[0], launches[0])
        self.assertEqual(held, sums)
        inst = "smsp__inst_executed.sum"
        self.assertEqual(launches[0]["metrics"][inst], self.exact[0]["metrics"][inst])  # known of all blocks
        self.assertNotIn(inst, sample["within"])
        sectors = "memory_l2_theoretical_sectors_global"
        self.assertTrue(0 < sample["within"][sectors] < 0.05 * launches[0]["metrics"][sectors], sample)
        self.assertEqual(sum(l["metrics"][sectors] for l in launches[0]["lines"]), launches[0]["metrics"][sectors])
        self.assertNotIn("sample", launches[1])  # few blocks: all are counted
        self.assertEqual(launches[1]["metrics"], self.exact[1]["metrics"])
        self.assertIn("blocks; ± at 95 %", done.stderr)
        self.assertEqual(done.stdout, "512\n")

    def test_left_out(self):
        done, launches = self.sampled("--sample", "1/16", "--no-results")
        self.assertEqual(launches[0]["sample"]["others"], "left out")
        sums, held = judge(self.exact[0], launches[0])
        self.assertEqual(held, sums)
        self.assertIn("smsp__inst_executed.sum", launches[0]["sample"]["within"])
        self.assertEqual(launches[2]["sample"]["others"], "run")  # blocks may wait for one another
        self.assertEqual(done.stdout, "512\n")
        self.assertIn("the others did not run", done.stderr)

    def test_threads(self):
        def plain(launches):
            return [{k: v for k, v in l.items() if k != "seconds"} for l in launches]
        one = plain(self.sampled("--sample", "auto", "--threads", "1")[1])
        self.assertEqual(one, plain(self.sampled("--sample", "auto", "--threads", "3")[1]))
        self.assertEqual(one, plain(self.sampled("--sample", "auto", "--engine", "interp")[1]))
        self.assertTrue(400 <= one[0]["sample"]["counted"] <= 700, one[0]["sample"])

    def test_budgets(self):
        done = subprocess.run([MARGAY, "profile", "--sample", "1/16", "--expect", "sectors<=10", self.program],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 1)
        self.assertIn("estimated from", done.stderr)

    def test_page(self):
        page = os.path.join(self.folder.name, "page.html")
        self.sampled("--sample", "1/16", "--html", page)
        with open(page, encoding="utf-8") as file:
            self.assertIn("sampleText", file.read())

    def test_refused(self):
        for options, text in ((["--no-results"], "--sample"), (["--sample", "64"], "1/N"), (["--sample", "1/0"], "1/N"),
                              (["--sample", "1/8", "--time"], "--time")):
            done = subprocess.run([MARGAY, "profile", *options, self.program], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, options)
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    MARGAY, NVCC = sys.argv[1:3]
    if sys.argv[3:]:
        with tempfile.TemporaryDirectory() as room:
            sys.exit(programs(MARGAY, room, sys.argv[3:]))
    unittest.main(argv=sys.argv[:1])
