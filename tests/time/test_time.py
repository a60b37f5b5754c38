"""test_time.py MARGAY NVCC KERNELS.cu - the estimate of time: the same for all threads and engines, made of its parts,
and what can be worked out by hand.

How far it is off is tests/hardware/test_time.py's.
"""
import json
import os
import subprocess
import sys
import tempfile

STALLED = "smsp__pcsamp_warps_issue_stalled_"
CLOCK = 1.98       # GHz, an H200's
BANDWIDTH = 4916.7 # GB/s, its memory's: 3,201 MHz, twice a cycle, 6,144 lines
FMA = 4            # cycles until a product can be used: NVIDIA's since Volta, in many papers, and time_micro.txt


def profile(margay, program, report, *options):
    subprocess.run([margay, "profile", "--time", "--quiet", "--board", "h200", "--output", os.devnull, "--json", report,
                    *options, program], check=True, stdout=subprocess.DEVNULL)
    with open(report) as file:
        return [(launch["kernel"].removeprefix("void ").split("(")[0], launch["metrics"]) for launch in json.load(file)["launches"]]


def check(good, what):
    if not good:
        sys.exit(what)


def near(value, wanted, part, what):
    check(abs(value / wanted - 1) <= part, f"{what}: {value:.0f}, not {wanted:.0f}")


def main():
    margay, nvcc, source = sys.argv[1:4]
    if not os.access(nvcc, os.X_OK):
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        program, report = os.path.join(folder, "kernels"), os.path.join(folder, "report.json")
        subprocess.run([nvcc, "-O3", "-arch=sm_90", "-lineinfo", "-o", program, source], check=True)
        launches = profile(margay, program, report, "--threads", "1", "--engine", "interp")
        check({"nothing", "chain<150>", "turn_tiled"} <= {kernel for kernel, _ in launches}, f"kernels: {launches}")
        for options in (["--threads", "3"], ["--threads", "2", "--engine", "interp"]):
            check(profile(margay, program, report, *options) == launches, f"other counts or times with {options}")
        for_ptx = os.path.join(folder, "for_ptx") # no machine code: what ptxas would make of it is guessed
        subprocess.run([nvcc, "-O3", "-gencode", "arch=compute_90,code=compute_90", "-o", for_ptx, source], check=True)
        guessed = dict(profile(margay, for_ptx, os.path.join(folder, "guessed.json")))
        with open(report) as file:
            full = json.load(file)["launches"]
        plain = subprocess.run([margay, "profile", "--quiet", "--json", "-", program], check=True, capture_output=True)
        check(b"gpu__time_duration" not in plain.stdout, "a time that nobody asked for")
    time = {}
    for kernel, m in launches:
        t = time[kernel] = m["gpu__time_duration.sum"]
        check(m["time__least"] < t < m["time__most"], f"{kernel}: {t} is not in its range")
        parts = sum(v for name, v in m.items()
                    if name.startswith("time__") and name not in ("time__least", "time__most", "time__machine_code"))
        check(abs(parts - t) <= 12, f"{kernel}: {t} ns, of parts of {parts} ns")
        check(t >= time["nothing"], f"{kernel} takes less than nothing")
    whole = {launch["kernel"].removeprefix("void ").split("(")[0]: launch for launch in full}
    for kernel, launch in whole.items():
        of_lines = sum(line["metrics"].get("line__time", 0) for line in launch["lines"])
        near(of_lines + launch["metrics"]["time__launch"], time[kernel], 0.02, f"{kernel}: time of all lines and the launch")
    for kernel, reason in (("chain<150>", "wait"), ("copy", "long_scoreboard"), ("banks<32>", "short_scoreboard"),
                           ("turn_naive", "long_scoreboard")):
        samples = {name[len(STALLED):]: n for name, n in whole[kernel]["metrics"].items() if name.startswith(STALLED)}
        check(max(samples, key=samples.get) == reason, f"{kernel}: not {reason} but {samples}")
    # a copy reads each sector once, from device memory, and writes as many, which the second cache takes
    derived, elements = whole["copy"]["derived"], 1024 * 1024
    check(whole["copy"]["metrics"]["dram__bytes_read.sum"] == elements * 4, "bytes read by a copy")
    check(50 <= derived["lts__t_sector_hit_rate.pct"] <= 58, f"hits of a copy in the second cache: {derived}")
    check(derived["l1tex__t_sector_hit_rate.pct"] == 0, f"hits of a copy in the first cache: {derived}")
    near(time["chain<150>"] - time["chain<50>"], 100 * 64 * FMA / CLOCK, 0.1, "6,400 products in a chain")
    moved = 2 * 1024 * 1024 * 4
    check(time["copy"] > moved / 2 / BANDWIDTH + 1000, "a copy is faster than the memory that it reads")
    # 8 warps, 256 loads, 32 wavefronts each, one a cycle
    wavefronts = 8 * 256 * 32 / CLOCK
    check(time["banks<32>"] > wavefronts, "bank conflicts cost less than their wavefronts")
    near(time["banks<32>"] - time["nothing"], wavefronts, 0.15, "loads that all go to one bank")
    # one warp is a scheduler's alone, which has half of the way: two cycles a wavefront (time_micro.txt)
    near(time["banks<96>"] - time["nothing"], 2 * 256 * 32 / CLOCK, 0.15, "conflicts of one warp")
    check(guessed["together"]["time__machine_code"] == 0, "a time of machine code that is not there")
    near(guessed["together"]["gpu__time_duration.sum"], time["together"], 0.3, "constants that lanes read together, guessed from PTX")
    for kernel in ("from_block", "nested"):
        near(time[kernel], guessed[kernel]["gpu__time_duration.sum"], 0.3, f"{kernel}: machine code beside PTX")
    check(1.5 * time["parted<32>"] < time["parted<1>"] < 2.3 * time["parted<32>"],
          f"lanes that go both ways take {time['parted<1>']} ns, warps that go one {time['parted<32>']}")
    check(time["pick<1>"] > 4 * time["pick<0>"], "lanes that ask for a word of the arguments each wait as if for one")
    near(time["left<true>"], time["left<false>"], 0.25, "a loop that is left in two places, after as many rounds")
    # 92 cycles a turn, one after the other (time_micro.txt)
    near(time["added<1>"] - time["nothing"], 64 * 92 / CLOCK, 0.3, "floats added at places of their own")
    near(time["added<0>"] - time["nothing"], 64 * 32 * 92 / CLOCK, 0.3, "floats added at one place")
    check(time["banks<1>"] * 4 < time["banks<32>"], "bank conflicts cost nothing")
    check(time["turn_naive"] > 1.3 * time["turn_tiled"], "a transpose with strided writes is as fast as one by tiles")


main()
