#!/usr/bin/env python3
"""test_places.py - lines and registers as the user has them, of a program that nvcc compiled without -arch. MARGAY NVCC

What an atomic, a half and a load of the toolkit's headers do stands at the line that called them: in profile, in advise, in
errors and in findings. And the registers are those that ptxas gives the PTX for the simulated device, not those of the machine
code for an older one that is in the program: as `margay occupancy --kernel` says, and as nvcc -arch=sm_90 would have.
"""
import json
import os
import subprocess
import sys
import tempfile

PROGRAM = """\
#include <cstdio>
#include <cuda_fp16.h>
__global__ void headers(const __half *a, __half *b, unsigned *n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = __hadd(a[i],
                  __ldg(b + 262143 - i));
    atomicAdd(n, 1u);
}
__global__ void tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float x[16][16], y[16][16];
    int r = blockIdx.y * 16 + threadIdx.y, k = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < n; i += 16) {
        x[threadIdx.y][threadIdx.x] = a[r * n + i + threadIdx.x];
        y[threadIdx.y][threadIdx.x] = b[(i + threadIdx.y) * n + k];
        __syncthreads();
        for (int j = 0; j < 16; j++)
            sum += x[threadIdx.y][j] * y[j][threadIdx.x];
        __syncthreads();
    }
    c[r * n + k] = sum;
}
__global__ void beyond(const float *p)
{
    if (__ldg(p + (1ull << 40)) == 1)
        __trap();
}
int main(int argc, char **)
{
    float *a, *b, *c;
    cudaMalloc(&a, 1 << 20);
    cudaMalloc(&b, 1 << 20);
    cudaMalloc(&c, 1 << 20);
    cudaMemset(a, 0, 1 << 20);
    cudaMemset(b, 0, 1 << 20);
    cudaMemset(c, 0, 1 << 20);
    headers<<<1024, 256>>>((const __half *)a, (__half *)b, (unsigned *)c);
    tiled<<<dim3(8, 8), dim3(16, 16)>>>(a, b, c, 128);
    cudaDeviceSynchronize();
    if (argc > 1)
        beyond<<<1, 1>>>(a);
    printf("%s\\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
"""
margay, nvcc = os.path.abspath(sys.argv[1]), sys.argv[2]
with tempfile.TemporaryDirectory() as top:
    top = os.path.realpath(top)
    source, program = os.path.join(top, "p.cu"), os.path.join(top, "p")
    with open(source, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    subprocess.run([nvcc, "-w", "-lineinfo", "-o", program, source], check=True)

    def take(command, *args):
        env = {**os.environ, "MARGAY_CACHE": os.path.join(top, "cache")}
        done = subprocess.run([margay, command, *args], cwd=top, env=env, capture_output=True, encoding="utf-8")
        return done.stdout, done.stderr

    def report(command):
        name = os.path.join(top, "r.json")
        take(command, "--json", name, program)
        with open(name, encoding="utf-8") as file:
            return json.load(file)

    lines = [(line["file"], line["line"]) for launch in report("profile")["launches"] for line in launch["lines"] if line["line"]]
    assert {file for file, _ in lines} == {source}, lines
    assert {(source, 6), (source, 7), (source, 8)} <= set(lines), lines
    advice = {a["kernel"].split("(")[0]: a for a in report("advise")["advice"]}
    assert {s["file"] for a in advice.values() for s in a["sites"]} == {source}
    assert advice["headers"]["advice"][0]["line"] == 8, advice["headers"]["advice"]
    said = take("run", program, "beyond")[1]
    assert "p.cu:27" in said, said

    said = take("occupancy", "--json", "--kernel", program + ":tiled", "--threads", "256")[0]
    wanted = json.loads(said)
    regs = wanted["regs"]
    assert advice["tiled"]["regs"] == regs, (advice["tiled"]["regs"], said)
    assert advice["tiled"]["regs_exact"] and advice["tiled"]["regs_from"] == "ptxas for 9.0"
    assert advice["tiled"]["occupancy"]["warps"] == 64, advice["tiled"]["occupancy"]
    again = {a["kernel"].split("(")[0]: a for a in report("advise")["advice"]} # now from what was kept
    assert again["tiled"]["regs"] == regs and again["tiled"]["regs_from"] == "ptxas for 9.0", again["tiled"]
    new = os.path.join(top, "new")
    subprocess.run([nvcc, "-w", "-arch=sm_90", "-o", new, source], check=True)
    program = new
    same = {a["kernel"].split("(")[0]: a for a in report("advise")["advice"]}
    assert same["tiled"]["regs"] == regs and same["tiled"]["regs_from"] == "machine code for 9.0", same["tiled"]["regs"]
