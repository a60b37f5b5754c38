"""What a profiler counts of matrix instructions, asynchronous copies and clusters (hopper.cu), and Margay against it.

    hopper.py collect OUT.json FOLDER...     FOLDER/MODE.csv (ncu --csv --page raw) and FOLDER/MODE.txt (what hopper printed);
                                             modes of which there is none stay as they are in OUT.json
    hopper.py check MARGAY NVCC              Margay against hopper.json, each launch and counter, to the last digit

hopper.json: {"device", "asked": [counters ...], "launches": {MODE: {name: [{counter: value}, which]}}}: the values without zeros, and
which of the lists in "asked" was asked for. What is known to differ stands in DIFFERS with its reason; an entry that no longer differs is a failure.
"""
import csv
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MODES = ("matrix", "memory", "clusters", "rows")
KEPT = re.compile(
    r"memory_l[12]_\w+|(sm__inst_executed_pipe_(tensor|tma)\w*|sm__ops_path_tensor_src_(?!\w*sparsity)\w+|"
    r"smsp__inst_executed_op_ldsm|smsp__sass_inst_executed_op_d?shared\w*|l1tex__t_(sectors|requests)_pipe_lsu_mem_global_op_\w+|"
    r"l1tex__m_\w+_sectors_mem_dshared\w*|l1tex__m_\w+_sectors_mem_global_op_tma_(ld|st|red)|"
    r"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma)\.sum")
BUILD = ["-std=c++17", "-gencode", "arch=compute_90a,code=[compute_90a,sm_90a]", "-lineinfo"]
# (part of a launch's name, counter) -> why Margay counts another number
LOADS = "ptxas makes ldmatrix of wmma.load in f16 and s8; the wavefronts are the same"
OUTSIDE = "what a tile has outside of the tensor counts on the device as if it were fetched"
FLOATS = "floats in another block's shared memory are added in a loop of a load and exchanges, by the machine code"
APART = "two lanes of a sector went apart, or together, by their places in the warp: one more or less"
DSHARED = "l1tex__m_xbar2l1tex_read_sectors_mem_dshared"
DIFFERS = {
    ("from 992 56 of", "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum"): OUTSIDE,
    ("far_multicast_16", "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum"): "half a sector for each block is counted twice",
    ("far_bulk_48", f"{DSHARED}.sum"): "a sector and a half are three on the way",
    ("far_store1 stride 1", f"{DSHARED}.sum"): "single bytes take the sector twice",
    ("far_store1 stride 1", f"{DSHARED}_op_st.sum"): "single bytes take the sector twice",
    ("far_st_async random of 64", f"{DSHARED}.sum"): APART,
    ("far_store random of 4096", f"{DSHARED}_op_st.sum"): APART,
    ("far_st_async random of 4096", f"{DSHARED}_op_st.sum"): APART,
} | {
    (kernel, counter): FLOATS
    for kernel in ("far_fadd", "far_red_f ")
    for counter in (f"{DSHARED}.sum", f"{DSHARED}_op_ld.sum", "memory_l1_wavefronts_shared", "memory_l1_wavefronts_shared_ideal",
                    "smsp__sass_inst_executed_op_dshared_atom.sum", "smsp__sass_inst_executed_op_dshared_ld.sum")
} | {
    (f"wmma_loads<{kind}", counter): LOADS
    for kind in ("half", "signed char")
    for counter in ("smsp__inst_executed_op_ldsm.sum", "smsp__sass_inst_executed_op_shared_ld.sum")
}


def launches_of(text):
    return re.findall(r"^launch \d+ (.*)$", text, re.M)


def collect(out, *folders):
    device, launches = "", {mode: {} for mode in MODES}
    if os.path.exists(out):
        with open(out) as file:
            kept = json.load(file)
        device = kept["device"]
        for mode, of in kept["launches"].items():
            launches[mode] = {name: dict.fromkeys(kept["asked"][asked], 0) | counts for name, (counts, asked) in of.items()}
    for folder, mode in ((folder, mode) for folder in folders for mode in MODES):
        if not os.path.exists(os.path.join(folder, mode + ".csv")):
            continue
        with open(os.path.join(folder, mode + ".txt")) as file:
            names = launches_of(file.read())
        with open(os.path.join(folder, mode + ".csv"), newline="") as file:
            head, _, *rows = csv.reader(file)
        asked = sorted(key for key in head if KEPT.fullmatch(key))
        launches[mode] = {}
        for name, row in zip(names, rows):
            values = dict(zip(head, row))
            device = values["device__attribute_display_name"]
            launches[mode][name] = {key: int(values[key].replace(",", "")) for key in asked}
    lists = {}
    with open(out, "w") as file:
        parts = []
        for mode, of in launches.items():
            lines = []
            for name, counts in of.items():
                kept = {key: value for key, value in counts.items() if value}
                lines.append(f"{json.dumps(name)}: {json.dumps([kept, lists.setdefault(tuple(counts), len(lists))])}")
            parts.append(f"{json.dumps(mode)}: {{\n" + ",\n".join(lines) + "}")
        asked = ",\n".join(json.dumps(list(keys)) for keys in lists)
        file.write('{"device": %s,\n"asked": [%s],\n"launches": {\n%s}}\n' % (json.dumps(device), asked, ",\n".join(parts)))


def check_occupancy(margay, program):
    """How many clusters fit, against clusters.txt: what an H200 printed."""
    ours = subprocess.run([margay, "run", "--board", "h200", program, "occupancy"], check=True, timeout=60, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout
    with open(os.path.join(HERE, "clusters.txt")) as file:
        device = file.read()
    lines = [text.splitlines() for text in (ours, device)]
    return [f"occupancy: {a}; on the device {b}" for a, b in zip(*lines) if a != b] + (
        ["occupancy: not as many lines as on the device"] if len(lines[0]) != len(lines[1]) else [])


def check(margay, nvcc):
    with open(os.path.join(HERE, "hopper.json")) as file:
        device = json.load(file)
    failures, compared, met = [], 0, set()
    with tempfile.TemporaryDirectory() as work:
        program, report = os.path.join(work, "hopper"), os.path.join(work, "report.json")
        subprocess.run([nvcc, *BUILD, "-o", program, os.path.join(HERE, "hopper.cu")], check=True)
        for mode in MODES:
            done = subprocess.run([margay, "profile", "--json", report, program, mode], check=True, timeout=300,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            with open(report) as file:
                ours = json.load(file)["launches"]
            names = launches_of(done.stdout)
            if len(names) != len(ours):
                failures.append(f"{mode}: {len(ours)} launches in the report, {len(names)} made")
            failures += [f"{name}: the device made this launch, Margay did not"
                         for name in set(device["launches"][mode]) - set(names)]
            for name, launch in zip(names, ours):
                counts, asked = device["launches"][mode].get(name, ({}, None))
                for key in device["asked"][asked] if counts or asked is not None else []:
                    want = counts.get(key, 0)
                    if key not in launch["metrics"]:
                        continue
                    compared += 1
                    if launch["metrics"][key] == want:
                        continue
                    known = [entry for entry in DIFFERS if entry[0] in name and entry[1] == key]
                    met.update(known)
                    if not known:
                        failures.append(f"{mode}: {name}: {key} is {launch['metrics'][key]}, on the device {want}")
        failures += check_occupancy(margay, program)
    failures += [f"{entry}: is listed as different and is not" for entry in set(DIFFERS) - met]
    if compared < 1000:
        failures.append(f"only {compared} counters compared")
    for line in failures:
        print(line, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["collect"] and len(sys.argv) > 3:
        collect(*sys.argv[2:])
    elif sys.argv[1:2] == ["check"] and len(sys.argv) == 4:
        sys.exit(check(*sys.argv[2:]))
    else:
        sys.exit(__doc__)
