"""test_textures.py MARGAY NVCC - what textures.cu reads, against textures.txt: what an H200 read, to the last bit.

A line of textures.txt is a configuration and the digest of its values. What is known to differ stands in DIFFERS with its
reason; an entry that no longer differs is a failure.
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# parts of configurations -> why Margay reads something else
DIFFERS = {
    "half \\w+ \\w+ linear": "sums of halves are rounded to a half after some digits were lost: of 1024 values up to 22 are one step off",
    "signed8 \\w+ \\w+ linear": "sums of signed bytes are a 32767th off in one of six values",
    "cube float (wrap|border) parts linear": "the device's filter goes on into the next face",
}


def lines_of(text):
    return dict(line.rsplit(" ", 1) for line in text.splitlines())


def main():
    margay, nvcc = sys.argv[1:3]
    if not os.access(nvcc, os.X_OK):
        sys.exit(77)
    with open(os.path.join(HERE, "textures.txt")) as file:
        device = lines_of(file.read())
    with tempfile.TemporaryDirectory() as work:
        program = os.path.join(work, "textures")
        subprocess.run([nvcc, "-std=c++17", "-arch=sm_90", "-o", program, os.path.join(HERE, "textures.cu")], check=True)
        ours = lines_of(subprocess.run([margay, "run", program], check=True, timeout=120, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True).stdout)
    wrong, met = [], set()
    for name, digest in device.items():
        known = {pattern for pattern in DIFFERS if re.search(pattern, name)}
        if ours.get(name) != digest:
            met |= known
            wrong += [] if known else [f"{name}: other values than on the device"]
    wrong += [f"{pattern}: is listed as different and is not" for pattern in set(DIFFERS) - met]
    wrong += [f"{name}: not asked of the device" for name in set(ours) - set(device)]
    if len(device) < 150:
        wrong.append(f"only {len(device)} configurations")
    sys.exit("\n".join(wrong) or 0)


main()
