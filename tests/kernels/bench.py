#!/usr/bin/env python3
"""bench.py - `margay bench` without a GPU: every rung of every operation is verified and has counters, which show what the texts
of the ladders say.

    bench.py MARGAY SOURCE_FOLDER
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

MARGAY, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])


def run(*words):
    return subprocess.run([MARGAY, "bench", *words], capture_output=True, text=True)


def expect(condition, what, about=""):
    if not condition:
        sys.exit(f"bench.py: {what}\n{about}")


with tempfile.NamedTemporaryFile(suffix=".json") as out:
    done = run("--simulate", "--json", out.name)
    expect(done.returncode == 0, f"exit status {done.returncode}", done.stderr[-2000:])
    result = json.load(out)

expect(result["measured"] is False, "counted, and said to be measured")
text = (ROOT / "kernels" / "common" / "operation.def").read_text(encoding="utf-8")
operations = set(re.findall(r"^OPERATION\((\w+)", text, re.M))
expect({c["operation"] for c in result["cases"]} == operations, "not all operations", {c["operation"] for c in result["cases"]})
counters = {}
for case in result["cases"]:
    rungs = [r for r in case["rows"] if r["kind"] == "rung"]
    expect(rungs, f"{case['operation']} {case['type']} has no rung")
    for row in rungs:
        what = f"{case['operation']} {case['type']} {case['size']}, {row['name']}"
        expect(row["ran"] and row["ok"], f"{what}: not verified", row)
        expect(row["launches"] >= 1 and row["counters"]["smsp__inst_executed.sum"] > 0, f"{what}: nothing counted", row)
        counters.setdefault((case["operation"], row["name"]), row["counters"])  # of the first case


def excess(operation, rung):
    c = counters[operation, rung]
    return c["memory_l1_wavefronts_shared"] - c["memory_l1_wavefronts_shared_ideal"]


def sectors(operation, rung):
    return counters[operation, rung]["memory_l2_theoretical_sectors_global"]


expect(excess("transpose", "shared") > 0, "a column of a tile without conflicts")
expect(excess("transpose", "padded") == 0 and excess("transpose", "swizzled") == 0, "conflicts in the padded or swizzled tile")
expect(sectors("stream", "stride 32") == 8 * sectors("stream", "unit stride"), "sectors of a stride of 32")
expect(excess("lut", "shared") > 0 and excess("lut", "replicated") == 0, "a copy for each bank, and conflicts")
expect(excess("histogram", "replicated") <= excess("histogram", "shared"), "copies in all banks, and more conflicts")
expect(run("--simulate", "nothing").returncode == 2, "an operation that there is not")
expect(run("--simulate", "gemm", "--sizes", "12y").returncode == 2, "sizes that are none")
wide = run("--simulate", "lut", "--sizes", "1000")
expect(wide.returncode == 0 and "lut u8 1000" in wide.stdout, "a size of one's own", wide.stdout + wide.stderr)
print("ok")
