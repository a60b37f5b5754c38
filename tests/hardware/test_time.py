"""test_time.py MARGAY NVCC LADDERS - the model of time held to an H200's and an H100's times: how far off it may be.

Runs time_judge.cu, time_blind.cu, time_fresh.cu, time_host.cu and the programs of third/, which it compiles, and LADDERS (time_ladders.c, linked with the
collection) under `margay profile --time`, and compares launch by launch. The bounds are a little wider than what
docs/time.md shows.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

import time_data
import time_samples

HERE = os.path.dirname(os.path.abspath(__file__))
THIRD = ["third/" + os.path.basename(path)[:-3] for path in sorted(glob.glob(os.path.join(HERE, "third", "*.cu")))]
# board, data, programs, what may be most, what must be least
SETS = [
    ("h200", "time_judge", ["time_judge", "time_ladders"],
     {"mean": 0.1, "median": 0.075, "off_twice": 0.02, "read": 0.1, "second": 5.5, "first": 3.5},
     {"right_order": 0.972, "in_range": 0.93}),
    ("h200", "time_blind", ["time_blind"],
     {"mean": 0.15, "median": 0.1, "off_twice": 0.04, "read": 0.14, "second": 6.5, "first": 3.5},
     {"right_order": 0.96, "in_range": 0.86}),
    ("h200", "time_fresh", ["time_fresh"],
     {"mean": 0.16, "median": 0.1, "off_twice": 0.05, "read": 0.07, "second": 5.5, "first": 3},
     {"right_order": 0.94, "in_range": 0.82}),
    ("h200", "time_third", THIRD,
     {"mean": 0.2, "median": 0.15, "off_twice": 0.05, "read": 0.2, "second": 9, "first": 3.5},
     {"right_order": 0.93, "in_range": 0.74}),
    ("h200", "time_host", ["time_host"],
     {"mean": 0.25, "median": 0.17, "off_twice": 0.13},
     {"right_order": 0.9, "in_range": 0.7}),
    ("h100", "time_judge_h100", ["time_judge", "time_ladders"],
     {"mean": 0.11, "median": 0.07, "off_twice": 0.04, "read": 0.1, "second": 6.5, "first": 3.5},
     {"right_order": 0.965, "in_range": 0.9}),
    ("h100", "time_blind_h100", ["time_blind"],
     {"mean": 0.14, "median": 0.09, "off_twice": 0.03, "read": 0.14, "second": 8.5, "first": 3.5},
     {"right_order": 0.96, "in_range": 0.86}),
    ("h100", "time_fresh_h100", ["time_fresh"],
     {"mean": 0.15, "median": 0.09, "off_twice": 0.06, "read": 0.07, "second": 6.2, "first": 3},
     {"right_order": 0.935, "in_range": 0.82}),
]

# Samples of an H200 (stalls.json): the program, and what must be least.
SAMPLES = {"time_judge": {"reasons": 0.79, "same_reason": 0.84, "lines": 0.95, "same_line": 0.94},
           "time_fresh": {"reasons": 0.8, "same_reason": 0.8, "lines": 0.76, "same_line": 0.78}}


def compare_samples(folder):
    with open(os.path.join(HERE, "stalls.json")) as file:
        programs = json.load(file)["programs"]
    found = {name: time_samples.compare(programs[name], os.path.join(folder, f"{name}_h200.json")) for name in SAMPLES}
    print("\nsamples of an H200\n")
    time_samples.show(found)
    return [f"samples of {name}: {k} is {found[name][k]:.3f}, less than {v}" for name, least in SAMPLES.items()
            for k, v in least.items() if found[name][k] < v]


def main():
    margay, nvcc, ladders = sys.argv[1:4]
    if not os.access(nvcc, os.X_OK):
        sys.exit(77)
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        programs = {"time_ladders": ladders}
        os.mkdir(os.path.join(folder, "third"))
        for name in ("time_judge", "time_blind", "time_fresh", "time_host", *THIRD):
            programs[name] = os.path.join(folder, name)
            subprocess.run([nvcc, "-O3", "-std=c++17", "-arch=sm_90", "-lineinfo", "-o", programs[name],
                            os.path.join(HERE, name + ".cu")], check=True)
        for board, name, parts, most, least in SETS:
            reports = {part: os.path.join(folder, f"{part}_{board}.json") for part in parts}
            for part, report in reports.items():
                subprocess.run([margay, "profile", "--time", "--quiet", "--board", board, "--output", os.devnull, "--json",
                                report, programs[part]], check=True, stdout=subprocess.DEVNULL)
            print(f"\n{name}, an {board.upper()}\n")
            with open(os.path.join(HERE, name + ".json")) as file:
                found = time_data.compare(json.load(file), reports, 20)
            wrong += [f"{name}: {k} is {found[k]:.3f}, more than {v}" for k, v in most.items() if found[k] > v]
            wrong += [f"{name}: {k} is {found[k]:.3f}, less than {v}" for k, v in least.items() if found[k] < v]
        wrong += compare_samples(folder)
    sys.exit("\n".join(wrong) or 0)


main()
