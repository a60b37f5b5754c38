"""Holds the counters of this folder's programs to those that an H100 gave: test_counters.py MARGAY NVCC COUNTERS.JSON NAME...

NAME is a program of counters.json: NAME.cu here or in examples/. It is built as collect.sh builds it and run under
`margay profile --json`; each launch must agree in kernel, grid, block and in the counters below, to the last digit. NAME
"lanes" is lanes.cu: each launch that the device made, by operation and pattern. NAME "passes" is passes.cu with passes.txt.

What is known to differ is in `differs.json`: [{"program", "kernel", "metric", "reason"}]. An entry that no longer differs in
any launch fails the test, so that the list stays true; so does one without a reason.

Exit status 0: all agree; 1: not; 77: counters.json is not there (the programs were not yet run on a device).
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COMPARED = [
    "memory_l1_wavefronts_shared",
    "memory_l1_wavefronts_shared_ideal",
    "memory_l2_theoretical_sectors_global",
    "memory_l2_theoretical_sectors_global_ideal",
    *(f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum" for what in ("requests", "sectors") for op in ("ld", "st", "red", "atom")),
    "launch__shared_mem_per_block_static",
    "launch__shared_mem_per_block_dynamic",
]


def kernel_name(text):
    return re.sub(r"\([a-z ]+\)(?=\d)", "", re.sub(r"^void ", "", text)).split("(")[0]


def profile(margay, nvcc, name, work):
    source = os.path.join(HERE, name + ".cu")
    if not os.path.exists(source):
        source = os.path.join(HERE, "..", "..", "examples", name + ".cu")
    program = os.path.join(work, os.path.basename(name))
    report = program + ".json"
    subprocess.run([nvcc, "-O3", "-arch=sm_90", "-lineinfo", "-o", program, source], check=True)
    subprocess.run([margay, "profile", "--json", report, program], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=300)
    with open(report) as file:
        return json.load(file)["launches"]


def compare(name, device, ours, known, failures):
    """Adds to failures; returns the known differences that were met."""
    names, met = device["metrics"], set()
    if len(ours) != len(device["launches"]):
        failures.append(f"{name}: {len(ours)} launches, the device had {len(device['launches'])}")
    for number, (launch, (kernel, grid, block, values)) in enumerate(zip(ours, device["launches"])):
        where = f"{name} launch {number} {kernel} {grid}"
        if kernel_name(launch["kernel"]) != kernel or launch["grid"] != grid or launch["block"] != block:
            failures.append(f"{where}: is {launch['kernel']} {launch['grid']} {launch['block']}")
            continue
        for metric, want in zip(names, values):
            if metric not in COMPARED or want is None:
                continue
            got = launch["metrics"].get(metric, 0)
            if got != want:
                key = (name, kernel, metric)
                met.add(key)
                if key not in known:
                    failures.append(f"{where}: {metric} is {got}, on the device {want}")
    return met


def compare_lanes(margay, nvcc, device, work, known, failures):
    """lanes.cu, every launch that the device made; a row's operation stands for the kernel. Returns as `compare` does."""
    program, report = os.path.join(work, "lanes"), os.path.join(work, "lanes.json")
    subprocess.run([nvcc, "-O3", "-arch=sm_90", "-lineinfo", "-o", program, os.path.join(HERE, "lanes.cu")], check=True)
    done = subprocess.run([margay, "profile", "--json", report, program, os.path.join(HERE, "h100_lane_patterns.json")],
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=300)
    with open(report) as file:
        launches = json.load(file)["launches"]
    made = re.findall(r"^launch (\d+) \d+ (.*)$", done.stdout, re.M)
    patterns = [[int(n) for n in line.split()] for line in re.findall(r"^pattern \d+: (.*)$", done.stdout, re.M)]
    if patterns != device["patterns"] or len(made) != len(launches):
        failures.append(f"lanes: other patterns than on the device, or {len(launches)} launches for {len(made)}")
        return set()
    met, compared = set(), 0
    for (pattern, operation), launch in zip(made, launches):
        values = device["rows"].get(operation, {"counts": {}})["counts"].get(pattern, [])
        for metric, want in zip(device["metrics"], values):
            if metric not in COMPARED or want is None:
                continue
            compared += 1
            got = launch["metrics"].get(metric, 0)
            if got != want:
                met.add(("lanes", operation, metric))
                if ("lanes", operation, metric) not in known:
                    failures.append(f"lanes {operation} pattern {pattern}: {metric} is {got}, on the device {want}")
    if compared < 10000:
        failures.append(f"lanes: only {compared} counters to compare")
    return met


def compare_passes(margay, nvcc, work, failures):
    """passes.cu: the sectors of each line of passes.txt."""
    rows, report = os.path.join(HERE, "passes.txt"), os.path.join(work, "passes.json")
    program = os.path.join(work, "passes")
    subprocess.run([nvcc, "-O3", "-arch=sm_90", "-lineinfo", "-o", program, os.path.join(HERE, "passes.cu")], check=True)
    subprocess.run([margay, "profile", "--json", report, program, rows], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=300)
    with open(report) as file:
        launches = json.load(file)["launches"]
    with open(rows) as file:
        lines = [line.split() for line in file]
    if len(lines) != len(launches) or len(lines) < 1000:
        failures.append(f"passes: {len(launches)} launches for {len(lines)} lines")
    for number, (line, launch) in enumerate(zip(lines, launches)):
        kind = line[1].split(".")[0]
        got = launch["metrics"][f"l1tex__t_sectors_pipe_lsu_mem_global_op_{kind}.sum"]
        if got != int(line[0]):
            failures.append(f"passes.txt line {number + 1}, {line[1]}: {got} sectors, on the device {line[0]}")


def main():
    margay, nvcc, path, *programs = sys.argv[1:]
    if not os.path.exists(path):
        print(f"{path}: not there; see collect.sh")
        return 77
    with open(path) as file:
        counters = json.load(file)
    device = counters["programs"]
    programs = programs or sorted(device)
    with open(os.path.join(HERE, "differs.json")) as file:
        listed = json.load(file)
    known = {(d["program"], d["kernel"], d["metric"]) for d in listed if d["program"] in programs}
    failures = [f"{d}: no reason" for d in listed if not d.get("reason")]
    met = set()
    with tempfile.TemporaryDirectory() as work:
        for name in programs:
            if name == "lanes":
                met |= compare_lanes(margay, nvcc, counters["lanes"], work, known, failures)
                continue
            if name == "passes":
                compare_passes(margay, nvcc, work, failures)
                continue
            met |= compare(name, device[name], profile(margay, nvcc, name, work), known, failures)
    failures += [f"{key}: is listed as different and is not" for key in sorted(known - met)]
    for line in failures:
        print(line, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
