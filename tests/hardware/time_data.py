"""time_data.py - times of launches as a GPU took them, and how far the model's are off.

    time_data.py collect DEVICE DRIVER DATE OUT.json NAME=RAW.csv...      ncu's raw page of each program, kept as JSON
    time_data.py compare DATA.json... NAME=REPORT.json... [--worst N]     the errors, as docs/time.md shows them

DATA.json: {"device", "driver", "date", "clocks", "programs": {NAME: {"metrics": [name...],
"launches": [[kernel, grid, block, [value...]]...]}}}, launches in the order in which the program makes them. REPORT.json
is what `margay profile --json` wrote for that program: its launches must be the same, in the same order; at its end some
may lack in DATA, when the device's time was over.
"""
import csv
import json
import math
import re
import statistics
import sys

METRICS = ["gpu__time_duration.sum", "sm__cycles_elapsed.max", "dram__bytes_read.sum", "dram__bytes_write.sum",
           "lts__t_sector_hit_rate.pct", "l1tex__t_sector_hit_rate.pct", "sm__inst_executed.sum",
           "launch__registers_per_thread", "launch__occupancy_limit_registers", "launch__occupancy_limit_shared_mem"]


def number(text):
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    return int(value) if value == int(value) else round(value, 3)


def kernel_name(text):
    """"void row<(int)1>(float *)" -> "row<1>": as Margay's records are compared, too."""
    return re.sub(r"\([a-z ]+\)(?=\d)", "", re.sub(r"^void ", "", text)).split("(")[0].replace(" ", "")


def triple(text):
    return [int(n) for n in re.findall(r"\d+", text)][:3]


def collect(path):
    with open(path, newline="") as file:
        table = csv.reader([line for line in file if line.startswith('"')])
    header = next(table)
    column = {name: i for i, name in enumerate(header)}
    metrics = [m for m in METRICS if m in column]
    launches = []
    for row in table:
        if row[column["ID"]].strip():
            launches.append([kernel_name(row[column["Kernel Name"]]), triple(row[column["Grid Size"]]),
                             triple(row[column["Block Size"]]), [number(row[column[m]]) for m in metrics]])
    return {"metrics": metrics, "launches": launches}


def write(out, device, driver, date, programs):
    head = {"device": device, "driver": driver, "date": date,
            "clocks": "not controlled; caches emptied before each launch: ncu --clock-control none"}
    with open(out, "w") as file:
        file.write("{" + json.dumps(head)[1:-1] + ', "programs": {\n')
        for i, (name, program) in enumerate(programs.items()):
            rows = ",\n".join(json.dumps(launch, separators=(",", ":")) for launch in program["launches"])
            file.write(f'{json.dumps(name)}: {{"metrics": {json.dumps(program["metrics"])}, "launches": [\n{rows}]}}')
            file.write(",\n" if i + 1 < len(programs) else "\n")
        file.write("}}\n")


def pairs(data, reports):
    """(program, kernel, grid, the device's nanoseconds, the estimate's metrics, the device's metrics)"""
    for name, report in reports.items():
        with open(report) as file:
            ours = json.load(file)["launches"]
        for i, (kernel, grid, block, values) in enumerate(data["programs"][name]["launches"]):
            if i >= len(ours) or ours[i]["grid"] != grid or ours[i]["block"] != block:
                sys.exit(f"{name}: launch {i} is {kernel} {grid} {block} on the device, and here "
                         f"{ours[i]['kernel']} {ours[i]['grid']} {ours[i]['block']}")
            theirs = dict(zip(data["programs"][name]["metrics"], values))
            if ours[i]["metrics"].get("gpu__time_duration.sum"):
                yield (name, kernel, grid, theirs["gpu__time_duration.sum"],
                       {**ours[i]["metrics"], **ours[i]["derived"]}, theirs)


def errors(rows):
    off = [abs(ours["gpu__time_duration.sum"] / theirs - 1) for _, _, _, theirs, ours, _ in rows]
    twice = sum(not 0.5 <= ours["gpu__time_duration.sum"] / theirs <= 2 for _, _, _, theirs, ours, _ in rows)
    right = all_pairs = 0
    for i, a in enumerate(rows):
        for b in rows[:i]:
            if max(a[3], b[3]) > 1.1 * min(a[3], b[3]):
                all_pairs += 1
                right += (a[3] > b[3]) == (a[4]["gpu__time_duration.sum"] > b[4]["gpu__time_duration.sum"])
    inside = sum(ours["time__least"] <= theirs <= ours["time__most"] for _, _, _, theirs, ours, _ in rows)
    return {"launches": len(rows), "mean": statistics.mean(off), "median": statistics.median(off),
            "off_twice": twice / len(rows), "right_order": right / max(all_pairs, 1), "in_range": inside / len(rows),
            "ratio": math.exp(statistics.mean(math.log(r[4]["gpu__time_duration.sum"] / r[3]) for r in rows))}


def compare(data, reports, worst):
    rows = list(pairs(data, reports))
    print("| launches | how many | mean error | median | off by over 2 times | pairs in the right order | in the range |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    groups = {name: [r for r in rows if r[0] == name] for name in reports}
    groups["under 5 µs"] = [r for r in rows if r[3] < 5000]
    groups["5 µs and more"] = [r for r in rows if r[3] >= 5000]
    groups["all"] = rows
    for name, some in groups.items():
        if some:
            e = errors(some)
            print(f"| {name} | {e['launches']} | {e['mean']:.0%} | {e['median']:.0%} | {e['off_twice']:.0%} | "
                  f"{e['right_order']:.1%} | {e['in_range']:.0%} |")
    key = "dram__bytes_read.sum"
    read = [abs(ours[key] / theirs[key] - 1) for *_, ours, theirs in rows if theirs.get(key, 0) > 100000]
    found = errors(rows)
    if read:
        print(f"\nBytes read from device memory, of {len(read)} launches that read more than 100 kB: mean error "
              f"{statistics.mean(read):.0%}, median {statistics.median(read):.1%}.")
        found["read"] = statistics.mean(read)
    # hits of small launches are their code's and constants', and more than all where a counter took several passes
    for key, name, of in (("lts__t_sector_hit_rate.pct", "second", "lts__t_sectors.sum"),
                          ("l1tex__t_sector_hit_rate.pct", "first", "l1tex__t_sectors.sum")):
        off = [abs(ours.get(key, 0) - min(theirs[key], 100)) for *_, ours, theirs in rows
               if ours[of] > 40000 and key in theirs]
        if not off:
            continue
        print(f"Hits of the {name} cache, of {len(off)} launches that ask it for more than 40,000 sectors: off by "
              f"{statistics.mean(off):.1f} points on average, median {statistics.median(off):.1f}.")
        found[name] = statistics.mean(off)
    rows.sort(key=lambda r: abs(math.log(r[4]["gpu__time_duration.sum"] / r[3])), reverse=True)
    if worst:
        print("\nFurthest off:\n\n| kernel | blocks | device | here | |\n| --- | ---: | ---: | ---: | ---: |")
    for _, kernel, grid, theirs, ours, _ in rows[:worst]:
        here = ours["gpu__time_duration.sum"]
        print(f"| `{kernel}` | {math.prod(grid)} | {theirs / 1e3:.1f} µs | {here / 1e3:.1f} µs | {here / theirs:.2f} |")
    return found


def main():
    if sys.argv[1] == "collect":
        device, driver, date, out = sys.argv[2:6]
        write(out, device, driver, date, {a.split("=")[0]: collect(a.split("=", 1)[1]) for a in sys.argv[6:]})
    else:
        worst = int(sys.argv[sys.argv.index("--worst") + 1]) if "--worst" in sys.argv else 0
        data = {"programs": {}}
        for path in (a for a in sys.argv[2:] if a.endswith(".json") and "=" not in a):
            with open(path) as file:
                data["programs"].update(json.load(file)["programs"])
        compare(data, dict(a.split("=", 1) for a in sys.argv[2:] if "=" in a), worst)


if __name__ == "__main__":
    main()
