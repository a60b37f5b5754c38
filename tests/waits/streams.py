"""Launches that go on side by side: their records stand in the order of the calls, with the same counts under every
engine and for any number of threads; checked, each is told its own mistakes and nothing that is none.

    streams.py MARGAY QUEUE BESIDE [ENGINE:THREADS...]      QUEUE: tests/cudart/queue.cu, compiled; BESIDE: beside.cu
"""
import json
import os
import subprocess
import sys
import tempfile

margay, queue, beside, *runs = sys.argv[1:]
runs = runs or [f"{engine}:{threads}" for engine in ("interp", "quick", "jit") for threads in "13"]
ORDER = ["await", "raise", "echo", "count_up", "crowd", "raise"]  # as queue.cu calls them in streams_meet
FOUND = {"clean": [], "racy": ["same-value", "streams", "write-write"]}
failures = []


def report(command, program, case, run, file):
    engine, threads = run.split(":")
    line = [margay, command, "--engine", engine, "--threads", threads, "--timeout", "60", "--json", file, program, case]
    r = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    if "ok" not in r.stdout.split("\n"):
        failures.append(f"{command} {case}, {run}: {r.stdout[-200:]} {r.stderr[-600:]}")
    with open(file, encoding="utf-8") as text:
        return json.load(text)


with tempfile.TemporaryDirectory() as folder:
    os.environ.update(XDG_CACHE_HOME=folder, MARGAY_DEVICE="90")
    output = os.path.join(folder, "report.json")
    first = None
    for run in runs:
        launches = report("profile", queue, "streams_meet", run, output)["launches"]
        names = [launch["kernel"].split("(")[0] for launch in launches]
        if names != ORDER:
            failures.append(f"{run}: records are of {names}")
        if [bool(launch["waits"]) for launch in launches] != [name != "raise" for name in names]:
            failures.append(f"{run}: the marks of waiting are wrong")
        counts = [(launch["metrics"], launch["lines"]) for launch in launches]
        # of those that others waited for, what they wait for is not counted
        sure = [one for one, name in zip(counts, names) if name == "raise"]
        if first and sure != first[1]:
            failures.append(f"{run}: other counts than under {first[0]}")
        first = first or (run, sure)
        for case, kinds in FOUND.items():
            found = sorted(f["kind"] for f in report("check", beside, case, run, output)["findings"])
            if found != kinds:
                failures.append(f"{run}, {case}: found {found}, not {kinds}")
print("\n".join(failures))
sys.exit(bool(failures))
