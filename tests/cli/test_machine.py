"""`margay profile` beside a disassembler: which lines it says ptxas changed. test_machine.py MARGAY NVCC

A stand-in for nvdisasm, a shell script, shows how it is called and prints what the case wants; where the real one is
installed, its listing of the same program is held against what ptxas is known to do with it.
"""
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile

PROGRAM = r"""
#include <cstdio>
__global__ void tails(int *p, const int *trips, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, trip = trips[threadIdx.x];
    for (int k = 0; k < trip; k++)
        p[k * n + i] = k; // TRIPS
}
__global__ void arms(int *p, const int *q)
{
    int i = threadIdx.x;
    if (q[i] & 1) // IF
        asm volatile("st.global.u32 [%0], %1;" ::"l"(p + i), "r"(i) : "memory"); // ARM
    p[i + 32] = 1; // BOTH
}
__global__ void never(int *p) { p[0] = 1; }
int main(int argc, char **argv)
{
    int *p, *trips, host[32];
    for (int i = 0; i < 32; i++)
        host[i] = i == 0 ? 33 : 4;
    cudaMalloc(&p, 64 * 64 * sizeof(int));
    cudaMalloc(&trips, sizeof host);
    cudaMemcpy(trips, host, sizeof host, cudaMemcpyHostToDevice);
    if (argc > 1)
        tails<<<1, 32>>>(p, trips, 64);
    host[3] = 1;
    cudaMemcpy(trips, host, sizeof host, cudaMemcpyHostToDevice);
    arms<<<1, 32>>>(p, trips);
    if (argc > 2)
        never<<<1, 1>>>(p);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
"""

failures = []


def check(good, message):
    if not good:
        failures.append(message)


def line_of(mark):
    return next(n for n, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("// " + mark))


def stand_in(folder, script):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "nvdisasm")
    with open(path, "w") as file:
        file.write("#!/bin/sh\n" + script)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return folder


def profile(margay, program, path, *args, device=()):
    report = os.path.join(os.path.dirname(program), "report.json")
    temporary = os.path.join(os.path.dirname(program), "tmp")
    os.makedirs(temporary, exist_ok=True)
    environment = dict(os.environ, PATH=path + os.pathsep + "/usr/bin:/bin", TMPDIR=temporary, NVCC="/bin/true")
    done = subprocess.run([margay, "profile", *device, "--json", report, program, *args], env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    check(done.returncode == 0 and done.stdout == "no error\n", f"{done.returncode}: {done.stdout}{done.stderr}")
    check(not os.listdir(temporary), f"left behind: {os.listdir(temporary)}")
    with open(report) as file:
        return done.stderr, json.load(file)


def main():
    margay, nvcc = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as work:
        source, program = os.path.join(work, "arms.cu"), os.path.join(work, "arms")
        with open(source, "w") as file:
            file.write(PROGRAM)
        subprocess.run([nvcc, "-O3", "-arch=sm_90", "-lineinfo", "-o", program, source], check=True)

        nothing = os.path.join(work, "nothing")
        os.makedirs(nothing)
        if not os.path.exists("/usr/local/cuda/bin/nvdisasm") and not shutil.which("nvdisasm", path="/usr/bin:/bin"):
            text, report = profile(margay, program, nothing, "1")
            check("ptxas" not in text and "machine_code" not in report, f"without nvdisasm: {text}")

        # The stand-in keeps what it was given: the code of the launched kernel alone is asked for.
        kept = os.path.join(work, "kept")
        os.makedirs(kept)
        listing = (f'printf \'\\t.section\\t.text._Z4armsPiPKi,"ax",@progbits\\n\'\n'
                   f'printf \'\\t//## File "{source}", line {line_of("IF")}\\n\'\n'
                   "printf '        /*0030*/    LDG.E R0, desc[UR4][R2.64] ;\\n'\n"
                   f'printf \'\\t//## File "{source}", line {line_of("ARM")}\\n\'\n'
                   "printf '        /*0040*/    @P0 STG.E desc[UR4][R2.64], R0 ;\\n'\n"
                   f'printf \'\\t//## File "{source}", line {line_of("BOTH")}\\n\'\n'
                   "printf '        /*0050*/    STG.E desc[UR4][R2.64], R0 ;\\n        /*0060*/    STG.E x ;\\n'\n")
        keep = f'echo "$@" >>{kept}/args\nfor last; do :; done\ncp "$last" {kept}/k.cubin\n'
        text, report = profile(margay, program, stand_in(os.path.join(work, "one"), keep + listing))
        with open(os.path.join(kept, "args")) as file:
            args = file.read().split()
        check(args[:3] == ["-gi", "-c", "-fun"] and args[3].isdigit() and len(args) == 5, f"called with {args}")
        with open(os.path.join(kept, "k.cubin"), "rb") as file:
            check(file.read(4) == b"\177ELF", "it was given no ELF file")
        got = [(c["mangled"], c["file"], c["line"], c["change"], c["what"], c["written"], c["made"])
               for c in report.get("machine_code", [])]
        check(got == [("_Z4armsPiPKi", source, line_of("ARM"), "predicated", "accesses", 0, 1),
                      ("_Z4armsPiPKi", source, line_of("BOTH"), "more", "stores", 1, 2)], f"machine code: {got}")
        check(f"arms.cu:{line_of('ARM')}  under a predicate" in text, f"not told: {text}")
        check(f"arms.cu:{line_of('BOTH')}  stores: 1 in PTX, 2 in machine code" in text, f"not told: {text}")
        profile(margay, program, stand_in(os.path.join(work, "two"), keep), "1")
        with open(os.path.join(kept, "args")) as file:
            check(len(file.read().splitlines()[-1].split()[3].split(",")) == 2, "two kernels were launched")

        # What fails says nothing: a tool that fails, one that prints something else, no code for the device.
        for name, script in ("fails", listing + "exit 1\n"), ("dies", "kill -9 $$\n"), ("other", "echo hello\n"):
            text, report = profile(margay, program, stand_in(os.path.join(work, name), script))
            check("ptxas" not in text and "machine_code" not in report, f"{name}: {text}")
        subprocess.run([nvcc, "-arch=compute_80", "-code=compute_80", "-lineinfo", "-o", program + "80", source], check=True)
        text, report = profile(margay, program + "80", stand_in(os.path.join(work, "ptx"), listing))
        check("ptxas" not in text and "machine_code" not in report, f"PTX alone: {text}")

        real = shutil.which("nvdisasm") or shutil.which("nvdisasm", path="/usr/local/cuda/bin")
        if real:
            text, report = profile(margay, program, os.path.dirname(real), "1")
            got = {(c["line"], c["change"], c["what"]): c for c in report.get("machine_code", [])}
            check((line_of("ARM"), "predicated", "accesses") in got, f"the arm is not told: {got}")
            check(not any(line == line_of("BOTH") for line, _, _ in got), f"a line without a change is told: {got}")
            check((line_of("TRIPS"), "more", "stores") in got, f"the loop's copies are not told: {got}")
        else:
            print("no nvdisasm: its own listing is not looked at")
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
