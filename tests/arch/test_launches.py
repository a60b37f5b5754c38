#!/usr/bin/env python3
"""test_launches.py - device.cu under the drop-in runtime: the questions that were put to an H100 (h100.json) get the same
answers, and every launch that is refused is refused in words, and found by `margay check`.

    test_launches.py MARGAY LIBDIR NVCC|""
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MARGAY, LIBDIR, NVCC = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]

# of a refused launch: what the message says, and how the hint begins
WORDS = {
    "1024 threads of 68 registers": ("1024 threads with 68 registers each; the registers of a block are 65536", "launch at most 896 threads"),
    "513 threads of 128 registers": ("513 threads with 128 registers each", "launch at most 512 threads"),
    "288 threads, bounds 256": ("288 threads; its __launch_bounds__ allows 256", "use smaller blocks or larger"),
    "1025 threads": ("1025 x 1 x 1 threads; NVIDIA H100 80GB HBM3 (compute capability 9.0) allows 1024", "use smaller blocks"),
    "65 in z": ("1 x 1 x 65 threads", "use smaller blocks"),
    "a block of 0": ("a dimension of 0: grid 1 x 1 x 1, block 0 x 1 x 1", "check the numbers between <<< and >>>"),
    "a grid of 65536 in y": ("a grid of 1 x 65536 x 1 blocks", "let x be the largest"),
    "49153 bytes, not opted in": ("49153 bytes of dynamic shared memory (and 0 static); 49152 are allowed", "allow them first: cudaFuncSetAttribute"),
    "all and a byte, opted in to all": ("232449 bytes", "a block can have 232448 bytes"),
    "with 20000 static, 29153 more": ("29153 bytes of dynamic shared memory (and 20000 static); 29152 are allowed", "allow them first"),
    "together, one more": ("cooperatively with 529 blocks", "ask cudaOccupancyMaxActiveBlocksPerMultiprocessor"),
}
KINDS = {f"launch/{kind}" for kind in ("cooperative", "dimensions", "opt-in", "registers", "shared-memory", "too-many-threads")}


def main():
    if not NVCC or not os.access(NVCC, os.X_OK):
        print("skipped: nvcc is not installed")
        return 77
    device = json.loads((HERE / "h100.json").read_text())
    with tempfile.TemporaryDirectory(prefix="margay-launches-") as tmp:
        program, report = os.path.join(tmp, "device"), os.path.join(tmp, "report.json")
        subprocess.run([NVCC, "-std=c++17", "-arch=sm_90", "-o", program, HERE / "device.cu"], check=True)
        ran = subprocess.run([MARGAY, "run", "--json", report, program, "ask", str(device["count"])], check=True, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env={**os.environ, "MARGAY_LIBDIR": LIBDIR})
        errors = json.loads(pathlib.Path(report).read_text())["errors"]
        check = subprocess.run([MARGAY, "check", "--only", "launch", program, "ask", "1"], text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, "MARGAY_LIBDIR": LIBDIR})
    ours = json.loads(ran.stdout)
    compiled = [[k["name"], k["regs"], k["static"], k["barriers"], k["max_threads"]] for k in ours["kernels"]]
    failed = []
    found = set(re.findall(r"^margay: error: (launch/[\w-]+) in ", check.stderr, re.M))
    if check.returncode != 1 or found != KINDS:
        failed.append(f"margay check ends with {check.returncode} and finds {sorted(found)}, not {sorted(KINDS)}")
    if compiled != device["kernels"]:
        # another version of nvcc: the rest would differ with the registers
        print("not compared beyond launches: this nvcc compiles other kernels")
        subjects = ["launches"]
    else:
        subjects = ["launches", "potential", "available", "blocks"]
    for subject in subjects:
        if ours[subject] != device[subject]:
            pairs = zip(ours[subject].items(), device[subject].items()) if subject == "launches" else zip(ours[subject], device[subject])
            failed.append(f"{subject}, ours and the device's: {[(i, *p) for i, p in enumerate(pairs) if p[0] != p[1]][:5]}")
    told = [(e["message"], e.get("hint", "")) for e in errors]
    for what, (message, hint) in WORDS.items():
        if device["launches"][what] == 0:
            failed.append(f"{what}: the device takes it")
        if not any(message in m and h.startswith(hint) for m, h in told):
            failed.append(f"{what}: nothing says '{message}' with the hint '{hint}…'")
    refused = sum(code != 0 for what, code in device["launches"].items() if not re.search("opting in", what))
    if len(told) != refused:
        failed.append(f"{refused} launches were refused, and {len(told)} errors told")
    print(f"compared: {', '.join(f'{len(device[s])} {s}' for s in subjects)}")
    print("\n".join(failed), end="\n" if failed else "")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
