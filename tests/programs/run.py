#!/usr/bin/env python3
"""One program of this folder, built once and taken through every command under each engine.

    run.py MARGAY NVCC PROGRAM.cu FOLDER [ENGINE ...]

The programs are right: each compares what the device made with plain C on the host and prints PASS. So every command must
end with their status, 0; `check` must find nothing; a warning or an error of Margay's is a fault; and the reports of
`profile`, `check` and `advise` must be JSON with the program's launches in it. FOLDER keeps the binary until the source
changes. A line `// FLAGS: ...` in the program goes to nvcc. Ends with 77, "skipped", without nvcc.
"""
import json
import os
import subprocess
import sys

LIMIT = 120  # seconds a command may take: all take well under one on an idle machine
FLAGS = ["-std=c++17", "-arch=sm_90", "-lineinfo", "-w"]


def build(nvcc, source, folder):
    program = os.path.join(folder, os.path.splitext(os.path.basename(source))[0])
    if os.path.exists(program) and os.path.getmtime(program) > os.path.getmtime(source):
        return program
    os.makedirs(folder, exist_ok=True)
    with open(source, encoding="utf-8") as file:
        flags = [word for line in file if line.startswith("// FLAGS:") for word in line.split()[2:]]
    made = "%s.%d" % (program, os.getpid())
    subprocess.run([nvcc, *FLAGS, *flags, "-o", made, source], check=True)
    os.replace(made, program)
    return program


def read_json(path, what, faults):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError) as why:
        faults.append("%s: no report: %s" % (what, why))
        return {}


def take(margay, command, engine, program):
    """What is wrong with one command; nothing, if all is well."""
    what, faults = "%s, %s" % (command, engine), []
    report = "%s.%s.%s.json" % (program, command, engine)
    if os.path.exists(report):
        os.remove(report)
    try:
        done = subprocess.run([margay, command, "--engine", engine, "--json", report, program], timeout=LIMIT, text=True,
                              errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except subprocess.TimeoutExpired:
        return ["%s: not over after %d seconds" % (what, LIMIT)]
    if done.returncode:
        faults.append("%s: ended with status %d" % (what, done.returncode))
    if "PASS" not in done.stdout.split("\n"):
        faults.append("%s: no PASS in its output: %s" % (what, done.stdout[-300:]))
    loud = [line for line in done.stderr.split("\n") if line.startswith(("margay: error", "margay: warning"))]
    if loud or done.returncode:
        faults.append("%s: %s" % (what, done.stderr[:1500]))
    found = read_json(report, what, faults)
    for name in ("findings", "errors"):
        if found.get(name):
            faults.append("%s: %d %s" % (what, len(found[name]), name))
    if not found.get("launches") or any(launch.get("status", "MG_OK") != "MG_OK" for launch in found["launches"]):
        faults.append("%s: launches are missing in its report, or failed" % what)
    if command == "advise" and not found.get("advice"):
        faults.append("%s: no advice" % what)
    return faults


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    margay, nvcc, source, folder, *engines = sys.argv[1:]
    if not os.access(nvcc, os.X_OK):
        return 77
    program, faults = build(nvcc, source, folder), []
    for engine in engines or ["interp", "jit"]:
        for command in ("run", "profile", "check", "advise"):
            faults += take(margay, command, engine, program)
    for fault in faults:
        print("FAULT", fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
