"""survey.py MARGAY PROGRAM [--commands LIST] [--rounds N] [--launches N] [--only NAME] [--same]

What each kind of instruction costs: nanoseconds for a round of a warp, under each of Margay's commands, the least of some
launches on one worker, and how many times `profile`'s that is. PROGRAM is survey.cu, compiled. With --same
nothing is timed: results and counts must be the same interpreted, in quick code and in thorough code, and `check` must find
nothing.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

WARPS = 16 * 256 // 32


def launches(args, command, folder, engine=None):
    """The report's launches, and what the program printed."""
    report = os.path.join(folder, "report.json")
    env = dict(os.environ, **({"MARGAY_ENGINE": engine} if engine else {}))
    done = subprocess.run([args.margay, command, "--quiet", "--threads", "1", "--output", os.devnull, "--json", report,
                           args.program, str(args.rounds), str(args.launches), *([args.only] if args.only else [])],
                          env=env, stdout=subprocess.PIPE, check=command == "profile", text=True)
    with open(report) as file:
        return json.load(file), done.stdout


def survey(args, folder):
    table = {}
    for command in args.commands:
        for launch in launches(args, command, folder)[0]["launches"]:
            row = table.setdefault(launch["kernel"].split("_(")[0], {})
            row[command] = min(row.get(command, 1e9), launch["seconds"] * 1e9 / (args.rounds * WARPS))
    if not table:
        sys.exit(f"no kernel is named {args.only}: survey.def has them")
    first, *others = args.commands
    print(f"{'ns a round of a warp':24}{first:>10}" + "".join(f"{c:>10}{'times':>7}" for c in others))
    for name, row in table.items():
        print(f"{name:24}{row[first]:10.0f}" + "".join(f"{row[c]:10.0f}{row[c] / row[first]:7.1f}" for c in others))


def same(args, folder):
    right = None
    for engine in ("interp", "quick", "jit"):
        report, printed = launches(args, "profile", folder, engine)
        counts = [(launch["kernel"], launch["metrics"]) for launch in report["launches"]]
        if right is None:
            right = counts, printed
        wrong = [a[0] for a, b in zip(counts, right[0]) if a != b]
        wrong += [a for a, b in zip(printed.splitlines(), right[1].splitlines()) if a != b]
        if wrong or not counts or [len(counts), printed.count("\n")] != [len(right[0]), right[1].count("\n")]:
            sys.exit(f"{engine}: not as interpreted: {wrong}")
        findings = launches(args, "check", folder, engine)[0]["findings"]
        if findings:
            sys.exit(f"{engine}: findings: {json.dumps(findings, indent=1)[:2000]}")
    print(f"{len(right[0])} launches are the same, and nothing is found")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("margay")
    parser.add_argument("program")
    parser.add_argument("--commands", type=lambda s: s.split(","), default=["profile", "check", "advise"])
    parser.add_argument("--rounds", type=int, default=1024)
    parser.add_argument("--launches", type=int, default=6)
    parser.add_argument("--only")
    parser.add_argument("--same", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (same if args.same else survey)(args, folder)


main()
