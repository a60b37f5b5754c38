"""test_clock.py MARGAY NVCC - programs that time themselves: by events, and by the clock in a kernel.

What they print is the device's time as modelled: the same in every run, for any number of threads and all engines.
"""
import os
import subprocess
import sys
import tempfile
import unittest

MARGAY, NVCC = sys.argv[1:3]

EVENTS = r"""
#include <cstdio>
#include <cstdlib>
enum { N = 256, T = 32 };
__global__ void naive(float *c, const float *a, const float *b)
{
    int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < N; k++)
        sum += a[y * N + k] * b[k * N + x];
    c[y * N + x] = sum;
}
__global__ void tiled(float *c, const float *a, const float *b)
{
    __shared__ float s[T][T], t[T][T];
    int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    float sum = 0;
    for (int i = 0; i < N; i += T) {
        s[threadIdx.y][threadIdx.x] = a[y * N + i + threadIdx.x];
        t[threadIdx.y][threadIdx.x] = b[(i + threadIdx.y) * N + x];
        __syncthreads();
        for (int k = 0; k < T; k++)
            sum += s[threadIdx.y][k] * t[k][threadIdx.x];
        __syncthreads();
    }
    c[y * N + x] = sum;
}
__global__ void chain(float *data, int n)
{
    float x = data[threadIdx.x];
    for (int i = 0; i < n; i++)
        x = x * 1.0001f + 0.5f;
    data[threadIdx.x] = x;
}
template <class Work> static void time_it(const char *name, Work work)
{
    cudaEvent_t from, to;
    float ms;
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    cudaDeviceSynchronize();
    cudaEventRecord(from);
    work();
    cudaEventRecord(to);
    cudaEventSynchronize(to);
    if (cudaEventElapsedTime(&ms, from, to))
        exit(1);
    cudaEventDestroy(from);
    cudaEventDestroy(to);
    printf("%s %.9g\n", name, ms * 1e-3);
}
int main()
{
    enum { BYTES = 1 << 24 };
    float *a, *b, *c;
    char *pinned, *pageable = (char *)calloc(BYTES, 1);
    cudaStream_t s[2];
    cudaMalloc(&a, BYTES);
    cudaMalloc(&b, BYTES);
    cudaMalloc(&c, BYTES);
    cudaMemset(a, 0, BYTES);
    cudaMemset(b, 0, BYTES);
    cudaMallocHost(&pinned, BYTES);
    for (cudaStream_t &x : s)
        cudaStreamCreate(&x);
    dim3 grid(N / T, N / T), block(T, T);
    time_it("naive", [=] { naive<<<grid, block>>>(c, a, b); });
    time_it("tiled", [=] { tiled<<<grid, block>>>(c, a, b); });
    time_it("tiled_20", [=] { for (int i = 0; i < 20; i++) tiled<<<grid, block>>>(c, a, b); });
    time_it("pinned", [=] { cudaMemcpy(a, pinned, BYTES, cudaMemcpyHostToDevice); });
    time_it("pageable", [=] { cudaMemcpy(a, pageable, BYTES, cudaMemcpyHostToDevice); });
    time_it("within", [=] { cudaMemcpy(b, a, BYTES, cudaMemcpyDeviceToDevice); });
    time_it("chain", [=] { chain<<<1, 32>>>(a, 50000); });
    time_it("one_stream", [=] { for (int i = 0; i < 2; i++) chain<<<1, 32, 0, s[0]>>>(a, 50000); });
    time_it("two_streams", [=] { for (int i = 0; i < 2; i++) chain<<<1, 32, 0, s[i]>>>(a + i * 64, 50000); });
    time_it("wide_streams", [=] { for (int i = 0; i < 2; i++) chain<<<264, 1024, 0, s[i]>>>(c + i * 1024, 2000); });
    time_it("wide_once", [=] { chain<<<264, 1024, 0, s[0]>>>(c, 2000); });
    time_it("copy_beside", [=] {
        chain<<<1, 32, 0, s[0]>>>(a, 50000);
        cudaMemcpyAsync(b, pinned, BYTES / 16, cudaMemcpyHostToDevice, s[1]);
    });
    time_it("copy_alone", [=] { cudaMemcpyAsync(b, pinned, BYTES / 16, cudaMemcpyHostToDevice, s[1]); });
    cudaEvent_t between;
    cudaEventCreate(&between);
    time_it("event_between", [=] { /* the second stream waits for the first */
        chain<<<1, 32, 0, s[0]>>>(a, 50000);
        cudaEventRecord(between, s[0]);
        cudaStreamWaitEvent(s[1], between, 0);
        chain<<<1, 32, 0, s[1]>>>(b, 50000);
    });
    return 0;
}
"""

CLOCKS = r"""
#include <cstdio>
__global__ void clocks(long long *out, const int *list, float y)
{
    __shared__ int s[64];
    float x = y, z = y;
    int i = 0;
    s[threadIdx.x] = s[threadIdx.x + 32] = 0;
    __syncthreads();
    long long t[8];
    unsigned long long from, to;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from));
    t[0] = clock64();
#pragma unroll
    for (int k = 0; k < 100; k++)
        asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(y));
    t[1] = clock64();
    for (int k = 0; k < 10; k++)
        i = ((volatile int *)s)[i + threadIdx.x];
    *(volatile int *)(s + 1) = i;
    t[2] = clock64();
    i = *(const volatile int *)(list + i + threadIdx.x); /* the first time: from device memory */
    *(volatile int *)(s + 1) = i;
    t[3] = clock64();
    i = *(const volatile int *)(list + i + threadIdx.x);
    *(volatile int *)(s + 1) = i;
    t[4] = clock64();
    t[5] = clock64();
    if (threadIdx.x < 8) /* lanes apart take their own ways */
        for (int k = 0; k < 50; k++)
            asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(z) : "f"(y));
    t[6] = clock64();
    while (clock64() - t[6] < 20000)
        ;
    t[7] = clock64();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(to));
    if (threadIdx.x % 32 == 0) {
        for (int k = 0; k < 7; k++)
            out[blockIdx.x * 8 + k] = t[k + 1] - t[k];
        out[blockIdx.x * 8 + 7] = (long long)(to - from);
    }
    if (x + z == 1)
        out[0] = i;
}
int main()
{
    long long *out;
    int *list;
    cudaMallocManaged(&out, 40 * 8 * sizeof(*out));
    cudaMalloc(&list, 4096);
    cudaMemset(list, 0, 4096);
    clocks<<<40, 32>>>(out, list, 1.5f);
    cudaDeviceSynchronize();
    for (int i = 0; i < 40; i++) {
        for (int k = 0; k < 7; k++)
            printf("%lld ", out[i * 8 + k]);
        printf("%lld\n", (out[i * 8 + 7] + 16) / 64);
    }
    return 0;
}
"""


class Clock(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def build(self, name, text):
        program = os.path.join(self.folder.name, name)
        with open(program + ".cu", "w") as file:
            file.write(text)
        subprocess.run([NVCC, "-O3", "-std=c++17", "-arch=sm_90", "-o", program, program + ".cu"], check=True)
        return program

    def run_it(self, *command, command_name="run"):
        done = subprocess.run([MARGAY, command_name, *command], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_events(self):
        program = self.build("events", EVENTS)
        first = self.run_it("--board", "h200", "--threads", "1", program)
        for options in (["--threads", "3"], ["--engine", "interp"], ["--engine", "quick"]):
            again = self.run_it("--board", "h200", *options, program)
            self.assertEqual(again.stdout, first.stdout, options)
        s = {name: float(value) for name, value in (line.split() for line in first.stdout.splitlines())}
        self.assertLess(s["tiled"], s["naive"])
        for name in ("naive", "tiled"): # GFLOP/s of a small product on a large device
            self.assertTrue(100 < 2 * 256**3 / s[name] * 1e-9 < 10000, (name, s[name]))
        self.assertTrue(15 < s["tiled_20"] / s["tiled"] < 21, s)
        # A stream of dependent multiply-adds: four cycles and a bit each, at 1.98 GHz.
        self.assertTrue(50000 * 4 / 1.98e9 < s["chain"] < 50000 * 6 / 1.98e9 + 2e-5, s["chain"])
        self.assertAlmostEqual(s["one_stream"] / s["chain"], 2, delta=0.1)
        self.assertAlmostEqual(s["two_streams"] / s["chain"], 1, delta=0.1)
        self.assertAlmostEqual(s["event_between"] / s["one_stream"], 1, delta=0.05)
        self.assertGreater(s["wide_streams"], 1.5 * s["wide_once"]) # each takes all of the device
        self.assertLess(s["copy_beside"], s["chain"] + 0.5 * s["copy_alone"])
        # PCIe 5.0 has 63 GB/s at most; device memory of an H200 4,800 for what is read and written.
        self.assertTrue(30e9 < 2**24 / s["pinned"] < 63e9, s["pinned"])
        self.assertLess(2**24 / s["pageable"], 0.7 * 2**24 / s["pinned"])
        self.assertTrue(300e9 < 2**24 / s["within"] < 2400e9, s["within"])
        host = self.run_it("--clock", "host", program)
        self.assertNotEqual(host.stdout, first.stdout)
        self.assertIn("as modelled", first.stderr)
        self.assertIn("the simulator's and no GPU's", host.stderr)

    def test_clocks(self):
        program = self.build("clocks", CLOCKS)
        first = self.run_it("--board", "h200", "--threads", "1", program)
        cycles = [[int(x) for x in line.split()[:7]] for line in first.stdout.splitlines()]
        for options in (["--threads", "3"], ["--engine", "interp"]):
            again = self.run_it("--board", "h200", *options, program)
            self.assertEqual([line.split()[:7] for line in again.stdout.splitlines()],
                             [line.split()[:7] for line in first.stdout.splitlines()], options)
        for fmas, shared, far, near, none, apart, spun in cycles: # about what tests/hardware/time_micro.txt has of an H200
            self.assertTrue(400 <= fmas <= 500, fmas)
            self.assertTrue(10 * 23 <= shared <= 10 * 45, shared)
            self.assertTrue(400 <= far <= 1000, far)
            self.assertTrue(30 <= near <= 80, near)
            self.assertTrue(1 <= none <= 40, none)
            self.assertTrue(150 <= apart <= 600, apart)
            self.assertTrue(20000 <= spun <= 20200, spun)
        for line in first.stdout.splitlines(): # nanoseconds by 64, of 1.98 cycles
            total = sum(int(x) for x in line.split()[:7]) / 1.98 / 64
            self.assertAlmostEqual(int(line.split()[7]), total, delta=2 + total * 0.02)
        host = self.run_it("--clock", "host", program)
        self.assertNotEqual(host.stdout, first.stdout)
        self.assertIn("clock64", first.stderr)

    def test_wrong_name(self):
        done = subprocess.run([MARGAY, "run", "--clock", "sun", "true"], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("device or host", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
