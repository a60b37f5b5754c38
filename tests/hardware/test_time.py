"""test_time.py MARGAY NVCC LADDERS - the model of time held to the times of time_judge.json: how far off it may be.

Runs time_judge.cu, which it compiles, and LADDERS (time_ladders.c, linked with the collection) under `margay profile
--time`, and compares launch by launch. The bounds are a little wider than what docs/time.md shows.
"""
import json
import os
import subprocess
import sys
import tempfile

import time_data

HERE = os.path.dirname(os.path.abspath(__file__))
MOST = {"mean": 0.13, "median": 0.09, "off_twice": 0.03, "read": 0.13, "second": 6, "first": 4}
LEAST = {"right_order": 0.965, "in_range": 0.88}


def main():
    margay, nvcc, ladders = sys.argv[1:4]
    if not os.access(nvcc, os.X_OK):
        sys.exit(77)
    with open(os.path.join(HERE, "time_judge.json")) as file:
        data = json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        judge = os.path.join(folder, "time_judge")
        subprocess.run([nvcc, "-O3", "-std=c++17", "-arch=sm_90", "-lineinfo", "-o", judge,
                        os.path.join(HERE, "time_judge.cu")], check=True)
        reports = {"time_judge": os.path.join(folder, "judge.json"), "time_ladders": os.path.join(folder, "ladders.json")}
        for name, program in (("time_judge", judge), ("time_ladders", ladders)):
            subprocess.run([margay, "profile", "--time", "--quiet", "--board", "h200", "--output", os.devnull, "--json",
                            reports[name], program], check=True, stdout=subprocess.DEVNULL)
        found = time_data.compare(data, reports, 20)
    wrong = [f"{k} is {found[k]:.3f}, more than {v}" for k, v in MOST.items() if found[k] > v]
    wrong += [f"{k} is {found[k]:.3f}, less than {v}" for k, v in LEAST.items() if found[k] < v]
    sys.exit("\n".join(wrong) or 0)


main()
