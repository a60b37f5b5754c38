#!/usr/bin/env python3
"""gen_results.py - writes docs/results.md, its picture, the short tables in the READMEs and the tables in docs/tuning/ from what was
measured, or says that they are out of date.

    gen_results.py SOURCE_FOLDER [RESULTS_FOLDER] [--check]

RESULTS_FOLDER (SOURCE_FOLDER/bench/results unless given) holds, for each device, DEVICE.json from margay-bench; DEVICE.tune.md
from margay-tune and DEVICE.tests.txt from `make test-gpu` where there are any. Every ratio here is made from two times of one run.
"""
import json
import pathlib
import re
import sys

# The best rung of (operation, type, size) is to be this many times as fast as the first peer in the same run.
TARGETS = [
    ("gemm", "f32", "4096x4096x4096", 0.95),
    ("gemm", "f32", "2048x512x1024", 0.95),
    ("reduce", "sum f32", "2^28", 1.00),
    ("reduce", "sum f32", "2^20", 1.30),
    ("scan", "inclusive f32", "2^28", 1.10),
    ("dot", "f32", "2^28", 1.00),
    ("square_sum", "f32", "2^28", 1.40),
    ("transpose", "b32", "16384x16384", 1.03),
    ("transpose", "b32", "1024x1024", 1.20),
    ("histogram", "u8 random", "2^28", 1.15),
    ("conv2d", "f32", "16384x16384x5", 0.90),
    ("stencil1d", "f32 radius 1", "2^28", 0.95),
    ("lut", "u8", "2^28", 0.90),
]
SHORT = re.compile(r"(<!-- results: made by tools/gen_results.py -->\n).*?(<!-- /results -->)", re.S)
TABLE = re.compile(r"(<!-- table: made by make tune-gpu -->\n).*?(<!-- /table -->)", re.S)


def rate_text(case, row):
    if "figure" in row:
        return f"{row['figure']:.4g} {row['unit']}"
    if case["limit"] == "fp32":
        return f"{1e-12 * case['flops'] / row['seconds']:.2f} TFLOP/s"
    return f"{1e-9 * case['bytes'] / row['seconds']:,.0f} GB/s"


def timed(case, kind):
    return [r for r in case["rows"] if r["kind"] == kind and r["ran"] and r.get("seconds")]


def peer_of(case):
    return next(iter(timed(case, "peer")), None)


def best_of(case):
    return min((r for r in timed(case, "rung") if r["ok"]), key=lambda r: r["seconds"], default=None)


def ladder(case):
    peer, limit = peer_of(case), {"fp32": "FP32", "copy": "copy"}[case["limit"]]
    lines = [f"#### {case['operation']} {case['type']}, {case['size']}", ""]
    head = ["", "rate", "× the first"] + ([f"of {peer['name']}"] if peer else []) + [f"of the {limit} limit"]
    lines += [f"| {' | '.join(head)} |", "| --- |" + " ---: |" * (len(head) - 1)]
    for row in case["rows"]:
        if not row["ran"] or not row.get("seconds"):
            continue
        name = row["name"] if row["kind"] == "rung" else f"*{row['name']}*"
        cells = [name, rate_text(case, row), f"{row['times_first']:.2f}" if "times_first" in row else ""]
        if peer:
            cells.append(f"{peer['seconds'] / row['seconds']:.3f}")
        cells.append(f"{100 * row['of_limit']:.0f} %" if "of_limit" in row else "")
        lines.append(f"| {' | '.join(cells)} |" + ("" if row["ok"] else " **wrong**"))
    missing = [f"{r['name']} was not run: {r.get('why', 'no reason given')}." for r in case["rows"] if r["kind"] == "rung" and not r["ran"]]
    return lines + ([""] + missing if missing else []) + [""]


def targets(result):
    """(what, rung, peer, ratio, wanted), ratio None where it was not measured."""
    cases = {(c["operation"], c["type"], c["size"]): c for c in result["cases"]}
    found = []
    for operation, kind, size, wanted in TARGETS:
        case = cases.get((operation, kind, size))
        best, peer = (best_of(case), peer_of(case)) if case else (None, None)
        ratio = peer["seconds"] / best["seconds"] if best and peer else None
        found.append((f"{operation} {kind}, {size}", best, peer, ratio, wanted, case))
    return found


def target_table(result):
    lines = ["| operation | best rung | rate | against | ratio | target | |", "| --- | --- | ---: | --- | ---: | ---: | --- |"]
    for what, best, peer, ratio, wanted, case in targets(result):
        if ratio is None:
            lines.append(f"| {what} | | | | | {wanted:.2f} | not measured |")
            continue
        verdict = "met" if ratio >= wanted else f"**not met**, short by {100 * (1 - ratio / wanted):.1f} %"
        lines.append(f"| {what} | {best['name']} | {rate_text(case, best)} | {peer['name']}, {rate_text(case, peer)} "
                     f"| {ratio:.3f} | {wanted:.2f} | {verdict} |")
    return lines


def picture(result):
    """A bar for each target: the ratio to the peer, with a tick where the target is."""
    bars = [(what, ratio, wanted, peer["name"]) for what, best, peer, ratio, wanted, _ in targets(result) if ratio is not None]
    if not bars:
        return None
    left, right, step, top = 260, 110, 26, 54
    scale = 480 / max(1.6, *(ratio for _, ratio, _, _ in bars))
    width, height = left + 480 + right, top + step * len(bars) + 16
    x = lambda ratio: left + ratio * scale
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif" '
           f'font-size="13">',
           f'<rect width="{width}" height="{height}" fill="#fff"/>',
           f'<text x="12" y="20" font-weight="600">Best rungs beside their peers on {result["device"]["name"]}</text>',
           '<text x="12" y="38" fill="#555">times as fast in the same run; the line is the peer, ticks are the targets</text>']
    labels = []
    for i, (what, ratio, wanted, peer) in enumerate(bars):
        y = top + i * step
        out += [f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{what}</text>',
                f'<rect x="{left}" y="{y + 2}" width="{ratio * scale:.1f}" height="{step - 8}" '
                f'fill="{"#3b7a57" if ratio >= wanted else "#b5651d"}"/>',
                f'<rect x="{x(wanted) - 1:.1f}" y="{y}" width="2" height="{step - 4}" fill="#000"/>']
        place = f'x="{max(x(ratio), x(wanted)) + 6:.1f}" y="{y + 14}"' # a rim below, and the text: no viewer need order them
        labels += [f'<text {place} {how}>{ratio:.2f} of {peer}</text>' for how in ('stroke="#fff" stroke-width="4"', 'fill="#000"')]
    line = f'<line x1="{x(1):.1f}" y1="{top - 4}" x2="{x(1):.1f}" y2="{height - 10}" stroke="#555" stroke-dasharray="3 3"/>'
    return "\n".join([*out, line, *labels, "</svg>"]) + "\n"


HEADS = {"README.md": "| on {}, {} | best rung | peer in the same run | ratio |",
         "README.zh.md": "| {}，{} | 最快的一级 | 同次运行中的对照 | 比值 |"}


def short_table(result, head):
    """For the READMEs: what was reached, without the targets."""
    lines = [head.format(result["device"]["name"], result["date"]), "| --- | ---: | ---: | ---: |"]
    for what, best, peer, ratio, _, case in targets(result):
        if ratio is not None:
            lines.append(f"| {what} | {rate_text(case, best)} | {peer['name']} {rate_text(case, peer)} | {ratio:.2f} |")
    return lines


def test_table(tests):
    """A row for each program that failed in any of the ways in which it was run."""
    ways, verdicts = ["native", "memcheck", "racecheck", "initcheck", "synccheck"], {}
    for line in tests.splitlines():
        native = re.match(r"native +kernels_(?!page|results)(\w+) [ .]*(?:\*\*\*)?(Passed|Failed|Skipped|Timeout)", line)
        tool = re.match(r"(\w+check) +test_kernels_(\w+) +(.+?) +\d+ s$", line)
        if native:
            verdicts.setdefault(native[1], {})["native"] = native[2].lower()
        elif tool:
            verdicts.setdefault(tool[2], {})[tool[1]] = tool[3]
    plain = {"passed", "clean"}
    bad = {name: found for name, found in verdicts.items() if not plain.issuperset(found.values())}
    if not bad:
        return [f"All {len(verdicts)} programs passed, and those that memcheck, racecheck, initcheck and synccheck ran were clean."]
    return [f"{len(verdicts) - len(bad)} of {len(verdicts)} programs passed, and were clean; the others:", "",
            f"| | {' | '.join(ways)} |", "| --- |" + " --- |" * len(ways)] + [
        f"| {name} | " + " | ".join(v if (v := found.get(way, "")) in plain or not v else f"**{v}**" for way in ways) + " |"
        for name, found in sorted(bad.items())]


def shown(result):
    """The cases whose ladders stand on the page."""
    wanted = {}
    for operation, *rest, _ in TARGETS:
        wanted.setdefault(operation, tuple(rest))
    for case in result["cases"]:
        if wanted.setdefault(case["operation"], (case["type"], case["size"])) == (case["type"], case["size"]):
            yield case


def device_part(name, result, tests):
    d = result["device"]
    lines = [f"## {d['name']}", "",
             f"{result['date']}; driver {d['driver']}, CUDA runtime {d['runtime'] // 1000}.{d['runtime'] % 1000 // 10}. Limits "
             f"measured in the same run: device copy {1e-9 * d['copy_bytes_per_second']:,.0f} GB/s (bytes read and written), FP32 "
             f"fused multiply-add {1e-12 * d['fp32_flops_per_second']:.1f} TFLOP/s. Each time is the median of {result['repetitions']} "
             f"runs. The numbers: [bench/results/{name}.json](../bench/results/{name}.json).", "",
             "### The targets", "", *target_table(result), ""]
    if picture(result):
        lines += [f"![ratios of the best rungs to their peers](results-{name}.svg)", ""]
    if tests:
        lines += ["### Tests on this machine", "", "`make test-gpu`: each operation's tests as they are, and with small sizes under NVIDIA's "
                  "compute-sanitizer.", "", *test_table(tests), ""]
    lines += ["### The ladders", "", "One of each operation; the file above has times, and all sizes and types.", ""]
    for case in shown(result):
        lines += ladder(case)
    return lines


INTRODUCTION = """# Results

Made by `make bench-gpu`. Every row was verified against plain C first; rungs and peers take turns, each with a cold second-level
cache, between two CUDA events ([bench.md](bench.md)). A ratio above 1 is faster than the peer. *Italics* are peers, and plain C on
one thread of the host. [tuning/](tuning/) says what was tried.
"""


def main():
    words = [a for a in sys.argv[1:] if a != "--check"]
    root = pathlib.Path(words[0])
    folder = pathlib.Path(words[1]) if len(words) > 1 else root / "bench" / "results"
    lines, files = [INTRODUCTION], {}
    for path in sorted(folder.glob("*.json")):
        name = path.stem
        try:
            result = json.loads(path.read_text(encoding="utf-8"))
            if not result["measured"]:
                continue
            tests = folder / f"{name}.tests.txt"
            for readme, head in ((root / file, head) for file, head in HEADS.items()):
                if readme not in files and readme.exists():
                    table = "\n".join(short_table(result, head))
                    files[readme] = SHORT.sub(lambda m: f"{m[1]}\n{table}\n\n{m[2]}", readme.read_text(encoding="utf-8"))
            lines += device_part(name, result, tests.read_text(encoding="utf-8") if tests.exists() else None)
            if picture(result):
                files[root / "docs" / f"results-{name}.svg"] = picture(result)
        except (ValueError, KeyError, TypeError) as error:
            sys.exit(f"gen_results.py: {path}: {type(error).__name__}: {error}")
    if len(lines) > 1:
        files[root / "docs" / "results.md"] = "\n".join(lines).rstrip() + "\n"
    for path in sorted(folder.glob("*.tune.md")):
        for part in re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.M)[1:]:
            operation, table = part.split("\n", 1)
            page = root / "docs" / "tuning" / f"{operation.strip()}.md"
            if page.exists():
                old = files.get(page, page.read_text(encoding="utf-8"))
                files[page] = TABLE.sub(lambda m: m[1] + "\n" + table.strip() + "\n\n" + m[2], old)
    stale = [path for path, text in files.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv:
        if stale:
            sys.exit(f"{stale[0]} is not what tools/gen_results.py makes of {folder}: run it")
        return
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[path], encoding="utf-8")


main()
