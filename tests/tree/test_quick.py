#!/usr/bin/env python3
"""test_quick.py - `make test` leaves nothing out: every room of src/ and every operation of kernels/ has a test that does not
carry the label `all`.

    test_quick.py SOURCE_FOLDER BUILD_FOLDER CTEST

The tests of a room are those that tests/ROOM/CMakeLists.txt adds; where they stand elsewhere, the table names one.
"""
import json
import pathlib
import subprocess
import sys

ELSEWHERE = {"src/fatbin": "cudart_fatbin", "src/jit": "diff", "src/hosted": "libs_behind", "src/absent": "libs_absent", "src/cublas": "libs_blas",
             "src/cufft": "libs_fft", "src/curand": "libs_random", "kernels/common": "kernels_common", "kernels/bench": "kernels_bench"}
# Built when asked for, on a machine with a GPU: `make tune-gpu`.
UNTESTED = {"kernels/tune"}


def adders(graph, node):
    """The CMakeLists.txt files that a test's add_test was reached from."""
    while node is not None:
        yield pathlib.PurePath(graph["files"][graph["nodes"][node]["file"]])
        node = graph["nodes"][node].get("parent")


def main():
    source, build, ctest = pathlib.Path(sys.argv[1]), *sys.argv[2:]
    listing = json.loads(subprocess.run([ctest, "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True).stdout)
    names, rooms = set(), set()
    for test in listing["tests"]:
        labels = [label for p in test.get("properties", ()) if p["name"] == "LABELS" for label in p["value"]]
        if "all" not in labels:
            names.add(test["name"])
            rooms |= {file.parent.name for file in adders(listing["backtraceGraph"], test["backtrace"]) if file.parts[-3] == "tests"}
    faults = []
    for top in ("src", "kernels"):
        for path in sorted(p for p in (source / top).iterdir() if p.is_dir()):
            room = f"{top}/{path.name}"
            if room in ELSEWHERE:
                tested = ELSEWHERE[room] in names
            elif top == "src":
                tested = path.name in rooms
            else:
                tested = names & {f"kernels_{path.name}", f"kernels_{path.name}_interp"}
            if bool(tested) == (room in UNTESTED):
                faults.append(f"{room}: `make test` has {'a' if tested else 'no'} test of it")
    print(f"{len(names)} of {len(listing['tests'])} tests are quick")
    print("\n".join(faults))
    return 1 if faults or len(names) == len(listing["tests"]) else 0


sys.exit(main())
