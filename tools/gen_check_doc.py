#!/usr/bin/env python3
"""gen_check_doc.py - writes the table of kinds in docs/check.md from src/check/kind.def, or says that it is out of date.

    gen_check_doc.py SOURCE_FOLDER [--check]
"""
import pathlib
import re
import sys

BEGIN, END = "<!-- kinds: made by tools/gen_check_doc.py from src/check/kind.def -->", "<!-- /kinds -->"
ROW = re.compile(r'CHECK_KIND\(\w+,\s*"([^"]+)",\s*"([^"]+)",\s*(\w+),\s*"([^"]+)",\s*"([^"]+)"\)')


def main():
    root = pathlib.Path(sys.argv[1])
    table = (root / "src" / "check" / "kind.def").read_text(encoding="utf-8")
    rows = ROW.findall(table)
    if len(rows) != len(re.findall(r"^CHECK_KIND\(", table, re.M)):
        sys.exit("gen_check_doc.py: a row of kind.def does not parse")
    lines = ["| finding | severity | what it is | what to do |", "| --- | --- | --- | --- |"]
    lines += [f"| `{check}/{kind}` | {severity.lower()} | {title} | {advice} |" for check, kind, severity, title, advice in rows]
    page = root / "docs" / "check.md"
    old = page.read_text(encoding="utf-8")
    new = old[:old.index(BEGIN)] + BEGIN + "\n\n" + "\n".join(lines) + "\n\n" + old[old.index(END):]
    if "--check" in sys.argv:
        if new != old:
            sys.exit("docs/check.md is out of date: run tools/gen_check_doc.py .")
    else:
        page.write_text(new, encoding="utf-8")


main()
