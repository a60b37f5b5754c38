"""test_pairs.py MARGAY PROGRAM DEVICE.json [--table] - what advice expects to save, held to kernels that follow it.

    test_pairs.py collect RAW.csv DEVICE DRIVER DATE OUT.json      ncu's page of pairs.cu, kept as JSON

PROGRAM is pairs.cu: kernels as they are found, each with the same after a piece of advice was followed. Of each pair this
compares how many times faster the second one is: as advice foretells it of the first alone, by the model's times of both,
and on a device (DEVICE.json; a launch of another grid than the program's is not compared). --table prints docs/advise.md's.

Advice and the model's own time of the second kernel must agree on whether it is faster, and on how much by FACTOR; the
device must agree on whether it is; four of five gains lie within the range that advice gives them; and of two pairs of
which the device saves clearly more by one, advice must mostly say so, too.
"""
import csv
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

# the advice that a pair is about, where it has another name
ALIAS = {"pad_rows": "pad", "exchange": "swap", "stage_product": "stage", "coarsen2": "coarsen", "coarsen4": "coarsen"}
FACTOR = 1.5
NOISE = 1.06  # two launches of 2.5 us differ by as much on the device
APART = 0.1   # of the time: gains that differ by less are not ordered
ORDER, IN_RANGE = 0.86, 0.7
# with the reason
NOT_BY_MODEL = {"read_ahead": "in the large launch the model of the second kernel's machine code finds it no faster, by a hundredth"}
NOT_BY_DEVICE = {"read_ahead": "copies of 4 bytes cost the device more than the model"}


def collect(raw, device, driver, date, out):
    with open(raw, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if line.startswith('"')))
    launches = [[re.search(r"(\w+)\(", row["Kernel Name"]).group(1), [int(n) for n in re.findall(r"\d+", row["Grid Size"])],
                 [int(n) for n in re.findall(r"\d+", row["Block Size"])], int(row["Metric Value"].replace(",", ""))]
                for row in rows if row["Metric Name"] == "gpu__time_duration.sum" and row["Metric Unit"] == "ns"]
    head = {"device": device, "driver": driver, "date": date, "metric": "gpu__time_duration.sum, ns",
            "clocks": "not controlled; caches emptied before each launch: ncu --clock-control none"}
    with open(out, "w", encoding="utf-8") as file:
        file.write(json.dumps(head)[:-1] + ', "launches": [\n')
        file.write(",\n".join(json.dumps(launch, separators=(",", ":")) for launch in launches) + "]}\n")


def bare(name):
    return re.search(r"(\w+)\(", name).group(1)


def report(margay, command, args, folder):
    path = os.path.join(folder, "report.json")
    env = {k: v for k, v in os.environ.items() if not k.startswith("MARGAY_")}
    subprocess.run([margay, *command, "--board", "h200", "--json", path, *args], check=True, env=env, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as file:
        return json.load(file)


class Pair:
    def __init__(self, size, first, second, advice, device):
        self.name, self.size = bare(first["kernel"])[:-len("_before")], size
        self.wanted = ALIAS.get(self.name, self.name).replace("_", "-")
        times = [launch["metrics"]["gpu__time_duration.sum"] for launch in (first, second)]
        self.before = times[0]
        self.model = times[0] / times[1]
        self.device = device[0] / device[1] if all(device) else None
        item = next((i for i in advice["advice"] if i["id"] == self.wanted), None)
        self.gain = item["gain"] if item else 0
        self.range = (item["gain_least"], item["gain_most"]) if item else None
        self.advice = 1 / (1 - item["gain"]) if item else None

    def text(self):
        return f"{self.name}, {self.size}"


def measure(margay, program, data):
    pairs, at = [], 0
    for size in ("small", "large"):
        with tempfile.TemporaryDirectory() as folder:
            advice = {bare(a["kernel"]): a for a in report(margay, ["advise"], [program, size], folder)["advice"]}
            launches = report(margay, ["profile", "--time"], [program, size], folder)["launches"]
        for first, second in zip(launches[::2], launches[1::2]):
            taken = []
            for launch in (first, second):
                kernel, grid, block, ns = data["launches"][at]
                at += 1
                assert kernel == bare(launch["kernel"]), (kernel, launch["kernel"])
                taken.append(ns if grid == launch["grid"] and block == launch["block"] else None)
            pairs.append(Pair(size, first, second, advice[bare(first["kernel"])], taken))
    assert at == len(data["launches"]), "the device's launches are others"
    return pairs


def order(pairs):
    """Of all two pairs that the device tells apart: how many stand in its order."""
    right = count = 0
    known = [p for p in pairs if p.device]
    for a, b in itertools.combinations(known, 2):
        x, y = (1 - 1 / p.device for p in (a, b))
        if abs(x - y) > APART:
            count += 1
            right += (a.gain > b.gain) == (x > y) and a.gain != b.gain
    return right / count, count


def judge(pairs):
    faults = []
    for p in pairs:
        if p.advice:
            if p.model < 1 and p.name not in NOT_BY_MODEL:
                faults.append(f"{p.text()}: advice says {p.advice:.2f} times, the model {p.model:.2f}")
            if max(p.advice / p.model, p.model / p.advice) > FACTOR:
                faults.append(f"{p.text()}: {p.advice:.2f} times by advice, {p.model:.2f} by the model, more than {FACTOR} apart")
        if p.advice and p.device and p.device * NOISE < 1 and p.name not in NOT_BY_DEVICE:
            faults.append(f"{p.text()}: advice says {p.advice:.2f} times, the device {p.device:.2f}")
    told = [p for p in pairs if p.advice and p.device]
    within = sum(p.range[0] <= 1 - 1 / p.device <= p.range[1] for p in told) / len(told)
    ordered, count = order(pairs)
    print(f"{len(told)} pairs with advice and a device's times: {within:.0%} of gains in their range; of {count} twos of pairs "
          f"{ordered:.1%} in the device's order")
    if within < IN_RANGE:
        faults.append(f"{within:.2f} of gains in their range, less than {IN_RANGE}")
    if ordered < ORDER:
        faults.append(f"{ordered:.3f} in the device's order, less than {ORDER}")
    if len(told) < 24:
        faults.append(f"{len(told)} pairs with advice and a device's times")
    return faults


def table(pairs):
    def times(value):
        return f"{value:.2f}" if value else "-"
    print("| pair | advice | small: device | model | advice | large: device | model | advice |\n"
          "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    names = list(dict.fromkeys(p.name for p in pairs))
    for name in names:
        row = {p.size: p for p in pairs if p.name == name}
        cells = [times(value) for size in ("small", "large")
                 for value in ((row[size].device, row[size].model, row[size].advice) if size in row else (None,) * 3)]
        print(f"| {name} | `{ALIAS.get(name, name).replace('_', '-')}` | " + " | ".join(cells) + " |")


def main():
    if sys.argv[1] == "collect":
        collect(*sys.argv[2:])
        return
    margay, program, device = sys.argv[1:4]
    with open(device, encoding="utf-8") as file:
        data = json.load(file)
    done = subprocess.run([margay, "run", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "DIFFERENT" not in done.stdout and done.stdout.count(" same ") >= 50, done.stdout
    pairs = measure(margay, program, data)
    if "--table" in sys.argv:
        table(pairs)
    faults = judge(pairs)
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


main()
