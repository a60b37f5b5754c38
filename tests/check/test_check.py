#!/usr/bin/env python3
"""test_check.py - every fault of a suite is found, on its line, and nothing on any twin.

The suites are the .cu files here; what must be found stands in them as comments, which cases.cuh describes. Faults that end
nothing run in one process, together with all twins; each of the others has a process of its own. The findings must be the
same for any number of threads, byte for byte.

    test_check.py MARGAY PROGRAM SUITE.cu [--threads 1,2,3,7] [--only-case NAME]
"""
import argparse
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MARK = re.compile(r"//\s*(EXPECT|OTHER|ALSO|CALL|FIX)(?::\s*(\S+))?(?:\s+(\S+))?")
KERNEL = re.compile(r"__global__\s+void\s+(?:__(?:launch_bounds|cluster_dims)__\([\w ,?:]+\)\s*)?(\w+)\(")
CASE = re.compile(r"^CASE\((\w+), ([A-Z0-9 |]+)\)")

WITHOUT_A_LINE = ("leak", "copied-out")  # of the host's findings; copies out are made in cases.cuh


class Expectation:
    def __init__(self, scope, host, line, kind, variable):
        self.scope, self.host, self.line, self.kind, self.variable = scope, host, line, kind, variable
        self.other = self.call = self.fix = None
        self.met = False

    def accepts(self, finding):
        name = re.split(r"[\[,]", finding["variable"])[0]
        return (fnmatch.fnmatchcase(f"{finding['check']}/{finding['kind']}", self.kind)
                and (finding["line"] == self.line or (self.host and finding["kind"] in WITHOUT_A_LINE))
                and (not self.variable or fnmatch.fnmatchcase(name, self.variable)))

    def __str__(self):
        return f"{self.scope}, line {self.line}: {self.kind} {self.variable or ''}"


class Suite:
    """What a .cu file expects: of kernels, by name, and of cases, for the host side."""

    def __init__(self, path):
        self.kernels, self.cases, self.also, self.flags, self.launched = {}, {}, {}, {}, {}
        scope = host = None
        last = 0  # the last line with code on it: a comment below it speaks of it
        others, calls, fixes = {}, {}, {}
        for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            kernel, case = KERNEL.search(text), CASE.match(text)
            if kernel:
                scope, host = kernel.group(1), False
            elif case:
                scope, host = case.group(1), True
                self.flags[scope] = case.group(2)
                self.launched[scope] = []
            if host:
                self.launched[scope] += re.findall(r"(\w+)<fault>", text)
            if text.split("//")[0].strip():
                last = number
            mark = MARK.search(text)
            if not mark or not scope:
                continue
            word, kind, variable = mark.groups()
            if word == "OTHER":
                others[scope] = last
            elif word == "CALL":
                calls[scope] = last
            elif word == "FIX":
                fixes[scope] = kind
            elif word == "ALSO":
                self.also.setdefault(scope, []).append(Expectation(scope, host, last, kind, variable))
            else:
                (self.cases if host else self.kernels).setdefault(scope, []).append(
                    Expectation(scope, host, last, kind, variable))
        for scope, line in others.items():
            for e in self.kernels[scope]:
                e.other = line
        for scope, expectations in self.kernels.items():
            for e in expectations:
                e.call, e.fix = calls.get(scope), fixes.get(scope)

    def expectations_of(self, case):
        return self.cases.get(case, []) + [e for k in dict.fromkeys(self.launched[case]) for e in self.kernels.get(k, [])]


def check(args, threads, how, case, flags=""):
    """The findings of one run, and the text of what went wrong."""
    with tempfile.TemporaryDirectory(prefix="margay-check-") as folder:
        report = os.path.join(folder, "report.json")
        command = [args.margay, "check", "--json", report, "--timeout", "30" if "HANGS" in flags and how == "fault" else "60",
                   "--threads", str(threads)]
        command += [f"--{word.lower()}" for word in ("LEAKS", "PEDANTIC") if word in flags]
        command += [args.program, how] + ([case] if case else [])
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        where = f"{how} {case or ''} ({threads} threads)"
        if not os.path.exists(report):
            return None, f"{where}: no report; status {done.returncode}\n{done.stderr[-2000:]}"
        data = json.loads(pathlib.Path(report).read_text(encoding="utf-8"))
        return (done.returncode, data["findings"], done.stderr), None


def describe(f):
    return (f"{f['check']}/{f['kind']} in {f['kernel'] or 'the host'} line {f['line']}, other {f['other_line']}, "
            f"variable {f['variable']!r}: {f['message']}")


def judge(suite, findings, expected, case, complaints):
    """Holds the findings of one process to what is expected in it."""
    for e in expected:
        e.met = False
    for f in findings:
        name = re.match(r"(?:void )?(\w+)<(true|false|\(bool\)[01])>", f["kernel"])
        if name and name.group(2) in ("false", "(bool)0"):
            complaints.append(f"on a twin: {describe(f)}")
            continue
        scope = name.group(1) if name else None
        mine = [e for e in expected if e.host or e.scope == scope]
        hits = [e for e in mine if e.accepts(f)]
        for e in hits:
            if e.other and f["other_line"] != e.other and not any(
                    a.line == f["other_line"] for a in suite.also.get(e.scope, [])):
                complaints.append(f"{e}: the other line is {e.other}, not {f['other_line']}: {describe(f)}")
            if e.call and f"called in line {e.call}" not in f["message"]:
                complaints.append(f"{e}: the call in line {e.call} is not named: {describe(f)}")
            if e.fix and e.fix not in f["advice"]:
                complaints.append(f"{e}: the advice says nothing of {e.fix}: {f['advice']}")
            e.met = True
        if hits:
            continue
        also = suite.also.get(scope, []) + suite.also.get(case, [])
        in_step = f"{f['check']}/{f['kind']}" == "race/in-step" and any(e.kind.startswith("race/") for e in mine)
        if not in_step and not any(a.accepts(f) for a in also):
            complaints.append(f"not expected: {describe(f)}")
    complaints += [f"not found: {e}" for e in expected if not e.met]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("margay")
    parser.add_argument("program")
    parser.add_argument("suite", type=pathlib.Path)
    parser.add_argument("--threads", default="1")
    parser.add_argument("--only-case")
    args = parser.parse_args()
    suite = Suite(args.suite)
    counts = [int(n) for n in args.threads.split(",")]
    alone = [c for c, flags in suite.flags.items() if flags.strip() != "0"]
    together = [c for c in suite.flags if c not in alone]
    complaints = []
    runs = [("right", None, [], "")]
    if together:
        runs.append(("fault", None, [e for c in together for e in suite.expectations_of(c)], ""))
    runs += [("fault", c, suite.expectations_of(c), suite.flags[c]) for c in alone]
    runs += [("right", c, [], suite.flags[c]) for c in alone
             if "LEAKS" in suite.flags[c] or "PEDANTIC" in suite.flags[c]]
    if args.only_case:
        runs = [(how, args.only_case, suite.expectations_of(args.only_case) if how == "fault" else [],
                 suite.flags[args.only_case]) for how in ("right", "fault")]
    for how, case, expected, flags in runs:
        if how == "fault" and not expected:
            complaints.append(f"{case or 'the suite'}: nothing is expected of its fault")
        first = None
        for threads in counts:
            result, trouble = check(args, threads, how, case, flags)
            if trouble:
                complaints.append(trouble)
                break
            status, findings, text = result
            if first is None:
                first = findings
                before = len(complaints)
                judge(suite, findings, expected, case, complaints)
                wanted = 1 if any(f["severity"] != "note" for f in findings) else 0
                if status != wanted and not (status == 2 and "no kernel was launched" in text):
                    complaints.append(f"{how} {case or ''}: exit status {status}, not {wanted}\n{text[-1500:]}")
                if args.only_case and (len(complaints) > before or how == "fault"):
                    print(text)
            elif findings != first:
                complaints.append(f"{how} {case or ''}: the findings of {threads} threads are not those of {counts[0]}")
    for c in complaints:
        print(c)
    print(f"{args.suite.name}: {len(suite.flags)} pairs, {len(runs)} runs at {args.threads} threads, "
          f"{len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
