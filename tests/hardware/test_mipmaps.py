"""test_mipmaps.py MARGAY NVCC - what mipmaps.cu reads, against mipmaps.txt: what an H200 (driver 580.159.04) read.

Levels that are named are held to the last bit. Of gradients every 16th value is kept, of levels whose texels are their
numbers: ours are within two 256ths of a level, which is how far the device's logarithm is off.
"""
import hashlib
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def number(bits):
    return struct.unpack("f", struct.pack("I", int(bits, 16)))[0]


def main():
    margay, nvcc = sys.argv[1:3]
    if not os.access(nvcc, os.X_OK):
        sys.exit(77)
    with open(os.path.join(HERE, "mipmaps.txt")) as file:
        device = dict(line.rstrip("\n").split(": ") for line in file)
    with tempfile.TemporaryDirectory() as work:
        program = os.path.join(work, "mipmaps")
        subprocess.run([nvcc, "-std=c++17", "-arch=sm_90", "-o", program, os.path.join(HERE, "mipmaps.cu")], check=True)
        lines = subprocess.run([margay, "run", program], check=True, timeout=120, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True).stdout.splitlines()
    wrong, seen = [], set()
    for line in lines:
        words = line.split()
        first = next(i for i, word in enumerate(words) if len(word) == 8)
        name, values = " ".join(words[:first]), words[first:]
        seen.add(name)
        want = device.get(name)
        if want is None:
            wrong.append(f"{name}: not asked of the device")
        elif name.startswith("grad"):
            far = max(abs(number(a) - number(b)) for a, b in zip(want.split(), values[::16], strict=True))
            if far > 2 / 256:
                wrong.append(f"{name}: {far * 256} 256ths of a level away")
        elif hashlib.sha256(" ".join(values).encode()).hexdigest()[:16] != want:
            wrong.append(f"{name}: other values than on the device")
    wrong += [f"{name}: is not there" for name in set(device) - seen]
    if len(device) < 30:
        wrong.append(f"only {len(device)} configurations")
    sys.exit("\n".join(wrong) or 0)


main()
