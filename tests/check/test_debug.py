#!/usr/bin/env python3
"""test_debug.py - margay check on code without optimisation (nvcc -G), where atomics, shuffles and barriers are functions of the
toolkit's headers: MARGAY NVCC

A kernel's comment names the kind of its one finding and the letters of the lines that it must name, or says "nothing".
"""
import json
import os
import re
import subprocess
import sys
import tempfile

PROGRAM = """\
#include <cooperative_groups.h>
#include <cstdlib>
// sum_by_swap: nothing
__global__ void sum_by_swap(unsigned long long *out)
{
    unsigned long long old = *out, expected;
    do {
        expected = old;
        old = atomicCAS(out, expected, __double_as_longlong(1 + __longlong_as_double(expected)));
    } while (old != expected);
}
// clear_then_count: write-write A B
__global__ void clear_then_count(unsigned long long *out)
{
    __shared__ unsigned bins[64];
    bins[threadIdx.x] = 0; // B
    atomicAdd(&bins[threadIdx.x * 7 % 64], 1u); // A
    __syncthreads();
    out[threadIdx.x] = bins[threadIdx.x];
}
// half_shuffles: mask A
__global__ void half_shuffles(unsigned long long *out)
{
    unsigned v = threadIdx.x;
    if (threadIdx.x % 32 < 16)
        v = __shfl_xor_sync(0xffffffff, v, 1); // A
    out[threadIdx.x] = v;
}
// half_meet: mask A
__global__ void half_meet(unsigned long long *out)
{
    if (threadIdx.x % 32 < 16)
        __syncwarp(0xffffffff); // A
    out[threadIdx.x] = 1;
}
static __device__ void put(unsigned long long *at, unsigned value)
{
    *at = value; // A
}
// by_a_helper: write-write A
__global__ void by_a_helper(unsigned long long *out)
{
    put(out, threadIdx.x);
}
// tile_reduces: nothing
__global__ void tile_reduces(unsigned long long *out)
{
    namespace cg = cooperative_groups;
    cg::thread_block_tile<16> tile = cg::tiled_partition<16>(cg::this_thread_block());
    unsigned v = threadIdx.x;
    for (int d = 8; d; d /= 2)
        v += tile.shfl_down(v, d);
    tile.sync();
    if (tile.thread_rank() == 0)
        out[threadIdx.x] = v;
}
int main(int argc, char **argv)
{
    void (*const kernels[])(unsigned long long *) = {sum_by_swap, clear_then_count, half_shuffles, half_meet, by_a_helper, tile_reduces};
    unsigned long long *out;
    cudaMalloc(&out, 1024);
    cudaMemset(out, 0, 1024);
    kernels[atoi(argv[1])]<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    return cudaFree(out);
}
"""


def main():
    margay, nvcc = sys.argv[1:3]
    if not os.access(nvcc, os.X_OK):
        sys.exit(77)
    names = re.search(r"kernels\[\].*\{(.*)\};", PROGRAM).group(1).split(", ")
    wanted = dict(re.findall(r"^// (\w+): (.*)$", PROGRAM, re.M))
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        source, program, report = (os.path.join(folder, name) for name in ("debug.cu", "debug", "report.json"))
        with open(source, "w") as file:
            file.write(PROGRAM)
        subprocess.run([nvcc, "-w", "-G", "-arch=sm_80", "-o", program, source], check=True)
        for number, name in enumerate(names):
            subprocess.run([margay, "check", "--quiet", "--json", report, program, str(number)], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            with open(report) as file:
                found = [(f["kind"], f["line"], f.get("other_line", 0)) for f in json.load(file)["findings"]]
            kind, *letters = wanted[name].split()
            begin = PROGRAM.index(f"// {name}:") if name != "by_a_helper" else PROGRAM.index("static __device__ void put")
            lines = [PROGRAM[:PROGRAM.index(f"// {letter}", begin + 3)].count("\n") + 1 for letter in letters]
            good = not found if kind == "nothing" else \
                len(found) == 1 and found[0][0] == kind and all(line in found[0][1:] for line in lines)
            if not good:
                print(f"FAULT {name}: {found}, and not {kind} {lines}")
                wrong += 1
    print(f"{len(names)} kernels, {wrong} wrong")
    sys.exit(wrong != 0)


main()
