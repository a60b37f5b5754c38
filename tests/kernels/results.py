#!/usr/bin/env python3
"""results.py - the pages that tools/gen_results.py makes: from a small measurement with known ratios, and those in the tree.

    results.py SOURCE_FOLDER
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1]).resolve()
TOOL = [sys.executable, str(ROOT / "tools" / "gen_results.py")]


def row(kind, name, seconds, **more):
    return {"kind": kind, "name": name, "ran": True, "ok": True, "error": 0, "seconds": seconds, "low": seconds, "high": seconds,
            "times_first": 4e-3 / seconds, "of_limit": 0.5, **more}


MEASURED = {
    "margay": {"bench": 1, "kernels": "0.1.0"},
    "device": {"name": "Test GPU", "runtime": 13000, "driver": "580.1", "copy_bytes_per_second": 3e12, "fp32_flops_per_second": 6e13},
    "measured": True, "date": "2026-11-21", "repetitions": 25,
    "cases": [
        # lut: 0.95 of the copy, the target is 0.90; transpose: 1.01 of geam, the target is 1.03
        {"operation": "lut", "type": "u8", "size": "2^28", "limit": "copy", "bytes": 2e9, "flops": 0,
         "rows": [row("rung", "global", 4e-3), row("rung", "best one", 1e-3), row("peer", "device copy", 0.95e-3)]},
        {"operation": "transpose", "type": "b32", "size": "16384x16384", "limit": "copy", "bytes": 2e9, "flops": 0,
         "rows": [row("rung", "naive", 4e-3), row("rung", "fast but wrong", 1e-5, ok=False), row("rung", "last", 1e-3),
                  {"kind": "rung", "name": "slow", "ran": False, "why": "too slow at this size"},
                  row("peer", "cuBLAS geam", 1.01e-3)]},
    ],
}


def run(*words):
    return subprocess.run([*TOOL, *map(str, words)], capture_output=True, text=True)


def expect(condition, what, about=""):
    if not condition:
        sys.exit(f"results.py: {what}\n{about}")


with tempfile.TemporaryDirectory() as name:
    tree = pathlib.Path(name)
    results, page, tuning = tree / "bench" / "results", tree / "docs" / "results.md", tree / "docs" / "tuning" / "lut.md"
    results.mkdir(parents=True)
    tuning.parent.mkdir(parents=True)
    (results / "simulated.json").write_text(json.dumps({"measured": False}))
    expect(run(tree).returncode == 0 and not page.exists(), "a page was made of what nobody measured")
    (results / "test-gpu.json").write_text(json.dumps(MEASURED))
    (results / "test-gpu.tune.md").write_text("## lut\n\n| shapes | GB/s |\n\n## gemm\n\n| no page |\n")
    (results / "test-gpu.tests.txt").write_text(
        "native     kernels_lut ......................***Failed    3.71 sec\nnative     kernels_gemm .....   Passed   32.12 sec\n"
        "memcheck   test_kernels_gemm            clean            15 s\nracecheck  test_kernels_gemm            did not finish   30 s\n")
    for readme in ("README.md", "README.zh.md"):
        (tree / readme).write_text("before\n<!-- results: made by tools/gen_results.py -->\n<!-- /results -->\nafter\n")
    tuning.write_text("# lut\nprose\n<!-- table: made by make tune-gpu -->\nold\n<!-- /table -->\nmore prose\n")
    done = run(tree)
    expect(done.returncode == 0, "the tool failed", done.stderr)
    text = page.read_text()
    for line in ("| lut u8, 2^28 | best one | 2,000 GB/s | device copy, 2,105 GB/s | 0.950 | 0.90 | met |",
                 "| transpose b32, 16384x16384 | last | 2,000 GB/s | cuBLAS geam, 1,980 GB/s | 1.010 | 1.03 | **not met**, short by 1.9 % |",
                 "| gemm f32, 4096x4096x4096 | | | | | 0.95 | not measured |",
                 "| best one | 2,000 GB/s | 4.00 | 0.950 | 50 % |",
                 "| *cuBLAS geam* | 1,980 GB/s | 3.96 | 1.000 | 50 % |",
                 "slow was not run: too slow at this size.", "results-test-gpu.svg",
                 "| gemm | passed | clean | **did not finish** |  |  |", "| lut | **failed** |  |  |  |  |"):
        expect(line in text, f"the page lacks: {line}", text)
    expect("| fast but wrong |" in text and "**wrong**" in text, "a wrong rung is not marked", text)
    expect(tuning.read_text() == "# lut\nprose\n<!-- table: made by make tune-gpu -->\n\n| shapes | GB/s |\n\n<!-- /table -->\nmore prose\n",
           "the table of the tuning page", tuning.read_text())
    for readme, ratio in ("README.md", "| ratio |"), ("README.zh.md", "| 比值 |"):
        short = (tree / readme).read_text(encoding="utf-8")
        expect("| lut u8, 2^28 | 2,000 GB/s | device copy 2,105 GB/s | 0.95 |" in short and ratio in short
               and short.endswith("/results -->\nafter\n"), f"the table in {readme}", short)
    expect(run(tree, "--check").returncode == 0, "a page that was just made is said to be out of date")
    page.write_text(text.replace("0.950", "1.950"))
    expect(run(tree, "--check").returncode == 1, "a changed page passes")
    (results / "test-gpu.json").write_text("{")
    expect("test-gpu.json" in run(tree).stderr, "a broken file is not named")

done = run(ROOT, "--check")
expect(done.returncode == 0, "the tree's pages", done.stderr)
print("ok")
