#!/usr/bin/env python3
"""sanitizer.py - the suites of this folder under compute-sanitizer on a GPU, and under `margay check`, side by side.

    tests/check/sanitizer.sh [--new] OUT [SECONDS]              on the GPU machine: builds the suites and calls
    sanitizer.py collect SANITIZER PROGRAMS OUT [--seconds N]   ... this, which writes OUT/device.json and prints the tools' table
    sanitizer.py join MARGAY PROGRAMS DEVICE.json               here: adds what Margay finds, and writes sanitizer.json
    sanitizer.py suites [--new]                                 names of the suites
    sanitizer.py table                                          writes the tables of docs/check.md and cases.md from it
    sanitizer.py table --check                                  ... says whether they are as they would be written

collect: all twins of a suite run in one process, one process at a time, with and without each tool, and are timed; the
faults run in parallel and are not. Faults that end nothing share a process as long as no call fails in it; each of the
others has its own. Those that would not end on a GPU come last and have seconds each. A tool has found a fault when it reports
anything in that case's kernels, or, where the case has a process of its own, anything at all; and it is wrong about a twin when it
reports anything in the twin's kernels. With --new only cases are run that sanitizer.json has not, and twins of suites that it has
not; join adds to what is there.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import gzip
import json
import os
import pathlib
import platform
import re
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
DOC = HERE.parent.parent / "docs" / "check.md"
CASES = HERE / "cases.md"
RESULT = HERE / "sanitizer.json"
sys.path.insert(0, str(HERE))
from test_check import Suite  # noqa: E402

SUITES = sorted(p.stem for p in HERE.glob("*.cu") if p.stem not in ("pointers", "ends"))
TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]
HANGS_LIMIT = 8
SUMMARY = re.compile(r"(ERROR|RACECHECK|LEAK) SUMMARY|Internal|^Target application|^COMPUTE-SANITIZER$|No CUDA-GPU")


def known(name):
    """What sanitizer.json has of a suite."""
    return json.loads(RESULT.read_text(encoding="utf-8"))["suites"].get(name, {"cases": {}, "twins": {}})


def new_cases(name):
    have = known(name)["cases"]
    return {c: v for c, v in suite_cases(name).items() if c not in have}


def suites_of(args):
    return [s for s in SUITES if not args.new or new_cases(s)]


def suites(args):
    print(" ".join(suites_of(args)))
    return 0


def suite_cases(name):
    """The cases of a suite: flags, the kernels that are launched with the fault, and what there is to find."""
    suite = Suite(HERE / f"{name}.cu")
    cases = {}
    for case, flags in suite.flags.items():
        kinds = [e.kind for e in suite.expectations_of(case)]
        cases[case] = {"flags": flags, "kernels": suite.launched[case], "kind": kinds[0] if kinds else "?"}
    return cases


# ---- on the GPU machine

def run(command, limit=25):
    """A process and all that it starts: a kernel that hangs is not to outlive its limit."""
    began = time.monotonic()
    try:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 text=True, errors="replace", start_new_session=True)
    except OSError as e:
        return {"command": command[1:], "status": "absent", "text": str(e), "seconds": 0}
    try:
        text, _ = child.communicate(timeout=limit)
        status = child.returncode
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        text, _ = child.communicate()
        status = "time-out"
    return {"command": command[1:], "status": status, "text": text[:200000],
            "seconds": round(time.monotonic() - began, 3)}


def options(sanitizer):
    """What each tool is called with, by the options that this one has."""
    text = subprocess.run([sanitizer, "--help"], capture_output=True, text=True, timeout=60, check=False).stdout
    extra = {tool: ["--tool", tool] for tool in TOOLS}
    extra["memcheck"] += ["--leak-check", "full"] if "--leak-check" in text else []
    space = re.search(r"(--initcheck-address-space|--check-address-space)\b[^\n]*", text)
    if space:
        extra["initcheck"] += [space.group(1), "all"]
    return extra, [line for line in text.splitlines() if "address" in line or "racecheck" in line]


def first_failure(text):
    """The name of the first case of a process that a failing call ended or disturbed."""
    for line in text.splitlines():
        m = re.match(r"fault (\w+): (\w+), (\w+)", line)
        if m and (m.group(2), m.group(3)) != ("cudaSuccess", "cudaSuccess"):
            return m.group(1)
    return None


def reports_of(text):
    """The reports of one process: the text of each, its kernel and its line, one entry for equal ones."""
    seen, current = collections.OrderedDict(), None

    def close():
        if current:
            key = (current["message"], current["kernel"], tuple(current["lines"]))
            seen.setdefault(key, dict(current, count=0))["count"] += 1

    for raw in text.splitlines():
        if not raw.startswith("========="):
            continue
        line = raw[9:].rstrip()
        body = line.strip()
        if not body:
            close()
            current = None
            continue
        if SUMMARY.search(body):
            close()
            current = None
            continue
        if current is None:
            current = {"message": re.sub(r"0x[0-9a-f]+|\(?\d+,\d+,\d+\)?|\d+ (hazards|bytes)", "#", body)[:160],
                       "kernel": "", "lines": []}
        at = re.search(r"(?:at|in)\s+(?:void )?(?:[\w:]+::)?(\w+)<\(bool\)([01])>", body)
        if at and not current["kernel"]:
            current["kernel"] = f"{at.group(1)}<{'true' if at.group(2) == '1' else 'false'}>"
        for place in re.findall(r"(?:in |\()(?:[^\s()]*/)?(\w+\.cuh?:\d+)", body):
            if place not in current["lines"] and len(current["lines"]) < 4:
                current["lines"].append(place)
    close()
    return list(seen.values())


def collect(args):
    end = time.monotonic() + args.seconds
    extra, listed = options(args.sanitizer)
    raw = {"options": extra, "known": listed, "runs": []}
    result = {"machine": {}, "options": {t: " ".join(o) for t, o in extra.items()}, "suites": {}}
    version = subprocess.run([args.sanitizer, "--version"], capture_output=True, text=True, check=False).stdout
    gpu = run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])["text"]
    result["machine"] = {"gpu": gpu.strip(), "sanitizer": (re.findall(r"Version ([\d.]+)", version) or [version])[0],
                         "cpu": cpu_name(), "cores": os.cpu_count()}
    print(result["machine"], result["options"])

    def command(suite, tool, *how):
        program = [os.path.join(args.programs, suite), *how]
        return program if tool == "plain" else [args.sanitizer, *extra[tool], *program]

    suites = {name: new_cases(name) if args.new else suite_cases(name) for name in suites_of(args)}
    fresh = [s for s in suites if not args.new or not known(s)["cases"]]
    for name, cases in suites.items():
        result["suites"][name] = {
            "twins": {}, "cases": {c: {"flags": v["flags"], "kind": v["kind"], "tools": {}} for c, v in cases.items()}}

    def one(item):
        suite, tool, case = item
        if time.monotonic() > end:
            return None
        hangs = case and "HANGS" in suites[suite][case]["flags"]
        return run(command(suite, tool, "fault", *([case] if case else [])), HANGS_LIMIT if hangs else args.limit)

    def keep(item, done):
        suite, tool, case = item
        if done:
            raw["runs"].append([suite, tool, case or "", "fault", done])
        names = [case] if case else [c for c, v in suites[suite].items() if v["flags"].strip() == "0"]
        reports = reports_of(done["text"]) if done and tool != "plain" else []
        again = []
        failed = first_failure(done["text"]) if done else None
        disturbed = False
        for c in names:
            entry = result["suites"][suite]["cases"][c]["tools"]
            disturbed |= not case and (c == failed or done["status"] == "time-out") if done else False
            if disturbed:
                again.append((suite, tool, c))
                continue
            if not done:
                entry[tool] = {"found": None, "why": "not run"}
                continue
            own = [r for r in reports if case or r["kernel"].split("<")[0] in suites[suite][c]["kernels"]]
            entry[tool] = {"found": bool(own), "status": done["status"], "reports": own[:4]}
            said = re.search(rf"^fault {c}: (\w+), (\w+)", done["text"], re.M)
            if said:
                entry[tool]["returned"] = [said.group(1), said.group(2)]
        return again

    def in_parallel(items):
        again = []
        with concurrent.futures.ThreadPoolExecutor(args.workers) as pool:
            for item, done in zip(items, pool.map(one, items)):
                again += keep(item, done)
        return again

    # The twins, one process at a time: what is timed is undisturbed.
    for suite in suites:
        for tool in ["plain"] + TOOLS:
            if time.monotonic() > end - 0.4 * args.seconds:
                break
            if suite == next(iter(suites)) and tool == "plain":
                run(command(suite, tool, "right"), args.limit)  # the driver wakes up
            done = run(command(suite, tool, "right"), args.limit)
            raw["runs"].append([suite, tool, "", "right", done])
            reports = reports_of(done["text"]) if tool != "plain" else []
            result["suites"][suite]["twins"][tool] = {
                "seconds": done["seconds"], "status": done["status"], "reports": reports[:8],
                "wrong": sorted(c for c, v in suites[suite].items()
                                if any(r["kernel"].split("<")[0] in v["kernels"] for r in reports))}
    print(f"twins done, {end - time.monotonic():.0f} s left")
    items = [(s, t, None) for s in fresh for t in ["plain"] + TOOLS
             if any(v["flags"].strip() == "0" for v in suites[s].values())]
    items += [(s, t, c) for s in suites for c, v in suites[s].items() for t in ["plain"] + TOOLS
              if (v["flags"].strip() != "0" or s not in fresh) and "HANGS" not in v["flags"]]
    again = in_parallel(items)
    print(f"faults done, {len(again)} again, {end - time.monotonic():.0f} s left")
    in_parallel(again)
    print(f"now those that hang, {end - time.monotonic():.0f} s left")
    in_parallel([(s, t, c) for s in suites for c, v in suites[s].items() for t in TOOLS if "HANGS" in v["flags"]])
    print(f"done, {end - time.monotonic():.0f} s left")
    out = pathlib.Path(args.out)
    (out / "device.json").write_text(json.dumps(result, indent=1), encoding="utf-8")
    with gzip.open(out / "raw.json.gz", "wt", encoding="utf-8") as f:
        json.dump(raw, f)
    print("\n".join(found_table(result, False)))
    return 0


# ---- here

def cpu_name():
    try:
        return re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text()).group(1)
    except (OSError, AttributeError):
        return platform.processor() or platform.machine()


def margay_run(margay, report, program, *how, flags=""):
    began = time.monotonic()
    extra = [f"--{word.lower()}" for word in ("LEAKS", "PEDANTIC") if word in flags]
    subprocess.run([margay, "check", *extra, "--json", report, "--timeout", "5", program, *how],
                   stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)
    seconds = round(time.monotonic() - began, 3)
    data = json.loads(pathlib.Path(report).read_text(encoding="utf-8"))
    os.unlink(report)
    return data["findings"], seconds


def plain_run(margay, program, *how):
    began = time.monotonic()
    subprocess.run([margay, "run", program, *how], stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)
    return round(time.monotonic() - began, 3)


def added(old, new):
    """The answers of two calls as one; of a suite that both have, the twins are timed and judged by the new one."""
    for name, entry in new["suites"].items():
        have = old["suites"].setdefault(name, {"twins": {}, "cases": {}})
        for tool, twin in entry["twins"].items():
            before = have["twins"].get(tool, {}).get("wrong", [])
            have["twins"][tool] = dict(twin, wrong=sorted({*before, *twin["wrong"]}))
        have["cases"].update(entry["cases"])
    old["suites"] = dict(sorted(old["suites"].items()))
    return old


def join(args):
    result = json.loads(pathlib.Path(args.device).read_text(encoding="utf-8"))
    if args.new:
        result = added(json.loads(RESULT.read_text(encoding="utf-8")), result)
    version = subprocess.run([args.margay, "--version"], capture_output=True, text=True, check=True).stdout.split()
    result["margay"] = {"version": version[-1], "cpu": cpu_name(), "cores": os.cpu_count(), "date": args.date}
    report = f"/tmp/margay-join-{os.getpid()}.json"
    for suite, entry in result["suites"].items():
        program = os.path.join(args.programs, suite)
        found, seconds = margay_run(args.margay, report, program, "right")
        entry["margay"] = {"seconds": seconds, "run": plain_run(args.margay, program, "right")}
        kernels = {c: v["kernels"] for c, v in suite_cases(suite).items()}
        for name, case in entry["cases"].items():
            case["margay_twin"] = [f"{f['check']}/{f['kind']}" for f in found
                                   if f["severity"] != "note" and any(re.match(rf"(void )?{k}<", f["kernel"]) for k in kernels[name])]
        for name, case in entry["cases"].items():
            found, _ = margay_run(args.margay, report, program, "fault", name, flags=case["flags"])
            for tool in case["tools"].values():  # the first report of each is enough to look a row up by
                tool["reports"] = tool["reports"][:1]
                tool.pop("returned", None)
            case["margay"] = sorted({f"{f['check']}/{f['kind']}" for f in found})
            case["kind"] = next((k for k in case["margay"] if fnmatch.fnmatchcase(k, case["kind"])), case["kind"])
    RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


def mark(case, tool):
    r = case["tools"].get(tool)
    if not r or r["found"] is None:
        return "?"
    return "found" if r["found"] else "time-out" if r["status"] == "time-out" else "-"


def found_table(result, whole):
    """A row a kind, or a check: found / missed, and wrong about how many twins, if any."""
    together = "margay" in result
    names = TOOLS + ["the four together"] + (["margay check"] if together else [])
    rows = collections.defaultdict(lambda: {n: collections.Counter() for n in names + ["pairs"]})
    for entry in result["suites"].values():
        for name, case in entry["cases"].items():
            kind = case["kind"].replace("*", "…")
            for row in (rows[kind if whole else kind.partition("/")[0]], rows["~all"]):
                row["pairs"]["n"] += 1
                wrong = {t: name in entry["twins"].get(t, {}).get("wrong", []) for t in TOOLS}
                found = {t: mark(case, t) == "found" for t in TOOLS}
                for t in TOOLS:
                    row[t]["found"] += found[t]
                    row[t]["wrong"] += wrong[t]
                row["the four together"]["found"] += any(found.values())
                row["the four together"]["wrong"] += any(wrong.values())
                if together:
                    row["margay check"]["found"] += bool(case["margay"])
                    row["margay check"]["wrong"] += bool(case["margay_twin"])
    out = ["| what is wrong | pairs | " + " | ".join(names) + " |", "| --- |" + " ---: |" * (len(names) + 1)]
    for kind in sorted(rows):
        row = rows[kind]
        pairs = row["pairs"]["n"]
        cells = [f"{row[n]['found']} / {pairs - row[n]['found']}" +
                 (f", {row[n]['wrong']} false" if row[n]["wrong"] else "") for n in names]
        out.append(f"| {'all' if kind == '~all' else f'`{kind}`'} | {pairs} | " + " | ".join(cells) + " |")
    return out


def times(result, whole):
    """Of each suite, or of all."""
    out = ["Seconds for all twins of a suite in one process, its start included:", "",
           "| suite | GPU alone | " + " | ".join(TOOLS) + " | the four passes | margay run | margay check |",
           "| --- |" + " ---: |" * 8]
    sums = collections.Counter()
    for suite, entry in result["suites"].items():
        row = [entry["twins"].get(t, {}).get("seconds", float("nan")) for t in ["plain"] + TOOLS]
        row += [sum(row[1:]), entry["margay"]["run"], entry["margay"]["seconds"]]
        for i, t in enumerate(row):
            sums[i] += t
        if whole:
            out.append(f"| `{suite}.cu` | " + " | ".join(f"{t:.2f}" for t in row) + " |")
    return out + ["| all | " + " | ".join(f"{sums[i]:.2f}" for i in range(8)) + " |"]


def tables(result):
    out = [f"compute-sanitizer {result['machine']['sanitizer']} on one {result['machine']['gpu'].replace(', ', ', driver ')}"
           f" ({result['machine']['cores']} cores of {result['machine']['cpu']}); "
           f"`margay check` {result['margay']['version']} on {result['margay']['cores']} cores of "
           f"{result['margay']['cpu']}, without a GPU; {result['margay']['date']}.", "",
           "Found / missed, and about how many twins, which are right, something was said (by kind and case:",
           "[cases.md](../tests/check/cases.md)):", ""]
    return "\n".join(out + found_table(result, False) + [""] + times(result, False))


def case_table(result):
    out = ["# Case by case", "", "Made by `sanitizer.py table` from `sanitizer.json`; docs/check.md has the sums and says how. "
           f"`time-out`: the fault hangs a GPU, and the tool had said nothing after {HANGS_LIMIT} seconds.", "",
           "| case | " + " | ".join(TOOLS) + " | margay check |", "| --- |" + " --- |" * 5]
    for suite, entry in result["suites"].items():
        for name, case in entry["cases"].items():
            out.append(f"| {suite}: {name} | " + " | ".join(mark(case, t) for t in TOOLS) +
                       f" | {', '.join(case['margay']) or '-'} |")
    return "\n".join(out + ["", "# By kind", "", "Found / missed, and about how many twins something was said.", ""] +
                     found_table(result, True) + ["", "# By suite", ""] + times(result, True)) + "\n"


def table(args):
    begin, end = "<!-- sanitizer: made by tests/check/sanitizer.py from tests/check/sanitizer.json -->", "<!-- /sanitizer -->"
    text = DOC.read_text(encoding="utf-8")
    head, _, rest = text.partition(begin)
    _, found, tail = rest.partition(end)
    if not found:
        print(f"{DOC}: no place for the tables")
        return 1
    result = json.loads(RESULT.read_text(encoding="utf-8"))
    pages = {DOC: f"{head}{begin}\n\n{tables(result)}\n\n{end}{tail}", CASES: case_table(result)}
    differ = False
    for page, new in pages.items():
        if not args.check:
            page.write_text(new, encoding="utf-8")
        elif not page.exists() or page.read_text(encoding="utf-8") != new:
            print(f"{page.name} differs from sanitizer.json: tests/check/sanitizer.py table writes it")
            differ = True
    return differ


def main():
    parser = argparse.ArgumentParser()
    sub = parser.add_subparsers(required=True)
    c = sub.add_parser("collect")
    c.add_argument("sanitizer")
    c.add_argument("programs")
    c.add_argument("out")
    c.add_argument("--seconds", type=float, default=120)
    c.add_argument("--workers", type=int, default=12)
    c.add_argument("--limit", type=float, default=25)  # seconds a process
    c.add_argument("--new", action="store_true")
    c.set_defaults(do=collect)
    s = sub.add_parser("suites")
    s.add_argument("--new", action="store_true")
    s.set_defaults(do=suites)
    j = sub.add_parser("join")
    j.add_argument("margay")
    j.add_argument("programs")
    j.add_argument("device")
    j.add_argument("--date", default=time.strftime("%Y-%m-%d"))
    j.add_argument("--new", action="store_true")
    j.set_defaults(do=join)
    t = sub.add_parser("table")
    t.add_argument("--check", action="store_true")
    t.set_defaults(do=table)
    args = parser.parse_args()
    return args.do(args)


if __name__ == "__main__":
    sys.exit(main())
