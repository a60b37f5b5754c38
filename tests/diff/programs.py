#!/usr/bin/env python3
"""programs.py - whole CUDA programs under both engines: the same output, exit status and report, to the last digit.

    programs.py [--any-order] MARGAY PROGRAM [ARGUMENT...]

With --any-order the program launches kernels from several threads: which launch comes first differs from run to run, and they
are compared as a set. The report of `margay profile --json` holds every counter of every kernel and source line. Left out of the
comparison: how long launches took.
"""
import json
import os
import re
import subprocess
import sys
import tempfile


SECONDS = re.compile(r'"seconds": [^,}]*')


def run(margay, engine, program, folder):
    """What it did, and the lines of its report, one a launch, without how long they took."""
    path = os.path.join(folder, engine + ".json")
    command = [margay, "profile", "--engine", engine, "--verbose", "--json", path, *program]
    done = subprocess.run(command, capture_output=True, timeout=280, env={**os.environ, "MARGAY_CACHE": os.path.join(folder, "cache")})
    with open(path, encoding="utf-8") as file:
        return done, [line.rstrip(",") for line in SECONDS.sub("", file.read()).splitlines()]


def parsed(line):
    try:
        return json.loads(line)
    except json.JSONDecodeError:  # the report's frame
        return line


def difference(a, b, where=""):
    if type(a) is not type(b):
        return f"{where}: {a!r} interpreted, {b!r} compiled"
    if isinstance(a, dict):
        for key in sorted(a.keys() | b.keys()):
            if key not in a or key not in b:
                return f"{where}.{key}: only in one of them"
            if found := difference(a[key], b[key], f"{where}.{key}"):
                return found
        return None
    if isinstance(a, list):
        if len(a) != len(b):
            return f"{where}: {len(a)} interpreted, {len(b)} compiled"
        for i, (x, y) in enumerate(zip(a, b)):
            if found := difference(x, y, f"{where}[{i}]"):
                return found
        return None
    return None if a == b else f"{where}: {a!r} interpreted, {b!r} compiled"


def main():
    any_order = sys.argv[1:2] == ["--any-order"]
    margay, *program = sys.argv[1 + any_order :]
    with tempfile.TemporaryDirectory() as folder:
        interp, counts = run(margay, "interp", program, folder)
        jit, others = run(margay, "jit", program, folder)
    if any_order:
        counts.sort()
        others.sort()
    said = jit.stderr.decode(errors="replace")
    compiled = said.count(": compiled quickly in ") + said.count(": compiled thoroughly in ")
    launches = sum(line.startswith('{"kernel":') for line in counts)
    print(f"{launches} launches; kernels compiled: {compiled}, interpreted: {said.count(' runs interpreted: ')}")
    if not launches or not compiled:
        print(said)
        return 1
    for name in ("returncode", "stdout"):
        if getattr(interp, name) != getattr(jit, name):
            print(f"{name} differs:\n{getattr(interp, name)}\n{getattr(jit, name)}")
            return 1
    if len(counts) != len(others):
        print(f"{len(counts)} lines interpreted, {len(others)} compiled")
        return 1
    for number, (a, b) in enumerate(zip(counts, others), 1):
        if a != b:
            print(difference(parsed(a), parsed(b), f"line {number}") or f"line {number}: not the same text")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
