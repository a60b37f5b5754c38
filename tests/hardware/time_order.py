"""time_order.py DATA.json REPORT.json CALLS.txt - the steps of each ladder, in the device's order and in the model's.

DATA.json and REPORT.json as of time_data.py (the launches of time_ladders); CALLS.txt is what that program printed: a line for
each rung and size. A launch belongs to the first call, from the one before on, whose rung's file (kernels/<op>/NN_*.cu) names its
kernel, and a rung's time is the sum of its launches. Where a kernel is named elsewhere, it is not known whose it is, and the rungs
on both sides are left out. Listed are rungs next to one another on their ladder which the device has more than APART from each
other, and the model in the other order.
"""
import glob
import json
import os
import re
import sys

APART = 1.05
KERNELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "kernels")


def rungs_of(op):
    """{rung: the text of its file}; names as in the .def, files in the same order."""
    with open(os.path.join(KERNELS, op, op + ".def"), encoding="utf-8") as file:
        names = re.findall(r'^RUNG\(\w+,\s*"([^"]+)"', file.read(), re.M)
    texts = []
    for path in sorted(glob.glob(os.path.join(KERNELS, op, "[0-9][0-9]_*.cu"))):
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
    return dict(zip(names, texts)) if len(names) == len(texts) else {}


def calls_of(path):
    calls, files = [], {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            match = re.match(r"(\w+) (.+) (\d+)$", line.strip())
            if not match or not os.path.isdir(os.path.join(KERNELS, match.group(1))):
                continue
            op, rung, size = match.groups()
            files.setdefault(op, rungs_of(op))
            calls.append({"op": op, "rung": rung, "size": int(size), "text": files[op].get(rung, ""), "times": [0, 0], "n": 0, "sure": True})
    return calls


def share_out(data, report, calls):
    at, unsure = 0, False
    for known, launch in zip(data["programs"]["time_ladders"]["launches"], report["launches"]):
        name = re.search(r"(\w+)(?:<|$)", known[0]).group(1)
        word = re.compile(r"\b" + re.escape(name) + r"\b")
        while_from = at
        while at < len(calls) and not word.search(calls[at]["text"]):
            at += 1
        if at == len(calls): # of no rung's own file
            at = while_from
            calls[at]["sure"] = False
            unsure = True
            continue
        calls[at]["sure"] &= not unsure
        unsure = False
        calls[at]["times"][0] += known[3][0]
        calls[at]["times"][1] += launch["metrics"].get("gpu__time_duration.sum", 0)
        calls[at]["n"] += 1


def misplaced(calls):
    wrong, count = [], 0
    for a, b in zip(calls, calls[1:]):
        if (a["op"], a["size"]) != (b["op"], b["size"]) or not all(c["n"] and c["sure"] for c in (a, b)):
            continue
        x, y = a["times"], b["times"]
        if max(x[0], y[0]) < APART * min(x[0], y[0]):
            continue
        count += 1
        if (x[0] < y[0]) != (x[1] < y[1]):
            wrong.append((a, b))
    return wrong, count


def main():
    with open(sys.argv[1], encoding="utf-8") as ours, open(sys.argv[2], encoding="utf-8") as theirs:
        data, report = json.load(ours), json.load(theirs)
    calls = calls_of(sys.argv[3])
    share_out(data, report, calls)
    wrong, count = misplaced(calls)
    print(f"{count - len(wrong)} of {count} steps of the ladders stand in the device's order; not these:\n\n"
          "| ladder | size | rungs | device | here |\n| --- | ---: | --- | ---: | ---: |")
    for a, b in wrong:
        times = [f"{x / 1000:.1f} → {y / 1000:.1f} µs" for x, y in zip(a["times"], b["times"])]
        print(f"| {a['op']} | {a['size']} | {a['rung']} → {b['rung']} | " + " | ".join(times) + " |")


if __name__ == "__main__":
    main()
