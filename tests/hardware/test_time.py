"""test_time.py MARGAY NVCC LADDERS - the model of time held to the times of time_judge.json and time_blind.json: how far
off it may be.

Runs time_judge.cu and time_blind.cu, which it compiles, and LADDERS (time_ladders.c, linked with the collection) under
`margay profile --time`, and compares launch by launch. The bounds are a little wider than what docs/time.md shows.
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
BLIND_MOST = {"mean": 0.18, "median": 0.1, "off_twice": 0.06, "read": 0.15, "second": 7, "first": 4}
BLIND_LEAST = {"right_order": 0.95, "in_range": 0.8}


def load(name):
    with open(os.path.join(HERE, name)) as file:
        return json.load(file)


def main():
    margay, nvcc, ladders = sys.argv[1:4]
    if not os.access(nvcc, os.X_OK):
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        programs = {"time_ladders": ladders}
        for name in ("time_judge", "time_blind"):
            programs[name] = os.path.join(folder, name)
            subprocess.run([nvcc, "-O3", "-std=c++17", "-arch=sm_90", "-lineinfo", "-o", programs[name],
                            os.path.join(HERE, name + ".cu")], check=True)
        reports = {name: os.path.join(folder, name + ".json") for name in programs}
        for name, program in programs.items():
            subprocess.run([margay, "profile", "--time", "--quiet", "--board", "h200", "--output", os.devnull, "--json",
                            reports[name], program], check=True, stdout=subprocess.DEVNULL)
        blind = {"time_blind": reports.pop("time_blind")}
        found = time_data.compare(load("time_judge.json"), {k: reports[k] for k in ("time_judge", "time_ladders")}, 20)
        print()
        seen = time_data.compare(load("time_blind.json"), blind, 20)
    wrong = []
    for what, most, least in ((found, MOST, LEAST), (seen, BLIND_MOST, BLIND_LEAST)):
        name = "time_blind" if what is seen else "time_judge"
        wrong += [f"{name}: {k} is {what[k]:.3f}, more than {v}" for k, v in most.items() if what[k] > v]
        wrong += [f"{name}: {k} is {what[k]:.3f}, less than {v}" for k, v in least.items() if what[k] < v]
    sys.exit("\n".join(wrong) or 0)


main()
