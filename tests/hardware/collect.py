"""Puts what collect.sh left in WORK together as one JSON file: collect.py WORK COUNTERS.JSON

collect.py --passes WORK PASSES.TXT writes passes.txt anew, with the sectors that were counted now.

{"device", "driver", "ncu", "nvcc", "date",
 "programs": {NAME: {"metrics": [name...], "launches": [[kernel, grid, block, [value...]]...]}},
 "lanes": {"patterns": [[32 indices]...], "metrics": [name...],
           "rows": {operation: {"width": bytes, "counts": {pattern: [value...]}}}},
 "instructions": {kernel: [[machine instruction, {metric: value}]...]}}, of which what was collected

Values are as ncu gives them, null where it gave none.
"""
import csv
import datetime
import json
import os
import re
import sys
import traceback

KEY = re.compile(r"^(memory_\w+|(l1tex__|smsp__)\w+\.sum|launch__\w+)$")
FIXED = ("launch__shared_mem_per_block_static", "launch__shared_mem_per_block_dynamic", "launch__registers_per_thread")


def number(text):
    text = text.replace(",", "").strip()
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value) if value == int(value) else value


def kernel_name(text):
    """"void row<(int)1>(float *)" -> "row<1>": as Margay's records are compared, too."""
    return re.sub(r"\([a-z ]+\)(?=\d)", "", re.sub(r"^void ", "", text)).split("(")[0]


def triple(text):
    return [int(n) for n in re.findall(r"\d+", text)][:3]


def rows(path):
    """(kernel, grid, block, {metric: value}) of each launch in a CSV raw page, whatever precedes its header."""
    with open(path, newline="") as file:
        lines = [line for line in file if line.startswith('"')]
    table = csv.reader(lines)
    header = next(table)
    column = {name: i for i, name in enumerate(header)}
    for row in table:
        if not row[column["ID"]].strip():
            continue  # units
        metrics = {name: number(row[i]) for name, i in column.items()
                   if KEY.match(name) and (not name.startswith("launch__") or name in FIXED)}
        yield kernel_name(row[column["Kernel Name"]]), triple(row[column["Grid Size"]]), triple(row[column["Block Size"]]), metrics


def program(path):
    launches = list(rows(path))
    names = sorted({name for launch in launches for name in launch[3]})
    return {"metrics": names, "launches": [[k, g, b, [m.get(n) for n in names]] for k, g, b, m in launches]}


def lanes(folder):
    launches = list(rows(os.path.join(folder, "lanes.csv")))
    names = sorted({name for launch in launches for name in launch[3] if not name.startswith("launch__")})
    patterns, operations = {}, []
    with open(os.path.join(folder, "lanes.txt")) as file:
        for line in file:
            found = re.match(r"pattern (\d+): (.*)", line)
            if found:
                patterns[int(found[1])] = [int(n) for n in found[2].split()]
            found = re.match(r"launch (\d+) (\d+) (.*)", line)
            if found:
                operations.append((found[3].strip(), int(found[2]), int(found[1])))
    if len(operations) != len(launches):
        print(f"lanes: {len(operations)} launches, {len(launches)} rows of counters")
    result = {}
    for (operation, width, pattern), (_, _, _, metrics) in zip(operations, launches):
        row = result.setdefault(operation, {"width": width, "counts": {}})
        row["counts"][pattern] = [metrics.get(name) for name in names]
    return {"patterns": [patterns[p] for p in sorted(patterns)], "metrics": names, "rows": result}


def instructions(folder):
    import ncu_report

    kernels = {}
    context = ncu_report.load_report(os.path.join(folder, "sass.ncu-rep"))
    wanted = ["memory_l1_wavefronts_shared", "memory_l1_wavefronts_shared_ideal",
              "memory_l2_theoretical_sectors_global", "memory_l2_theoretical_sectors_global_ideal", "inst_executed"]
    for at in range(context.num_ranges()):
        launches = context.range_by_idx(at)
        for index in range(launches.num_actions()):
            action = launches.action_by_idx(index)
            by_pc = {}
            for name in wanted:
                metric = action.metric_by_name(name)
                if metric is None or not metric.has_correlation_ids():
                    continue
                ids = metric.correlation_ids()
                for i in range(metric.num_instances()):
                    value = metric.as_uint64(i)
                    if value:
                        by_pc.setdefault(ids.as_uint64(i), {})[name] = value
            name = kernel_name(action.name(action.NameBase_DEMANGLED))
            kernels[name] = [[action.sass_by_pc(pc), values] for pc, values in sorted(by_pc.items())
                             if set(values) - {"inst_executed"}]
    return kernels


def source_page(folder):
    with open(os.path.join(folder, "sass.csv")) as file:
        return [line for line in file.read().splitlines()
                if re.search(r"Kernel|Source|LDS|STS|ATOM|RED|LDG|STG", line)][:3000]


def text(folder, name):
    try:
        with open(os.path.join(folder, name)) as file:
            return file.read().strip()
    except OSError:
        return ""


def passes(folder, target):
    with open(os.path.join(folder, "passes.in")) as file:
        lines = [line.split() for line in file]
    counted = [sum(value or 0 for value in launch[3].values()) for launch in rows(os.path.join(folder, "passes.csv"))]
    if len(counted) != len(lines):
        sys.exit(f"passes: {len(counted)} launches for {len(lines)} lines")
    with open(target, "w") as file:
        file.writelines(" ".join([str(sectors)] + line[1:]) + "\n" for sectors, line in zip(counted, lines))


def main():
    if sys.argv[1] == "--passes":
        return passes(*sys.argv[2:4])
    folder, target = sys.argv[1:3]
    gpu = (text(folder, "gpu").splitlines() or [""])[0].split(",")
    out = {"device": gpu[0].strip(), "driver": gpu[-1].strip(),
           "ncu": (re.findall(r"Version (\S+)", text(folder, "ncu")) or [""])[0],
           "nvcc": (re.findall(r"V(\S+)", text(folder, "nvcc")) or [""])[0],
           "date": datetime.date.today().isoformat(), "programs": {}}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".csv") and name not in ("lanes.csv", "sass.csv", "passes.csv"):
            try:
                out["programs"][name[:-4]] = program(os.path.join(folder, name))
            except Exception:
                print(name, traceback.format_exc())
    steps = ("lanes", lanes, "lanes.csv"), ("instructions", instructions, "sass.csv"), ("source_page", source_page, "sass.csv")
    for key, make, needs in steps:
        if not os.path.exists(os.path.join(folder, needs)) or (key == "source_page" and "instructions" in out):
            continue
        try:
            out[key] = make(folder)
        except Exception:
            print(key, traceback.format_exc())
    with open(target, "w") as file:
        file.write("{\n" + ",\n".join(f"{json.dumps(k)}: " + pretty(v) for k, v in out.items()) + "\n}\n")


def pretty(value):
    """One line a launch, operation or kernel, so that differences can be read."""
    if isinstance(value, dict):
        return "{\n" + ",\n".join(f" {json.dumps(k)}: " + (
            "{" + ", ".join(f"{json.dumps(x)}: " + (
                "[\n" + ",\n".join("   " + json.dumps(z) for z in y) + "]" if x == "launches" else
                "{\n" + ",\n".join(f"   {json.dumps(w)}: {json.dumps(z)}" for w, z in y.items()) + "}"
                if x == "rows" else json.dumps(y)) for x, y in v.items()) + "}"
            if isinstance(v, dict) else json.dumps(v)) for k, v in value.items()) + "\n}"
    return json.dumps(value)


if __name__ == "__main__":
    main()
