#!/usr/bin/env python3
"""gen_kernels_doc.py - writes the ladders in docs/kernels.md from the collection's tables, or says that they are out of date.

    gen_kernels_doc.py SOURCE_FOLDER [--check]

The tables are kernels/common/operation.def and kernels/<op>/<op>.def.
"""
import pathlib
import re
import sys

BEGIN, END = "<!-- ladders: made by tools/gen_kernels_doc.py from kernels/*/*.def -->", "<!-- /ladders -->"
STRING = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'


def text(literal):
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literal)).replace('\\"', '"').replace("|", "\\|")


def rows(path, macro, fields):
    source = path.read_text(encoding="utf-8")
    found = re.findall(rf"^{macro}\(\w+,\s*" + r",\s*".join([STRING] * fields) + r"(?:,[^\"()]*)?\)", source, re.M)
    if len(found) != len(re.findall(rf"^{macro}\(", source, re.M)):
        sys.exit(f"gen_kernels_doc.py: a row of {path} does not parse")
    return [[text(t) for t in (row if fields > 1 else (row,))] for row in found]


def main():
    root = pathlib.Path(sys.argv[1])
    kernels = root / "kernels"
    table = kernels / "common" / "operation.def"
    names = re.findall(r"^OPERATION\((\w+)", table.read_text(encoding="utf-8"), re.M)
    lines = []
    for name, (what,) in zip(names, rows(table, "OPERATION", 1)):
        tuning = (root / "docs" / "tuning" / f"{name}.md").exists()
        lines += ["", f"### [{name}](tuning/{name}.md): {what}" if tuning else f"### {name}: {what}", ""]
        lines += [f"- **{rung}**: {adds}" for rung, adds, _ in rows(kernels / name / f"{name}.def", "RUNG", 3)]
    page = root / "docs" / "kernels.md"
    old = page.read_text(encoding="utf-8")
    new = old[: old.index(BEGIN)] + BEGIN + "\n" + "\n".join(lines) + "\n\n" + old[old.index(END) :]
    if "--check" in sys.argv:
        if new != old:
            sys.exit("docs/kernels.md is out of date: run tools/gen_kernels_doc.py .")
    else:
        page.write_text(new, encoding="utf-8")


main()
