#!/usr/bin/env python3
"""test_ladders.py - on every rung of the collection's ladders, advice names what the next rung does.

    test_ladders.py MARGAY MARGAY_BENCH SOURCE_FOLDER OPERATION

Each ladder is run as it is, at a size at which its rungs differ, and of each rung's kernel one piece of advice must be the one
that stands beside it below: what the next rung adds. Next is the next rung that an H100 runs faster (docs/results.md): where the
rung behind is slower there, it says so. The rungs are those of kernels/<op>/<op>.def, all of them; one without advice has its
reason. Advice is of one launch: what joins two of them is nothing that it can see.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

LAST = "nothing is next"
LADDERS = {
    "gemm": ("1024x1024x64", "", {
        "naive": (r"^naive\(", "swap"),
        "coalesced": (r"^coalesced\(", "stage"),
        "tiled 16": (r"gemm_tiled<16", "coarsen"), # larger tiles, each element used more often
        "tiled 32": (r"gemm_tiled<32, 0>", "coarsen"), # padded and double-buffered are slower there; then vectorised: four elements
        "padded": (r"gemm_tiled<32, 1>", "read-ahead"),
        "double-buffered": (r"^doubled", "coarsen"),
        "vectorised": (r"vectorised<true>", "coarsen"),
        "register-tiled 1D": (r"^thread1d", "coarsen"),
        "register-tiled 2D": (r"thread2d<true>", "read-ahead"), # the next tiles travel meanwhile
        "warp-tiled": (r"warp_tiled<true>", "read-ahead"),
        "cp.async": (r"gemm_shape<128, 128, 8, 8, 8, 1, 4, 2>", "more-blocks", "256x256x256"), # small matrices fill the chip
        "best": LAST}),
    "reduce": ("2^22", "float", {
        "global atomics": (r"fold_atomics_kernel<fold_sum<float>", "privatise"),
        "interleaved": (r"interleaved<fold_sum<float>", "divergence"),
        "sequential addressing": (r"fold_tree_kernel<fold_sum<float>", "work"),
        "first add while loading": (r"first_add<fold_sum<float>", "shuffle"),
        "warp shuffle": (r"warp_shuffle<fold_sum<float>", "work vectors"),
        "single pass": "the next joins the blocks' values in another launch",
        "dependent launch": LAST}),
    "square_sum": ("2^22", "float", {
        "global atomics": (r"fold_atomics_kernel<fold_sum<float>", "privatise"),
        "shared tree": (r"fold_tree_kernel<fold_sum<float>", "work shuffle"),
        "best": LAST}),
    "dot": ("2^22", "float", {
        "global atomics": (r"fold_atomics_kernel<fold_sum<float>", "privatise"),
        "shared tree": (r"fold_tree_kernel<fold_sum<float>, fold_product", "work vectors"),
        "best": LAST}),
    "scan": ("2^22", "float", {
        "Hillis-Steele": (r"hillis_steele<float>", "shuffle"), # Blelloch's trees are slower, padded or not
        "Blelloch": (r"scan_blelloch_kernel<false, float>", "pad"),
        "Blelloch padded": (r"scan_blelloch_kernel<true, float>", "shuffle"),
        "warp shuffle": "the next adds up a thread's own values first; which sums are whose, one launch does not tell",
        "three-pass": "the next makes one launch of two that read the same",
        "decoupled look-back": "the next is slower", "pipelined": LAST}),
    "transpose": ("2048x2048", "unsigned int", {
        "naive": (r"transpose_naive<unsigned int>", "stage-order"),
        "shared": (r"transpose_shared<unsigned int>", "pad"),
        "padded": (r"transpose_padded<unsigned int>", "vectors"), # swizzled is as fast
        "swizzled": (r"transpose_swizzled<unsigned int>", "vectors"),
        "vectorised": LAST}),
    "stencil1d": ("2^23", "", {
        "naive": "the next asks for the edge once an element and not at every tap, which no count of accesses tells",
        "shared halo": (r"^halo\(", "coarsen"), # four elements a thread
        "best": LAST}),
    "conv2d": ("2048x2048x5", "", {
        "naive": "the next saves the tests for the edge at every tap, which no count of accesses tells",
        "shared halo": (r"^halo\(", "uniform"),
        "constant filter": (r"constant<5>", "coarsen vectors"), # separable is another algorithm, and slower; then four a thread
        "separable": (r"^separable\(", "coarsen vectors"),
        "best": LAST}),
    "histogram": ("2^23", "unsigned char", {
        "global": (r"histogram_global<unsigned char>", "privatise"),
        "shared": (r"histogram_shared<unsigned char>", "vectors"), # a copy a warp is no faster; then a copy a lane, and 16 bytes at once
        "copy a warp": (r"histogram_per_warp<unsigned char>", "vectors"), # 16-byte reads; its copies leave no room for more
        "replicated": LAST}),
    "lut": ("2^22", "", {
        "global": (r"^lut_global", "gather"), # constant is slower; then shared
        "constant": (r"^lut_constant", "constant"),
        "shared": (r"^lut_shared", "vectors"), # 16 bytes a thread
        "replicated": LAST}),
}

margay, bench, tree, op = sys.argv[1:]
sizes, only, rungs = LADDERS[op]
with open(os.path.join(tree, "kernels", op, op + ".def"), encoding="utf-8") as file:
    listed = re.findall(r'^RUNG\(\w+,\s*"([^"]+)"', file.read(), re.M)
assert listed == list(rungs), f"the rungs of {op} are {listed}"


def advise(size):
    with tempfile.TemporaryDirectory() as folder:
        out, rows = os.path.join(folder, "r.json"), os.path.join(folder, "rows")
        env = {k: v for k, v in os.environ.items() if not k.startswith("MARGAY_")}
        done = subprocess.run([margay, "advise", "--json", out, *(["--kernel", only] if only else []), bench, "--rows", rows,
                               "--sizes", size, op], env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        with open(out, encoding="utf-8") as file:
            return json.load(file)["advice"]


runs, faults = {}, []
for rung, wanted in rungs.items():
    if isinstance(wanted, str):
        print(f"{rung:24} {wanted}")
        continue
    size = wanted[2] if len(wanted) > 2 else sizes
    if size not in runs:
        runs[size] = advise(size)
    found = [a for a in runs[size] if re.search(wanted[0], a["kernel"])]
    longest = max(found, key=lambda a: a["seconds"], default=None) # a pass over few values is beside the point
    said = {item["id"]: item for item in longest["advice"]} if longest else {}
    print(f"{rung:24} {', '.join(said)}")
    for name in wanted[1].split():
        if name not in said:
            faults.append(f"{op}, {rung}: no advice '{name}', but {list(said)}")
        elif not (said[name]["gain"] >= 0.03 and said[name]["how"] and said[name]["why"] and said[name]["line"]):
            faults.append(f"{op}, {rung}: {said[name]}")
print("\n".join(faults))
sys.exit(1 if faults else 0)
