#!/usr/bin/env python3
"""absent.py - writes src/absent/names.txt: the entry points of CUDA libraries that Margay has no part of.

    absent.py LIBRARY.so... > src/absent/names.txt

Takes the libraries of all versions: a name that any of them exports is listed. Those of the list as it is were
    pip download --no-deps nvidia-cusparse-cu12==12.5.10.65 nvidia-cusolver-cu12==11.7.5.82 nvidia-npp-cu12==12.4.1.87 \\
        nvidia-npp==13.2.0.93 nvidia-nccl-cu12==2.32.3 nvidia-cudnn-cu12==9.28.0.42
and cuSPARSE and cuSOLVER of CUDA 13.0. A line is a library, as [cusparse], or a stem and what follows it in each name: "stem a b" is
stema and stemb, "." nothing, and "x+" both x and x_Ctx, as most names of NPP come.
"""
import collections
import os
import re
import subprocess
import sys

PREFIXES = {"cusparse": "cusparse", "cusolver": "cusolver(?!Mg)", "cusolverMg": "(cusolverMg|cudaLibMg)", "nccl": "p?nccl[A-Z]", "cudnn": "cudnn[A-Z]"}
INTERNAL = re.compile(r"_internal|Internal|INTERNAL|Backdoor|_impl$|_v\d+internal")


def entry_points(path, prefix):
    for line in subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout.splitlines():
        _, kind, name = line.split()[:3]
        name = name.partition("@")[0]
        if kind in "TW" and re.match(prefix, name) and not INTERNAL.search(name):
            yield name


def stem(name):
    """up to the first underscore, or the words before the last"""
    head, underscore, tail = name.partition("_")
    return (head + underscore, tail) if underscore else (re.match(r"[a-z]+[A-Z]?[a-z0-9]*", name)[0], name[len(re.match(r"[a-z]+[A-Z]?[a-z0-9]*", name)[0]):])


def wrapped(head, tails):
    line = head
    for tail in tails:
        if len(line) + len(tail) + 1 > 120:
            yield line
            line = head
        line += " " + tail
    yield line


def main(paths):
    libraries = collections.defaultdict(set)
    for path in paths:
        name = re.match(r"lib([A-Za-z]+)", os.path.basename(path))[1]
        libraries[name] |= set(entry_points(path, PREFIXES.get(name, "npp")))
    print("# Written by tools/absent.py, which says of what and how to read it.")
    for library in sorted(libraries):
        print(f"[{library}]")
        stems = collections.defaultdict(set)
        for name in libraries[library]:
            head, tail = stem(name)
            stems[head].add(tail)
        for head in sorted(stems):
            tails = []
            for tail in sorted(stems[head]):
                if tail.endswith("_Ctx") and tail[:-4] in stems[head]:
                    continue
                tails.append((tail or ".") + ("+" if tail and tail + "_Ctx" in stems[head] else ""))
            for line in wrapped(head, tails):
                print(line)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
