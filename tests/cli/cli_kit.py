"""cli_kit.py - what the tests of the command share: the stand-in for a simulated program, a runtime that is an empty library,
a folder of its own for each test.

Arguments of each: MARGAY FAKE_RUN CC [unittest arguments].
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

MARGAY, FAKE, CC = (os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3])
TREE = pathlib.Path(__file__).resolve().parents[2]
SOURCE = """\
// transpose.cu
__global__ void transpose_naive(const float *in, float *out, int n)
{   out[x * n + y] = in[y * n + x]; }
__global__ void transpose_shared(const float *in, float *out, int n) {
    __shared__ float tile[32][32];

    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
\tout[(by + threadIdx.y) * n + bx + threadIdx.x] = tile[threadIdx.x][threadIdx.y];   // \u00e9
}
    if (threadIdx.x & 1) p[i] = n;
int main() {}
"""


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err


class Case(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.mkdtemp(prefix="margay-cli-")
        cls.libdir = os.path.join(cls.shared, "lib")
        os.mkdir(cls.libdir)
        empty = os.path.join(cls.shared, "empty.c")
        pathlib.Path(empty).write_text("int margay_test_runtime;\n")
        # With the thread sanitizer as our own would be: what is starts its runtime, without which a shell under it crashes. The
        # address sanitizer's, on the other hand, must come first in a process, before what a user preloads.
        flags = ["-fsanitize=thread"] if os.environ.get("MARGAY_TEST_SANITIZE") == "thread" else []
        for version in (12, 13):
            name = f"libcudart.so.{version}"
            subprocess.run([CC, "-shared", "-fPIC", *flags, f"-Wl,-soname,{name}", "-o", os.path.join(cls.libdir, name), empty],
                           check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.shared)

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="margay-cli-")
        self.addCleanup(shutil.rmtree, self.dir)
        self.source = os.path.join(self.dir, "src.cu")
        pathlib.Path(self.source).write_text(SOURCE, encoding="utf-8")

    def environment(self, **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("MARGAY_", "LD_", "LC_", "LANG", "NVCC", "CUDA_", "COLUMNS"))}
        env.update(LC_ALL="C.UTF-8", TMPDIR=self.dir, MARGAY_LIBDIR=self.libdir)
        env.update(more)
        return env

    def margay(self, *args, stdin=None, **env):
        done = subprocess.run([MARGAY, *args], cwd=self.dir, env=self.environment(**env), input=stdin,
                              capture_output=True, timeout=60)
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    def check(self, result, status, out=None, err=None):
        self.assertEqual((result.status, result.out if out is None else out), (status, result.out), result.err)
        if out is not None:
            self.assertEqual(result.out, out)
        if err is not None:
            self.assertEqual(result.err, err)


def main():
    signal.signal(signal.SIGINT, signal.default_int_handler) # a shell's background job ignores it, and so would margay and nvcc
    unittest.main(argv=[sys.argv[0]] + sys.argv[4:])
