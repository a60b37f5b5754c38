"""Runs the cases of waits.cu under every engine, with one host thread and with three.

    waits.py MARGAY PROGRAM SOURCE [ENGINE:THREADS...]

What the first lines of waits.cu say of a case is held, and that its counts are the same in all these runs.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

margay, program, source, *runs = sys.argv[1:]
runs = runs or [f"{engine}:{threads}" for engine in ("interp", "quick", "jit") for threads in "13"]
lines = open(source, encoding="utf-8").read().split("\n")
cases = {}
for line in lines:
    found = re.match(r"// CASE (\w+): (WAITS|ERROR) ?(.*)", line)
    if found:
        cases.setdefault(found[1], []).append((found[2], found[3]))
marks = {name: n for n, line in enumerate(lines, 1) for name in re.findall(r"// @(\w+)", line)}
failures = []


def run(case, engine, threads, report):
    ends = cases[case][0][0] == "WAITS"
    # too many to wait for: all that fit must have begun
    limit = "60" if ends else "8" if case == "too_many" else "0.5"
    command = [margay, "profile", "--engine", engine, "--threads", threads, "--timeout", limit, "--json", report]
    r = subprocess.run([*command, program, case], capture_output=True, text=True, timeout=120, check=False)
    if (r.returncode == 0) != ends:
        return f"exit status {r.returncode}: {r.stdout[-100:]} {r.stderr[:400]}", None
    if not ends:
        for _, text in cases[case]:
            text = re.sub(r"@(\w+)", lambda m: str(marks[m[1]]), text)
            if text not in r.stderr:
                return f"no '{text}' in: {r.stderr[:600]}", None
        return "", None
    with open(report, encoding="utf-8") as file:
        launch = json.load(file)["launches"][0]
    want = cases[case][0][1].split()
    if want == ["nothing"] and launch["waits"]:
        return f"waits {launch['waits']}", None
    if ("depends on the order of waiting" in r.stdout + r.stderr) != bool(launch["waits"]):
        return f"the note is wrong for {launch['waits']}: {r.stderr[-600:]}", None
    if want != ["nothing"] and set(want) - set(launch["waits"]):
        return f"waits {launch['waits']}, not {want}", None
    return "", (launch["metrics"], launch["lines"], launch["waits"])


with tempfile.TemporaryDirectory() as folder:
    os.environ.update(XDG_CACHE_HOME=folder, MARGAY_DEVICE="90")
    for case in cases:
        first = None
        for engine, threads in (one.split(":") for one in runs):
            wrong, counts = run(case, engine, threads, os.path.join(folder, "report.json"))
            if not wrong and first and counts != first[1]:
                wrong = f"other counts than under {first[0]}"
            if wrong:
                failures.append(f"{case}, {engine}, {threads} threads: {wrong}")
            elif counts and not first:
                first = (f"{engine} with {threads}", counts)
print(f"{len(cases)} cases")
print("\n".join(failures))
sys.exit(bool(failures) or len(cases) < 40)
