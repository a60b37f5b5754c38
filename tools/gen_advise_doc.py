#!/usr/bin/env python3
"""gen_advise_doc.py - writes the tables of docs/advise.md from src/advise/*.def, or says that they are out of date.

    gen_advise_doc.py SOURCE_FOLDER [--check]
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
page = root / "docs" / "advise.md"
ADVICE = re.compile(r'^ADVICE\(\w+,\s*"([^"]+)",\s*(\d+),\s*"([^"]+)"\)$', re.M)
CHECK = re.compile(r'^CHECK\(\w+,\s*"([^"]+)",\s*"([^"]+)"\)$', re.M)


def rows(name, pattern, macro):
    text = (root / "src" / "advise" / name).read_text(encoding="utf-8")
    found = pattern.findall(text)
    if len(found) != len(re.findall(rf"^{macro}\(", text, re.M)):
        sys.exit(f"gen_advise_doc.py: a row of {name} does not parse")
    return found


def put(text, name, lines):
    begin, end = f"<!-- {name}: made by tools/gen_advise_doc.py -->", f"<!-- /{name} -->"
    return text[:text.index(begin)] + begin + "\n\n" + "\n".join(lines) + "\n\n" + text[text.index(end):]


old = page.read_text(encoding="utf-8")
new = put(old, "advice.def",
          [f"- `{i}` ({n}): {t}" for i, n, t in rows("advice.def", ADVICE, "ADVICE")])
new = put(new, "checklist.def", [f"- `{i}`: {t}" for i, t in rows("checklist.def", CHECK, "CHECK")])
if "--check" not in sys.argv:
    page.write_text(new, encoding="utf-8")
elif new != old:
    sys.exit("docs/advise.md is out of date: run tools/gen_advise_doc.py .")
