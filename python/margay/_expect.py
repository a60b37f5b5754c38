"""_expect.py - what a test expects of the kernels that it launches."""
import functools
import operator
import re

from . import _session
from ._report import SHORT

_SIGNS = {"<=": operator.le, ">=": operator.ge, "==": operator.eq, "<": operator.lt, ">": operator.gt}
_AT_LEAST = ("efficiency",)


def _bound(name, wanted):
    """A function of the value, and the words for it."""
    if isinstance(wanted, str):
        match = re.fullmatch(r"\s*(<=|>=|==|<|>)\s*([0-9.]+)\s*(%?)\s*", wanted)
        if not match:
            raise ValueError(f"{name}={wanted!r}: a number, or a sign and a number as in '>=0.9', is needed")
        sign, number = match[1], float(match[2]) / (100 if match[3] else 1)
    else:
        sign, number = ">=" if name in _AT_LEAST else "<=", wanted
    return (lambda value: _SIGNS[sign](value, number)), f"{sign} {number:g}"


def verify(report, kernel=None, findings=0, **budgets):
    """Raises AssertionError, which names kernel, line and value, where a launch of the report is beyond a budget."""
    of = report.of_kernel(kernel) if kernel else report
    wrong = []
    if not of.launches:
        raise AssertionError(f"no launch of a kernel with {kernel!r} in its name" if kernel else "no kernel was launched")
    wrong += [str(error) for error in of.errors]
    if findings is not None:
        serious = [f for f in of.findings if f.severity != "note"]
        wrong += [str(f) for f in serious] if len(serious) > findings else []
    for name, wanted in budgets.items():
        if name not in SHORT and not any(name in launch.metrics or name in launch.derived for launch in of.launches):
            raise ValueError(f"{name}: no such counter; {', '.join(SHORT)}, or a name of docs/metrics.md")
        holds, words = _bound(name, wanted)
        for launch in of.launches:
            value = getattr(launch, name) if name in SHORT else launch.metrics.get(name, launch.derived.get(name))
            if value is None or holds(value):  # what a kernel has none of, it keeps to
                continue
            wrong.append(f"{launch.kernel}: {name} is {value:.6g}, and {words} is expected" + _worst(launch, name))
    if wrong:
        raise AssertionError("\n".join(wrong))


def _worst(launch, name):
    """Where most of it is."""
    if name not in SHORT:
        return ""
    cost = lambda line: line.sectors * (1 - line.efficiency) if name == "efficiency" else getattr(line, name)
    lines = [line for line in launch.lines if line.line and (name != "efficiency" or line.efficiency is not None)]
    worst = max(lines, key=cost, default=None)
    return f", most of it at {worst.file}:{worst.line}" if worst and cost(worst) else ""


def expect(kernel=None, findings=0, **budgets):
    """For a test: the kernels that it launches keep to these budgets, and nothing is found in them.

        @margay.expect(conflicts=0, efficiency=">=0.9")
        def test_transpose():
            ...

    Names are wavefronts, conflicts, sectors, efficiency, divergent, instructions, or those of docs/metrics.md. A number is the most
    that may be, of efficiency the least; a text says it itself: "<=100", ">=90%". kernel: only launches whose name has this in it.
    findings: how many mistakes may be found; None does not look.
    """
    for name, wanted in budgets.items():
        _bound(name, wanted)

    def decorate(function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            report = _session.check(function, *args, **kwargs) if findings is not None else _session.profile(function, *args, **kwargs)
            verify(report, kernel, findings, **budgets)
            return report.value
        return wrapped
    return decorate
