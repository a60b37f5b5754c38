#!/usr/bin/env python3
"""measure.py BENCH_ENGINE [--workers N] [--reps N] [--rows NAME,NAME] [-- options of bench_engine] - what more cores bring.

For each row: how many times faster a launch with N workers is than with one (median of the rounds' own ratios), and, as the
peer, how much work N processes of one worker each do that run side by side, each on its own processor, beside one alone
(medians). Processes share nothing but the machine: what they lose is its clock and its caches, and no engine's.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

ROWS = "matmul_naive_1024,matmul_tiled_1024,matmul_tiled,stencil_f64,wave3d,particles,priority_queue,spmv,string_match,aes"


def command(args, row, contenders, workers, path):
    return [args.bench, "--only", row, "--contenders", contenders, "--threads", str(workers), "--reps", str(args.reps),
            "--json", path, *args.options]


def row_of(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)["kernels"][0]


def median(values):
    return sorted(values)[len(values) // 2]


def side_by_side(args, row, folder, processors):
    """The median time of each of as many processes as there are processors."""
    path = os.path.join(folder, "p%d.json")
    running = [subprocess.Popen(command(args, row, "models", 1, path % p), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                preexec_fn=lambda p=p: os.sched_setaffinity(0, {p})) for p in processors]
    if any([p.wait() not in (0, 3) for p in running]):
        sys.exit(f"measure.py: {row}: a process failed")
    return [row_of(path % p)["margay_models"]["median_s"] for p in processors]


def main():
    processors = sorted(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(description="what more cores bring")
    parser.add_argument("bench")
    parser.add_argument("--workers", type=int, default=len(processors))
    parser.add_argument("--reps", type=int, default=9)
    parser.add_argument("--rows", default=ROWS)
    parser.add_argument("options", nargs="*")
    args = parser.parse_args()
    if not 2 <= args.workers <= len(processors):
        sys.exit(f"measure.py: 2 to {len(processors)} workers, as this process has so many processors")
    print(f"| kernel | one worker | {args.workers} workers | {args.workers} processes |\n| --- | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "row.json")
        for row in args.rows.split(","):
            subprocess.run(command(args, row, "models,threads", args.workers, path), check=False, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            several = row_of(path)
            alone = side_by_side(args, row, folder, processors[:1])[0]
            together = median(side_by_side(args, row, folder, processors[:args.workers]))
            print(f"| {row} | {alone * 1e3:.1f} ms | {several['speed_up']:.1f} | {args.workers * alone / together:.1f} |", flush=True)


main()
