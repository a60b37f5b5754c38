"""Runs one example under the command and holds what comes out to what an H100 gave.

    test_examples.py MARGAY PROGRAMS SOURCES NAME

PROGRAMS has NAME-static and NAME-shared, SOURCES has NAME.cu. What is checked:

- `margay run` of both: exit status 0, standard output untouched (only lines of results that are ok, at least as many
  as there are launches of different kernels), and a summary line for each kernel on standard error;
- a bad argument's exit status comes through;
- `margay profile --json`: every launch has the kernel, grid, block and counters of h100.json, which Nsight Compute read
  off a real device. What is known to differ, because ptxas changes the accesses, is in DIFFERS with the reason; an
  entry that no longer differs is a failure, so that the list stays true;
- for the transpose: the conflict is on the line that reads the tile by columns, and nowhere in the padded kernel;
- counters are the same for one thread and for three.
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
    *(
        f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum"
        for what in ("requests", "sectors")
        for op in ("ld", "st", "red", "atom")
    ),
    "launch__shared_mem_per_block_static",
    "launch__shared_mem_per_block_dynamic",
]
# (kernel, metric) -> why the device's number is another one
DIFFERS = {}

failures = []


def check(good, message):
    if not good:
        failures.append(message)


def run(command, expect=0):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    check(
        done.returncode == expect,
        f"{' '.join(command)}: exit status {done.returncode}, expected {expect}\n{done.stdout}{done.stderr}",
    )
    return done


def kernel_of(launch):
    return re.sub(r"^void ", "", launch["kernel"]).split("(")[0]


def main():
    margay, programs, sources, name = sys.argv[1:5]
    with open(os.path.join(HERE, "h100.json")) as file:
        truth = json.load(file)["examples"][name]
    kernels = {launch["kernel"] for launch in truth}
    static = os.path.join(programs, name + "-static")

    for runtime in "static", "shared":
        program = os.path.join(programs, f"{name}-{runtime}")
        done = run([margay, "run", program])
        lines = done.stdout.splitlines()
        check(len(lines) >= len(kernels), f"{program}: {len(lines)} lines of output")
        for line in lines:
            check(re.fullmatch(rf"{name} \w+ [\dx]+: ok", line), f"{program}: not ok: {line}")
        for kernel in kernels:
            check(kernel in done.stderr, f"{program}: no summary line for {kernel}:\n{done.stderr}")
    run([margay, "run", static, "0", "0", "0", "0"], expect=2)

    with tempfile.TemporaryDirectory() as folder:
        reports = []
        for threads in "1", "3":
            path = os.path.join(folder, f"report{threads}.json")
            run([margay, "profile", "--threads", threads, "--json", path, static])
            with open(path) as file:
                reports.append(json.load(file))
    launches = reports[0]["launches"]
    check(len(launches) == len(truth), f"{len(launches)} launches, the device had {len(truth)}")
    differ = set()
    for number, (ours, device) in enumerate(zip(launches, truth)):
        where = f"launch {number} ({device['kernel']} {device['grid']})"
        check(kernel_of(ours) == device["kernel"], f"{where}: is {ours['kernel']}")
        check(ours["grid"] == device["grid"], f"{where}: grid {ours['grid']}")
        check(ours["block"] == device["block"], f"{where}: block {ours['block']}")
        for metric in COMPARED:
            got = ours["metrics"].get(metric)
            if got != device["metrics"][metric]:
                if (device["kernel"], metric) in DIFFERS:
                    differ.add((device["kernel"], metric))
                else:
                    check(False, f"{where}: {metric} is {got}, on the device {device['metrics'][metric]}")
    for key in DIFFERS.keys() - differ:
        check(key[0] not in kernels, f"{key} is listed as different and is not")

    for one, three in zip(launches, reports[1]["launches"]):
        check(one["metrics"] == three["metrics"], f"{one['kernel']}: counters depend on the threads")
        check(one["lines"] == three["lines"], f"{one['kernel']}: counters of lines depend on the threads")

    if name == "transpose":
        with open(os.path.join(sources, "transpose.cu")) as file:
            text = [""] + file.read().splitlines()

        def excess(line):
            metrics = line["metrics"]
            return metrics.get("memory_l1_wavefronts_shared", 0) - metrics.get("memory_l1_wavefronts_shared_ideal", 0)

        for launch in launches[:3]:
            conflicts = {line["line"]: excess(line) for line in launch["lines"] if excess(line)}
            if kernel_of(launch) == "transpose_shared":
                check(len(conflicts) == 1, f"conflicts on lines {conflicts}, not on one")
                for number, count in conflicts.items():
                    check("= tile[threadIdx.x][" in text[number], f"the conflict is on line {number}: {text[number]}")
                    # 32 passes where one would do, for each of the 1024 x 1024 / 32 column reads of a warp
                    check(count == 31 * 1024 * 1024 // 32, f"excess wavefronts: {count}")
            else:
                check(not conflicts, f"{launch['kernel']}: conflicts on lines {conflicts}")
    for message in failures:
        print(message, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
