#!/usr/bin/env python3
"""Advice on what others than threads do in shared memory: test_bulk.py MARGAY EXAMPLES

The roofline has what multiplications of warpgroups read there and what bulk copies move, as `margay profile` counts both, and
the verdict is that shared memory is needed. A barrier behind which others arrive at an mbarrier is needed, too.
"""
import json
import os
import subprocess
import sys
import tempfile

WAVEFRONTS = "memory_l1_wavefronts_shared"
SECTORS = "memory_l2_theoretical_sectors_global"
READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"
COPIED = "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum"


def report(margay, command, program, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        subprocess.run([margay, command, *options, "--json", path, program], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=300)
        with open(path, encoding="utf-8") as file:
            return json.load(file)


def main():
    margay, examples = sys.argv[1:]
    failures = []
    for name, multiplies in ("wgmma_gemm.cu", True), ("bulk_pipeline.cu", False):
        program = os.path.join(examples, name)
        advice = report(margay, "advise", program)["advice"][0]
        counted = report(margay, "profile", program, "--time")["launches"][0]["metrics"]
        amount = {roof["name"]: roof["amount"] for roof in advice["roofline"]["roofs"]}
        copied = 32 * counted[COPIED]
        if not copied or amount["shared memory"] != 128 * counted[WAVEFRONTS] + copied:
            failures.append(f"{name}: {amount} of {counted[WAVEFRONTS]} wavefronts and {copied} bytes")
        memory = min(counted[READ] + counted[WRITTEN], 32 * counted[SECTORS]) + copied  # without what the caches keep
        if abs(amount["device memory"] - memory) > 1:  # the counters are whole
            failures.append(f"{name}: {amount}, and not {memory} bytes of device memory")
        if not advice["verdict"].startswith("Shared memory is used, and needed") or ("matrices" in advice["verdict"]) != multiplies:
            failures.append(f"{name}: {advice['verdict']}")
        if any(row["id"] == "barriers-needed" and row["result"] == "failed" for row in advice["checklist"]):
            failures.append(f"{name}: its barriers are needed")
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mbarrier.cu")
    ids = [item["id"] for item in report(margay, "advise", program)["advice"][0]["advice"]]
    if "syncwarp" in ids:
        failures.append(f"mbarrier.cu: {ids}")
    for line in failures:
        print(line, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
