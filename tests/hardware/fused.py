#!/usr/bin/env python3
"""fused.py - results of expressions whose roundings ptxas decides, as digests: on a GPU, or held to those under Margay.

    fused.py write > expressions.cu                    the program: kernels made up with a fixed seed, and fused.cases
    fused.py digests > tests/hardware/fused.txt        on a machine with a GPU: built and run as BUILDS say
    fused.py check MARGAY NVCC FUSED_TXT [--engine E]  the same under `margay run`, compared; 77 if there is no fused.txt

A kernel of C++ has a handful of statements on values of one type, products and sums of them, in arms and loops too; the
ones of PTX are those of tests/simt/fused.cases in asm statements. 1,024 threads each, inputs from a half to two with all
digits at random; a digest is FNV-1a over all results of a kernel.
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "..", "simt", "fused.cases")
TYPES = ["float", "double", "__half", "__half2", "__nv_bfloat16", "__nv_bfloat162"]
BUILDS = {"default": [], "ftz": ["-ftz=true"], "apart": ["-fmad=false"]}
KERNELS = 12  # of each type
# kind of fused.cases: the C++ type of its bits, asm constraint, type of a register
STORED = {"f32": ("float", "f", "f32"), "f64": ("double", "d", "f64"), "f16x2": ("unsigned", "r", "b32"),
          "bf16x2": ("unsigned", "r", "b32")}

HEAD = r"""#include <cstdio>
#include <cstring>
#include <vector>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
enum { THREADS = 1024, INPUTS = 8, OUTPUTS = 16 };
static unsigned long long mixed(unsigned long long x)
{
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ull;
    return x ^ x >> 32;
}
static unsigned long long number(unsigned long long r, int width, int digits, int bias) // one of `width` bits
{
    unsigned long long fraction = r & ((1ull << (digits - 1)) - 1), exponent = (unsigned long long)bias - (r >> 60 & 1);
    return fraction | exponent << (digits - 1) | (r >> 61 & 1) << (width - 1);
}
static void run(const char *name, void (*kernel)(const char *, char *), int width, int digits, int bias, int halves)
{
    std::vector<unsigned long long> in(THREADS * INPUTS), out(THREADS * OUTPUTS);
    for (size_t i = 0; i < in.size(); i++)
        for (int h = 0; h < halves; h++)
            in[i] |= number(mixed(i * 2 + h + 1), width, digits, bias) << width * h;
    char *a, *b;
    cudaMalloc(&a, in.size() * 8);
    cudaMalloc(&b, out.size() * 8);
    cudaMemcpy(a, in.data(), in.size() * 8, cudaMemcpyHostToDevice);
    cudaMemset(b, 0, out.size() * 8);
    kernel<<<THREADS / 128, 128>>>(a, b);
    cudaMemcpy(out.data(), b, out.size() * 8, cudaMemcpyDeviceToHost);
    cudaError_t error = cudaGetLastError();
    unsigned long long digest = 14695981039346656037ull;
    for (unsigned char *p = (unsigned char *)out.data(), *end = p + out.size() * 8; p < end; p++)
        digest = (digest ^ *p) * 1099511628211ull;
    printf("%s %016llx%s\n", name, digest, error ? " failed" : "");
    cudaFree(a);
    cudaFree(b);
}
#define GLOBAL extern "C" __global__ void
#define AT int i = blockIdx.x * blockDim.x + threadIdx.x; in += 64 * i; out += 128 * i;
"""
SHAPE = {"float": "32, 24, 127, 1", "double": "64, 53, 1023, 1", "__half": "16, 11, 15, 1", "__half2": "16, 11, 15, 2",
         "__nv_bfloat16": "16, 8, 127, 1", "__nv_bfloat162": "16, 8, 127, 2", "f32": "32, 24, 127, 1",
         "f64": "64, 53, 1023, 1", "f16x2": "16, 11, 15, 2", "bf16x2": "16, 8, 127, 2"}


def expression(rng, values, depth):
    if depth == 0 or rng.random() < .2:
        return rng.choice(values)
    a, b = expression(rng, values, depth - 1), expression(rng, values, depth - 1)
    if rng.random() < .5:
        return f"{a} * {b}" if re.match(r"\w+$", a + b) else f"({a}) * ({b})"
    return f"({a} {rng.choice('+-')} {b})" if rng.random() < .85 else f"(-({a} - {b}))"


def function(rng, name, kind):
    values, lines = [f"v{k}" for k in range(8)], []
    for number in range(rng.randint(3, 7)):
        what, new = rng.random(), f"t{number}"
        e = expression(rng, values, 2)
        if what < .6:
            lines.append(f"{kind} {new} = {e};")
        elif what < .8:
            lines.append(f"{kind} {new} = {rng.choice(values)}; if (i & {1 << rng.randrange(4)}) "
                         f"{{ {kind} s = {e}; {new} = {expression(rng, values + ['s'], 2)}; }}")
        else:
            lines.append(f"{kind} {new} = {rng.choice(values)};\n#pragma unroll 1\n    for (int n = 0; n < 3; n++) "
                         f"{{ {kind} s = {expression(rng, values + [new], 1)}; {new} = s - {new} * {rng.choice(values)}; }}")
        values.append(new)
    load = "\n    ".join(f"{kind} v{k} = *({kind} *)(in + {8 * k});" for k in range(8))
    store = "\n    ".join(f"*({kind} *)(out + {8 * k}) = {v};" for k, v in enumerate(values[8:]))
    return f"GLOBAL {name}(const char *in, char *out)\n{{\n    AT {load}\n    " + "\n    ".join(lines) + f"\n    {store}\n}}\n"


def statement(name, kind, body, results):
    stored, letter, register = STORED[kind]
    n = len(results)
    text = [f"{{ .reg .{register} v<8>, t<12>;"] + [f"mov.{register} v{k}, %{n + k};" for k in range(8)]
    text += body + [f"mov.{register} %{k}, {r};" for k, r in enumerate(results)] + ["}"]
    lines = "\n        ".join(f'"{line}\\n"' for line in text)
    ins = ", ".join(f'"{letter}"(*({stored} *)(in + {8 * k}))' for k in range(8))
    outs = ", ".join(f'"={letter}"(o[{k}])' for k in range(n))
    stores = " ".join(f"*({stored} *)(out + {8 * k}) = o[{k}];" for k in range(n))
    return f"GLOBAL {name}(const char *in, char *out)\n{{\n    AT {stored} o[{n}];\n    asm volatile({lines}\n" \
           f"        : {outs} : {ins} : \"memory\");\n    {stores}\n}}\n"


def cases():
    out = []
    with open(CASES) as f:
        for line in f.read().splitlines():
            if line.startswith("case "):
                out.append((line[5:], [], []))
            elif line.startswith("= "):
                out[-1][2].append(line.split()[1])
            elif not line.startswith("#"):
                out[-1][1].append(line)
    return out


def write():
    parts, calls = [HEAD], []
    for kind in TYPES:
        rng = random.Random(f"7 {kind}")
        for number in range(KERNELS):
            name = f"{kind.strip('_')}_{number}"
            parts.append(function(rng, name, kind))
            calls.append(f'    run("{name}", {name}, {SHAPE[kind]});')
    for number, (kind, body, results) in enumerate(cases()):
        name = f"ptx_{kind}_{number}"
        parts.append(statement(name, kind, body, results))
        calls.append(f'    run("{name}", {name}, {SHAPE[kind]});')
    return "\n".join(parts) + "int main()\n{\n" + "\n".join(calls) + "\n    return 0;\n}\n"


def digests(nvcc, command, out, builds):
    """One line a kernel and build: `build name digest`."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "expressions.cu")
        with open(source, "w") as f:
            f.write(write())
        running = {b: subprocess.Popen([nvcc, "-arch=sm_90", "-cudart", "shared", "-diag-suppress", "177", *BUILDS[b],
                                        source, "-o", os.path.join(folder, b)]) for b in builds}
        for build, process in running.items():
            if process.wait():
                sys.exit(f"nvcc failed for {build}")
            said = subprocess.run(command + [os.path.join(folder, build)], check=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
            out += [f"{build} {line}" for line in said.stdout.splitlines()]
    return out


def check(options):
    if not os.path.exists(options.digests):
        print(f"no {options.digests}: fused.py digests makes it on a machine with a GPU")
        return 77
    with open(options.digests) as f:
        want = [line for line in f.read().splitlines() if line and line[0] != "#"]
    command = [options.margay, "run"] + (["--engine", options.engine] if options.engine else [])
    builds = [b for b in BUILDS if any(line.startswith(b + " ") for line in want)]
    have = digests(options.nvcc, command, [], builds)
    differ = sorted(set(want) ^ set(have))
    for line in differ[:20]:
        print("expected" if line in want else "got     ", line)
    print(f"{len(want)} digests, {len(set(want) - set(have))} differ")
    return 1 if differ or not want else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sub = parser.add_subparsers(dest="what", required=True)
    sub.add_parser("write")
    sub.add_parser("digests").add_argument("--nvcc", default="nvcc")
    held = sub.add_parser("check")
    for name in ("margay", "nvcc", "digests"):
        held.add_argument(name)
    held.add_argument("--engine")
    options = parser.parse_args()
    if options.what == "write":
        print(write(), end="")
        return 0
    if options.what == "check":
        return check(options)
    gpu = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], check=True,
                         stdout=subprocess.PIPE, text=True).stdout.splitlines()[0]
    version = subprocess.run([options.nvcc, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout
    today = subprocess.run(["date", "+%F"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    print(f"# {gpu}, nvcc {re.search(r'V([0-9.]+)', version)[1]}, {today}")
    print("\n".join(digests(options.nvcc, [], [], list(BUILDS))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
