#!/usr/bin/env python3
"""test_ends.py - what is said of a launch that ends early is the same every time.

    test_ends.py MARGAY PROGRAM

Each launch of ends.cu under `run`, `profile` and `check`, with several numbers of threads and each engine: the status, both
outputs, the findings and the counts are compared whole, but for times and addresses. What the right word is stands in EXPECT
for some of them, by hand: the first block that goes wrong. MARGAY_TEST_OFTEN: all numbers with all engines.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ENGINES, THREADS = ["interp", "quick", "jit"], [1, 2, 3, 5]
FEW = [("interp", 1), ("jit", 3), ("quick", 2), ("interp", 5)]

# What `run` says of the first cluster that goes wrong. In a grid of 8 by 8 blocks and clusters of 2 by 2, block 9 is in the
# first cluster and 6 in the fourth; 5 and 12 are in the third.
EXPECT = {
    "trap_in_some": r"block 2,0,0, thread 0,0,0|block 2,0,0, thread 5,0,0",
    "assert_in_some": r"block 20,0,0, thread 6,0,0",
    "null_in_some": r"null pointer.*block 4,0,0",
    "beyond_and_misaligned": r"not a multiple.*block 11,0,0",
    "mask_in_all": r"deadlock.*block 0,0,0",
    "barrier_in_some": r"deadlock.*block 3,0,0",
    "three_ways": r"deadlock.*block 23,0,0",
    "shared_between": r"block 33,0,0",
    "stack_in_some": r"block 5,0,0",
    "waits_for_the_lost": r"block 3,0,0",
    "reads_for_ever": r"block 11,0,0",
    "cluster_trap": r"block 1,1,0",
    "cluster_left": r"deadlock.*block 5: warp 0 at ends.cu:218 \(barrier 1\)",
    "half_arrive": r"deadlock.*has 64 of 128 arrivals.*block 0: warps 0-1",
}
# What `check` finds of all blocks, not only of those before the first that goes wrong.
FINDS = {
    "trap_in_some": ["race/write-read"],
    "mask_in_all": ["barrier/mask"],
    "shared_between": ["race/blocks-write-write"],
    "three_ways": ["barrier/not-reached", "bounds/out-of-allocation"],
    "half_arrive": ["barrier/mbarrier"],
}


def text_of(raw):
    text = re.sub(r"\b0x7[0-9a-f]{9,}\b", "ADDRESS", raw)
    return re.sub(r"\b[0-9.]+ (us|ms|s)\b", "TIME", text)


def one(margay, program, name, command, engine, threads):
    with tempfile.TemporaryDirectory(prefix="margay-ends-") as folder:
        report = os.path.join(folder, "report.json")
        done = subprocess.run([margay, command, "--threads", str(threads)] +
                              ([] if command == "run" else ["--json", report]) + [program, name], capture_output=True,
                              text=True, timeout=300, env=dict(os.environ, MARGAY_ENGINE=engine), check=False)
        data = json.loads(pathlib.Path(report).read_text(encoding="utf-8")) if os.path.exists(report) else {}
    for launch in data.get("launches", []):
        launch.pop("seconds", None)
    kept = {k: data.get(k) for k in ("launches", "findings")}
    return done.returncode, text_of(done.stdout), text_of(done.stderr), text_of(json.dumps(kept, indent=1))


def judge(name, command, result, complaints):
    if command == "run" and name in EXPECT and not re.search(EXPECT[name], result[2], re.S):
        complaints.append(f"{name}: {EXPECT[name]} is not in\n{result[2]}")
    if command == "check":
        found = [f"{f['check']}/{f['kind']}" for f in json.loads(result[3])["findings"] or []]
        complaints += [f"{name}: no {kind}, but {found}" for kind in FINDS.get(name, []) if kind not in found]


def main():
    margay, program = sys.argv[1:3]
    often = "MARGAY_TEST_OFTEN" in os.environ
    names = subprocess.run([margay, "run", program], capture_output=True, text=True, timeout=60, check=True).stdout.split()
    ways = [(e, t) for e in ENGINES for t in THREADS] if often else FEW
    todo = [(name, command, *way) for name in names for command in ("run", "profile", "check") for way in ways
            # it is given up at some time, and takes seconds to get there: its counts are marked, and not compared
            if name != "reads_for_ever" or (often and command != "profile")]
    complaints, first = [], {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for what, result in zip(todo, pool.map(lambda w: one(margay, program, *w), todo)):
            name, command, engine, threads = what
            if (name, command) not in first:
                first[name, command] = result
                judge(name, command, result, complaints)
            for part, a, b in zip(("status", "stdout", "stderr", "report"), first[name, command], result):
                if a != b:
                    complaints.append(f"{name}, {command}: {part} of {engine} with {threads} threads differs:\n{a}\n---\n{b}")
    for c in complaints:
        print(c)
    print(f"{len(names)} launches, {len(todo)} runs, {len(complaints)} complaints")
    return bool(complaints) or not names


if __name__ == "__main__":
    sys.exit(main())
