"""Advice on a multiplication by ldmatrix: test_matrix.py MARGAY NVCC examples/mma_gemm.cu

The plain tile's first advice is the 64-byte swizzle, by its name; it predicts, to the last wavefront, what the same kernel
with that swizzle is counted, of whose loads no conflict is left (its copies fill each row of banks from two lines); the padded and the swizzled kernel are told of no layout for their
loads. The roofline has the operations of the tensor cores: two for each multiply-add; and the peak that NVIDIA's data sheet gives
for half precision on the A100, 312 TFLOPS.
"""
import json
import os
import subprocess
import sys
import tempfile

WAVEFRONTS = "memory_l1_wavefronts_shared"
COPIED = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"


def main():
    margay, nvcc, source = sys.argv[1:]
    with tempfile.TemporaryDirectory() as work:
        program, advice, counts, a100 = (os.path.join(work, name) for name in ("gemm", "advice.json", "profile.json", "a100.json"))
        subprocess.run([nvcc, "-std=c++17", "-arch=sm_80", "-lineinfo", "-o", program, source], check=True)
        for command, path in ("advise", advice), ("profile", counts):
            subprocess.run([margay, command, "--json", path, program], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, timeout=300)
        subprocess.run([margay, "advise", "--device", "8.0", "--json", a100, program], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=300)
        with open(a100) as file:
            peaks = {roof["name"]: roof["peak"] for roof in json.load(file)["advice"][0]["roofline"]["roofs"]}
        with open(advice) as file:
            kernels = json.load(file)["advice"]
        with open(counts) as file:
            launches = json.load(file)["launches"]
    failures = []
    plain, padded, swizzled = kernels
    first = plain["advice"][0]
    text = " ".join(str(value) for value in first.values())
    if first["id"] != "swizzle" or "CU_TENSOR_MAP_SWIZZLE_64B" not in text:
        failures.append(f"the first advice is {first['id']}: {text}")
    predicted = first["predicted"].get(WAVEFRONTS)
    counted = launches[2]["metrics"][WAVEFRONTS]
    if predicted != counted:
        failures.append(f"{predicted} wavefronts predicted, {counted} counted")
    loads = [line["metrics"] for line in launches[2]["lines"] if not line["metrics"].get(COPIED)]
    loads = [(m[WAVEFRONTS], m[WAVEFRONTS + "_ideal"]) for m in loads if m.get(WAVEFRONTS)]
    if not loads or any(taken != ideal for taken, ideal in loads):
        failures.append(f"loads of the swizzled kernel have conflicts: {loads}")
    if any(item["id"] in ("swizzle", "pad") for item in swizzled["advice"]):
        failures.append("the swizzled kernel is told of another layout")
    for kernel in kernels:
        work = [roof["amount"] for roof in kernel["roofline"]["roofs"] if roof["name"] == "tensor cores"]
        if work != [2 * 256**3]:
            failures.append(f"{kernel['kernel']}: {work} operations of matrices, not {2 * 256**3}")
    if abs(peaks["tensor cores"] / 312e12 - 1) > 0.001:
        failures.append(f"the A100's tensor cores: {peaks['tensor cores']} operations a second")
    for line in failures:
        print(line, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
