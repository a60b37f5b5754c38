#!/usr/bin/env python3
"""measure.py MARGAY [NVCC] [--reps 3] [--strict] - what the model of time costs beside counting alone.

Runs the launches of tests/hardware/time_fit.cu under `margay profile` with and without --time, in turns, and prints the least
processor time of each, and their ratio. --strict: status 3 if it is more than 3, the target.
"""
import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/hardware/time_fit.cu")
TARGET = 3


def run(margay, program, *options):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([margay, "profile", "--quiet", "--board", "h200", "--output", os.devnull, *options, program], check=True,
                   stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("margay")
    parser.add_argument("nvcc", nargs="?", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--strict", action="store_true")
    args = parser.parse_args()
    if not os.access(args.nvcc, os.X_OK):
        sys.exit("measure.py: no nvcc")
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "time_fit")
        subprocess.run([args.nvcc, "-O3", "-std=c++17", "-arch=sm_90", "-o", program, SOURCE], check=True)
        plain, timed = (min(times) for times in zip(*[(run(args.margay, program), run(args.margay, program, "--time"))
                                                      for _ in range(args.reps)]))
    print("| | counting, s | with --time, s | ratio | target |\n| --- | ---: | ---: | ---: | ---: |")
    print(f"| the model of time, 287 launches | {plain:.1f} | {timed:.1f} | {timed / plain:.2f} | {TARGET} |")
    sys.exit(3 if args.strict and timed > TARGET * plain else 0)


main()
