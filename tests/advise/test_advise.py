#!/usr/bin/env python3
"""test_advise.py - holds `margay advise` to what stands beside the kernels of kernels.cu.

    test_advise.py MARGAY PROGRAM KERNELS.CU MODE

MODE is what to look at:
    first    the first advice of each kernel, with the values that are given
    twins    what advice predicts is what the kernel that follows it is counted with
    threads  the same report for any number of host threads
    text     the terminal's page, the SVG picture, exit statuses
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

margay, program, source, mode = sys.argv[1:5]
SOURCES = [source, *sorted(glob.glob(os.path.join(os.path.dirname(source), "*.cuh")))]
faults = []
BESIDE = ("vectors", "work") # pay in most kernels of this size; looked at where they are asked for, and in the ladders
TIE = 0.03 # of the launch's time: what is as near stands in either order
NOTHING = [{"id": "nothing", "gain": 0, "values": {}, "file": "", "line": 0}]
VERDICTS = {"no": "Shared memory does not pay", "pay": "Shared memory would pay", "needed": "Shared memory is used, and needed", "already": "Shared memory already pays",
            "conflicts": "Shared memory pays once its bank conflicts are gone",
            "wasted": "Shared memory is wasted here",
            "not-needed": "Shared memory is not needed"}


def ours(name):
    return os.path.basename(name) in map(os.path.basename, SOURCES)


def check(condition, text):
    if not condition:
        faults.append(text)


def run(*options, args=(), expect=0):
    env = {k: v for k, v in os.environ.items() if not k.startswith("MARGAY_")}
    env["LC_ALL"] = "C.UTF-8"
    done = subprocess.run([margay, "advise", *options, *args], capture_output=True, env=env, timeout=300, check=False)
    check(done.returncode == expect, f"advise {options} {args}: exit status {done.returncode}: {done.stderr.decode()[:300]}")
    return done


def report(*options, args=None):
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "report.json")
        run("--json", name, *options, args=args or [program])
        with open(name, encoding="utf-8") as file:
            return json.load(file)


def bare(name):
    return re.match(r"(?:\w+ )?(\w+)", name).group(1) if "(" not in name.split("<")[0] else re.search(r"(\w+)\(", name).group(1)


def expectations():
    for name in SOURCES:
        with open(name, encoding="utf-8") as file:
            for line in file:
                match = re.match(r"\s*// ADVISE (\w+): ([\w-]+)(.*)", line)
                if match:
                    yield match.group(1), match.group(2), dict(w.split("=") for w in match.group(3).split())


def test_first():
    found = {bare(a["kernel"]): a for a in report()["advice"]}
    count = 0
    for kernel, wanted, values in expectations():
        count += 1
        if kernel not in found:
            check(False, f"{kernel}: no advice")
            continue
        items = found[kernel]["advice"]
        ids = [i["id"] for i in items]
        gains = [i["gain"] for i in items]
        check(all(a >= b - 0.001 for a, b in zip(gains, gains[1:])), f"{kernel}: not in order of gain: {gains}")
        items = [i for i in items if i["id"] == wanted or i["id"] not in BESIDE] or NOTHING
        first = next((i for i in items if i["id"] == wanted and i["gain"] >= items[0]["gain"] - TIE), items[0])
        check(first["id"] == wanted, f"{kernel}: the first advice is {first['id']}, not {wanted}: "
              f"{[(i['id'], round(i['gain'], 3)) for i in items]}")
        if "then" in values: # the second piece of advice, which the values are of
            first = next((i for i in items[:3] if i is not first and i["id"] == values["then"]), first)
            check(first["id"] == values["then"], f"{kernel}: {values['then']} is not behind it: {[i['id'] for i in items]}")
        check(wanted == "nothing" or first["gain"] > 0, f"{kernel}: gain {first['gain']}")
        check(values.get("without") not in [i["id"] for i in found[kernel]["advice"]], f"{kernel}: {values.get('without')} is advised")
        check(all(i["gain"] < 0.1 for i in found[kernel]["advice"] if i["id"] == values.get("small")),
              f"{kernel}: much is promised of {values.get('small')}")
        for name, value in values.items():
            if name in ("twin", "then", "without", "small"):
                continue
            if name == "says":
                check(value.replace("_", " ") in first["how"], f"{kernel}: '{value}' is not said: {first['how']}")
            elif name == "verdict":
                check(found[kernel]["verdict"].startswith(VERDICTS[value]), f"{kernel}: {found[kernel]['verdict']}")
            else:
                check(first["values"].get(name) == float(value), f"{kernel}: {name} is {first['values'].get(name)}, not {value}")
        check(wanted == "nothing" or (ours(first["file"]) and first["line"] > 0), f"{kernel}: {first['file']}:{first['line']}")
        check(all(ours(s["file"]) for s in found[kernel]["sites"]), f"{kernel}: sites out of the program")
        ids = [row["id"] for row in found[kernel]["checklist"]]
        check(len(ids) == len(set(ids)) and len(ids) > 15, f"{kernel}: checklist {ids}")
        check(all(row["result"] in ("passed", "failed", "none") for row in found[kernel]["checklist"]), f"{kernel}: results")
    check(count >= 25, f"{count} kernels with a known remedy")
    print(f"{count} kernels")


def test_twins():
    data = report()
    advice = {bare(a["kernel"]): a for a in data["advice"]}
    launches = {bare(x["kernel"]): x for x in data["launches"]}
    count = 0
    for kernel, wanted, values in expectations():
        if "twin" not in values or kernel not in advice:
            continue
        item = next((i for i in advice[kernel]["advice"] if i["id"] == values.get("then", wanted)), None)
        if not item:
            check(False, f"{kernel}: no advice that its twin follows")
            continue
        predicted = item["predicted"]
        measured = launches[values["twin"]]["metrics"]
        check(predicted or "blocks_then" in item["values"], f"{kernel}: nothing is predicted")
        for name, value in predicted.items():
            count += 1
            check(measured[name] == value, f"{kernel}: {name} predicted {value}, {values['twin']} has {measured[name]}")
        then = item["values"].get("blocks_then")
        twin = advice.get(values["twin"])
        if then is not None:
            count += 1
            check(twin["occupancy"]["blocks"] == then, f"{kernel}: {then} blocks on an SM predicted, {values['twin']} has {twin['occupancy']['blocks']}")
        sectors = sum(s["sectors"] for s in advice[kernel]["sites"])
        check(sectors == launches[kernel]["metrics"]["memory_l2_theoretical_sectors_global"], f"{kernel}: sites add up to {sectors}")
    check(count >= 15, f"{count} predictions")
    print(f"{count} predictions")


def stable(data):
    for launch in data["launches"]:
        del launch["seconds"]
    return json.dumps(data, sort_keys=True)


def test_threads():
    first = stable(report("--threads", "1"))
    for threads in ("7",):
        check(stable(report("--threads", threads)) == first, f"--threads {threads} gives another report")


def test_text():
    done = run("--full", args=[program, "transpose_shared", "matmul_naive"])
    page = done.stderr.decode()
    for line in page.splitlines():
        check(len(line) <= 80, f"wider than 80 columns: {line}")
    for words in ("Pad each row of 'tile' by 1 element (4 bytes)", "afterwards: memory_l1_wavefronts_shared = ", "Roofline",
                  "Should it use shared memory?", "Occupancy", "Checklist", "tile[threadI",
                  "arithmetic intensity (FLOP/byte)", "FLOP/s are in reach"):
        check(words in page, f"the page lacks: {words}")
    check("\x1b" not in page, "colours in a pipe")
    with tempfile.TemporaryDirectory() as folder:
        svg, text = os.path.join(folder, "roofline.svg"), os.path.join(folder, "page")
        done = run("--svg", svg, "--output", text, "--device", "8.0", args=[program, "matmul_naive"])
        with open(svg, encoding="utf-8") as file:
            picture = file.read()
        check(picture.startswith("<svg") or picture.startswith("<?xml"), picture[:60])
        check("matmul_naive" in picture and "FLOP/byte" in picture and "A100" in picture, "the picture lacks its words")
        with open(text, encoding="utf-8") as file:
            check("A100" in file.read(), "--output lacks the board")
        check(b"matmul" not in done.stderr, "--output, and yet on standard error")
        peaks = [next(r["peak"] for r in a["roofline"]["roofs"] if r["name"] == "device memory")
                 for a in (report("--board", board, args=[program, "matmul_naive"])["advice"][0] for board in ("h100 pcie", "h200"))]
        check(2.0e12 < peaks[0] < 2.1e12 and 4.7e12 < peaks[1] < 5e12, f"the chosen board's memory: {peaks}")
        os.remove(svg)
        done = run("--svg", svg, args=[program, "transpose_shared"])
        check(b"no roofline for --svg" in done.stderr and not os.path.exists(svg), "no roofline, no word")
        check("paint-order" not in picture and picture.count('class="rim"') == picture.count('class="label"') > 2,
              "labels that need paint-order")
        run("--svg", os.path.join(folder, "none", "x.svg"), args=[program, "matmul_naive"], expect=2)
    check("Stage a, b in shared memory" in page and "parameter" not in page, "parameters by their own names")
    check("passed  " not in page and "failed  " in page and " failed, " in page, "of the checklist what failed alone")
    short = run(args=[program]).stderr.decode().splitlines()
    check(len(short) <= 24 and max(map(len, short)) <= 80, f"the table has {len(short)} lines")
    table = run(args=[program, "transpose_shared", "matmul_naive"]).stderr.decode()
    check(re.search(r" [1-9]\.\d us  \w[\w ]+ transpose_shared  .* blocks of 32.8\n +\d+ %: Pad each row of 'tile' by 1 element "
                    r"\(4 bytes\)  shared.cuh:\d+\n", table), f"the table: {table}")
    check("margay advise NAME, or --full" in table, "the table does not say where the rest is")
    check(run("--kernel", "transpose_shared", args=[program]).stderr.decode().count("Occupancy") == 1, "--kernel has no page")
    table = run(args=[program, "many_launches"]).stderr.decode()
    page = run("--full", args=[program, "many_launches"]).stderr.decode()
    every = re.search(r" ([\d.]+ [um]s)  .*  2 blocks of 256, 100 launches\n", table)
    check(every and re.search(rf"grid 2, block 256, the longest of 100 launches \(7 looked at: docs/advise.md\), estimate [\d.]+ us \(all: {every.group(1)}\)\n", page),
          f"launches of one shape: {table}{page[:300]}")
    done = run("--kernel", "no_such_name", args=[program, "matmul_naive"])
    check(done.stderr.startswith(b"margay: no kernel whose name matches --kernel 'no_such_name' was launched\n  hint: ") and
          done.stderr.count(b"\n") == 2, done.stderr.decode())
    only = report("--kernel", "transpose_", "--launches", "2")
    check([bare(a["kernel"]) for a in only["advice"]] == ["transpose_naive", "transpose_shared"], "--kernel and --launches")
    many = report(args=[program, "many_launches"])
    check([a["launches"] for a in many["advice"]] == [100, 100] and len(many["launches"]) == 200, "launches of two shapes")
    check([a["looked_at"] for a in many["advice"]] == [7, 7], "launches that are the same, by powers of two")
    check(len({json.dumps(l["metrics"]) for l in many["launches"]}) == 2, "counts of launches that are the same")
    many = report(args=[program, "other_arguments"])
    check([(a["launches"], a["looked_at"]) for a in many["advice"]] == [(20, 20)], "launches with arguments of their own")
    many = report(args=[program, "pages_between"])
    check([(a["launches"], a["looked_at"]) for a in many["advice"]] == [(16, 16)], "launches whose pages are elsewhere each time")
    done = run(args=[program, "out_of_bounds"], expect=1)
    check(b"Fix the failure first" in done.stderr and b"out_of_bounds(float*)" in done.stderr, "a launch that fails")
    check(b"it failed" in done.stderr, "the table says that it failed")
    done = run("--full", args=[program, "out_of_bounds"], expect=1)
    check(b"Not known: the launch failed" in done.stderr, "a verdict on a launch that failed")
    none = report(args=[program, "no_such_kernel"])
    check(none["advice"] == [] and none["launches"] == [], "no launch, no advice")
    done = run(args=["/nowhere/at/all"], expect=2)
    check(b"margay: error:" in done.stderr, "no such program")
    done = run("--svg", args=[], expect=2)
    plain = subprocess.run([margay, "profile", "--json", "/dev/stdout", program, "vector_add"], capture_output=True, check=False)
    check(b'"advice"' not in plain.stdout, "a profile with advice")


{"first": test_first, "twins": test_twins, "threads": test_threads, "text": test_text}[mode]()
for fault in faults:
    print("FAULT", fault)
sys.exit(1 if faults else 0)
