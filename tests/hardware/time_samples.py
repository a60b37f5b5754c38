"""time_samples.py - why warps were not issued, as a GPU's samples say, and how near the model's are.

    time_samples.py collect DEVICE DATE OUT.json NAME=REPORT.ncu-rep...   with the Python module of Nsight Compute on the path
    time_samples.py compare DATA.json NAME=REPORT.json...                 the table of docs/time.md

The reports are `ncu --clock-control none --warp-sampling-interval 0 --section SourceCounters --section LaunchStats -o REPORT
PROGRAM`, of programs compiled with -lineinfo. DATA.json: {"device", "date", "programs": {NAME: [[kernel, grid, block, {line:
{reason: samples}}]...]}}, launches in the order in which the program makes them. REPORT.json is what `margay profile --time
--json` wrote for the program.

Two distributions over reasons, or over lines, are compared by what they have in common: the sum of the lesser shares.
"""
import collections
import json
import os
import statistics
import sys

import time_data

REASON = "smsp__pcsamp_warps_issue_stalled_"
FEWEST = 300  # samples of a launch: of fewer the shares are chance
ISSUED = ("selected", "not_selected")


def samples_of(action):
    lines = collections.defaultdict(collections.Counter)
    for name in action.metric_names():
        if not name.startswith(REASON) or name.endswith("_not_issued"):
            continue
        metric = action[name]
        where = metric.correlation_ids()
        for k in range(metric.num_instances()):
            source = action.source_info(where.as_uint64(k))
            line = f"{os.path.basename(source.file_name())}:{source.line()}" if source else "?"
            lines[line][name[len(REASON):]] += metric.as_uint64(k)
    return {line: {k: v for k, v in some.items() if v} for line, some in lines.items() if any(some.values())}


def collect(path):
    import ncu_report
    launches = ncu_report.load_report(path)[0]
    triple = lambda action, what: [int(action[f"launch__{what}_dim_{c}"].as_double()) for c in "xyz"]
    return [[time_data.kernel_name(a.name()), triple(a, "grid"), triple(a, "block"), samples_of(a)]
            for a in (launches[i] for i in range(launches.num_actions()))]


def write(out, device, date, programs):
    with open(out, "w") as file:
        file.write(json.dumps({"device": device, "date": date})[:-1] + ', "programs": {\n')
        for i, (name, launches) in enumerate(programs.items()):
            rows = ",\n".join(json.dumps(launch, separators=(",", ":")) for launch in launches)
            file.write(f'{json.dumps(name)}: [\n{rows}]' + (",\n" if i + 1 < len(programs) else "\n"))
        file.write("}}\n")


def ours_of(launch):
    lines = {}
    for line in launch["lines"]:
        some = {k[len(REASON):]: v for k, v in line["metrics"].items() if k.startswith(REASON) and v}
        if some:
            lines[f"{os.path.basename(line['file'])}:{line['line']}"] = some
    return lines


def shares(counts):
    total = sum(counts.values())
    return {k: v / total for k, v in counts.items()}


def reasons(lines):
    """Misses of the cache of constants and of that of instructions are one reason here: code and what is in it."""
    sums = collections.Counter()
    for some in lines.values():
        for reason, n in some.items():
            sums["no_instructions" if reason == "imc_miss" else reason] += n
    return sums


def common(a, b):
    return sum(min(v, b.get(k, 0)) for k, v in a.items())


def largest(counts):
    waits = {k: v for k, v in counts.items() if k not in ISSUED}
    return max(waits, key=waits.get) if waits else None


def compare(launches, report):
    """The means over launches of what both have in common, by reason and by line, and how often the largest is the same."""
    with open(report) as file:
        ours = json.load(file)["launches"]
    by_reason, by_line, same_reason, same_line = [], [], [], []
    for mine, (kernel, grid, block, theirs) in zip(ours, launches):
        if mine["grid"] != grid or mine["block"] != block:
            sys.exit(f"{kernel} {grid} {block} on the device, and here {mine['kernel']} {mine['grid']} {mine['block']}")
        lines = ours_of(mine)
        if not lines or sum(reasons(theirs).values()) < FEWEST:
            continue
        device, here = shares(reasons(theirs)), shares(reasons(lines))
        by_reason.append(common(device, here))
        same_reason.append(largest(device) == largest(here))
        device, here = (shares({k: sum(v.values()) for k, v in some.items()}) for some in (theirs, lines))
        by_line.append(common(device, here))
        same_line.append(device.get(max(here, key=here.get), 0) > 0.9 * max(device.values()))
    return {"launches": len(by_reason), "reasons": statistics.mean(by_reason), "same_reason": statistics.mean(same_reason),
            "lines": statistics.mean(by_line), "same_line": statistics.mean(same_line)}


def show(found):
    print("| launches | how many | shares of reasons in common | same largest reason | shares of lines | same hottest line |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, f in found.items():
        print(f"| {name} | {f['launches']} | {f['reasons']:.0%} | {f['same_reason']:.0%} | {f['lines']:.0%} | "
              f"{f['same_line']:.0%} |")


def main():
    if sys.argv[1] == "collect":
        write(sys.argv[4], *sys.argv[2:4], {a.split("=")[0]: collect(a.split("=", 1)[1]) for a in sys.argv[5:]})
        return
    with open(sys.argv[2]) as file:
        programs = json.load(file)["programs"]
    show({name: compare(programs[name], report) for name, report in (a.split("=", 1) for a in sys.argv[3:])})


if __name__ == "__main__":
    main()
