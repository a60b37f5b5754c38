#!/usr/bin/env python3
"""device.py - makes what device.sh brought back into the file that the tests read, tests/arch/h100.json.

    tests/arch/device.py OUT > tests/arch/h100.json

One line a subject, so that a difference between two recordings can be read.
"""
import csv
import json
import pathlib
import re
import sys

# launch__occupancy_limit_…, in the order of a row, and what else says where the limits come from
COLUMNS = ["launch__occupancy_limit_blocks", "launch__occupancy_limit_warps", "launch__occupancy_limit_registers",
           "launch__occupancy_limit_shared_mem", "launch__occupancy_limit_barriers", "launch__shared_mem_config_size",
           "sm__maximum_warps_per_active_cycle_pct"]


def number(text):
    value = float(text.replace(",", "") or "nan")
    return int(value) if value.is_integer() else value


def profiled(path):
    """[number of the configuration, then COLUMNS] of each launch that ncu saw, in order."""
    lines = path.read_text(errors="replace").splitlines()
    table = [line for line in lines if line.startswith('"')]
    launched = [int(line) for line in lines if re.fullmatch(r"\d+", line)]
    rows = list(csv.DictReader(table))
    units, rows = rows[0], rows[1:]
    if units["ID"]:
        sys.exit("device.py: the second line of ncu's table should hold the units")
    if len(rows) != len(launched):
        sys.exit(f"device.py: {len(launched)} launches, but ncu has {len(rows)}")
    missing = [c for c in COLUMNS if c not in units]
    print(f"device.py: {len(rows)} launches; not in ncu's table: {missing}", file=sys.stderr)
    return [[i] + [number(row[c]) if c in row else None for c in COLUMNS] for i, row in zip(launched, rows)]


def main():
    out = pathlib.Path(sys.argv[1])
    data = json.loads((out / "ask.json").read_text())
    log = (out / "log.txt").read_text().splitlines()
    data["date"] = next(line for line in log if re.fullmatch(r"\d{4}-\d\d-\d\d", line))
    data["ncu_version"] = next((line for line in log if line.startswith("Version")), "")
    data["kernels"] = [[k["name"], k["regs"], k["static"], k["barriers"], k["max_threads"]] for k in data["kernels"]]
    data["ncu_columns"] = COLUMNS
    data["ncu"] = profiled(out / "ncu.csv")
    print("{" + ",\n".join(f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in data.items()) + "}")


if __name__ == "__main__":
    main()
