#!/usr/bin/env python3
"""programs.py - whole CUDA programs under both engines: the same output, exit status and report, to the last digit.

    programs.py [--any-order] MARGAY PROGRAM [ARGUMENT...]

With --any-order the program launches kernels from several threads: which launch comes first differs from run to run, and they
are compared as a set. The report of `margay profile --json` holds every counter of every kernel and source line. Left out of the
comparison: how long launches took.
"""
import json
import os
import subprocess
import sys
import tempfile


def without_times(value):
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k not in ("seconds", "time", "duration")}
    if isinstance(value, list):
        return [without_times(v) for v in value]
    return value


def run(margay, engine, program, folder):
    path = os.path.join(folder, engine + ".json")
    command = [margay, "profile", "--engine", engine, "--verbose", "--json", path, *program]
    done = subprocess.run(command, capture_output=True, timeout=280, env={**os.environ, "MARGAY_CACHE": os.path.join(folder, "cache")})
    with open(path, encoding="utf-8") as file:
        return done, without_times(json.load(file))


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
    for report in (counts, others) if any_order else ():
        report["launches"].sort(key=lambda launch: json.dumps(launch, sort_keys=True))
    said = jit.stderr.decode(errors="replace")
    compiled = said.count(": compiled quickly in ") + said.count(": compiled thoroughly in ")
    print(f"{len(counts['launches'])} launches; kernels compiled: {compiled}, interpreted: {said.count(' runs interpreted: ')}")
    if not counts["launches"] or not compiled:
        print(said)
        return 1
    for name in ("returncode", "stdout"):
        if getattr(interp, name) != getattr(jit, name):
            print(f"{name} differs:\n{getattr(interp, name)}\n{getattr(jit, name)}")
            return 1
    found = difference(counts, others)
    if found:
        print(found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
