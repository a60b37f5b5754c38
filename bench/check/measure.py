#!/usr/bin/env python3
"""measure.py - what `margay check` costs beside `margay run` of the same program: processor time and memory.

    measure.py MARGAY PROGRAMS [--reps 5] [--scale 8] [--strict] [NAME...]

PROGRAMS is programs.cu, compiled. Each kernel runs under both, in turns, on one thread; the least time of each counts, and
so that the start of the process does not flatter the ratio, the time of an empty program is taken off both. Both run as
MARGAY_ENGINE says, and are interpreted unless told. Memory is the peak of the checked process beyond that
of the other. Every run must be right and without findings. --strict: status 3 if a target is missed: 4 times the time, and 3 times
the device memory and 16 bytes a byte of shared memory in flight.
"""
import argparse
import os
import subprocess
import sys

# Device memory at scale 1, bytes, and whether it grows with the scale; shared memory of the blocks in flight is one block's.
KERNELS = {"matmul": (3 * 256 * 256 * 4, False, 2048), "transpose": (2 * 2048 * 2048 * 4, False, 4224),
           "reduction": (1024 * 8 * 256 * 4, True, 1024), "histogram": (512 * 16 * 256 * 4, True, 256),
           "stream": (3 * 4096 * 256 * 16, True, 0)}


def run(margay, command, program, name, scale):
    """Processor seconds and peak bytes of one run."""
    child = subprocess.Popen([margay, command, "--threads", "1", program, name, str(scale)], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out = child.stdout.read()
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if name != "none" and (child.returncode or "right" not in out):
        sys.exit(f"measure.py: {command} {name}: status {child.returncode}\n{out}{said}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("margay")
    parser.add_argument("programs")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--scale", type=int, default=8)
    parser.add_argument("--strict", action="store_true")
    args = parser.parse_intermixed_args()
    os.environ.setdefault("MARGAY_ENGINE", "interp")
    missed = 0
    print("| kernel | margay run, s | margay check, s | ratio | memory beyond, MB | allowed, MB |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    empty = {c: min(run(args.margay, c, args.programs, "none", 1)[0] for _ in range(args.reps)) for c in ("run", "check")}
    for name in args.names or KERNELS:
        device, grows, shared = KERNELS[name]
        allowed = 3 * device * (args.scale if grows else 1) + 16 * shared + (8 << 20)  # and 8 MB for tables of any launch
        best = {}
        for _ in range(args.reps):
            for command in ("run", "check"):
                seconds, peak = run(args.margay, command, args.programs, name, args.scale)
                old = best.get(command, (seconds, peak))
                best[command] = (min(seconds, old[0]), min(peak, old[1]))
        plain, checked = best["run"][0] - empty["run"], best["check"][0] - empty["check"]
        ratio, beyond = checked / max(plain, 1e-3), best["check"][1] - best["run"][1]
        missed += ratio > 4 or beyond > allowed
        print(f"| {name} | {plain:.2f} | {checked:.2f} | {ratio:.1f} | {beyond / 1e6:.0f} | {allowed / 1e6:.0f} |", flush=True)
    return 3 if args.strict and missed else 0


sys.exit(main())
