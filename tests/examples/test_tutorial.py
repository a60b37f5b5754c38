#!/usr/bin/env python3
"""test_tutorial.py - every command of the tutorial, of SKILL.md and of the README is run, and must print what stands there.

In a Markdown page, a block ```cuda NAME is a file NAME, and ```cuda NAME:7-8 takes the place of its lines 7 to 8; a block ```sh holds commands behind "$ " and what each prints, standard
error included, as a terminal shows it; other blocks are read by people alone. They are run in order, in an empty folder that the
tree's examples/ are in. A line "…" stands for any lines, … in a line for any text. A page in another language must have the same
blocks. README's own block, between <!-- demo and /demo -->, is held to the command that it names.

    test_tutorial.py MARGAY NVCC PAGE [TWIN...]            runs PAGE; each TWIN has the same blocks
    test_tutorial.py --write MARGAY NVCC PAGE [TWIN...]    writes what the commands print, and copies the blocks into the twins
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(\w*) ?(\S*)\n(.*?)^```$", re.M | re.S)
DEMO = re.compile(r"<!-- demo: the output of `build/(margay [^`]*)` -->\n\n(.*?)\n\n<!-- /demo -->", re.S)
TREE = pathlib.Path(__file__).resolve().parents[2]


def plain(text):
    """Without the counts of instructions: what the compiler makes of a line is its own affair."""
    return re.sub(r"^( +instructions) .*$", r"\1 …", re.sub(r"[0-9,]+ instructions", "N instructions", text), flags=re.M)


def fits(expected, got):
    """Whether `got` is what stands in the page, … apart."""
    expected, got, pattern = plain(expected), plain(got), ""
    for line in expected.splitlines(keepends=True):
        if line.strip() == "…":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += "[^\n]*".join(re.escape(part) for part in line.split("…"))
    return re.fullmatch(pattern, got) is not None


def commands(text):
    """(command, what it prints) of a block."""
    found = []
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append([line[2:].rstrip("\n"), ""])
        elif found and found[-1][0].endswith("\\") and not found[-1][1]:
            found[-1][0] += "\n" + line.rstrip("\n")
        else:
            found[-1][1] += line
    return found


class Runner:
    def __init__(self, margay, nvcc):
        self.folder = tempfile.TemporaryDirectory(prefix="margay-tutorial-")
        self.path = pathlib.Path(self.folder.name)
        (self.path / "examples").symlink_to(TREE / "examples")
        where = [os.path.dirname(os.path.abspath(margay)), os.path.dirname(os.path.abspath(nvcc)), os.environ["PATH"]]
        self.env = {**os.environ, "PATH": ":".join(where), "NVCC": os.path.abspath(nvcc), "LC_ALL": "C.UTF-8"}

    def run(self, command):
        return subprocess.run(["sh", "-c", command], cwd=self.path, env=self.env, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout

    def block(self, match, write, faults):
        """Does what the block says; returns its text, as it should be."""
        kind, name, text = match.groups()
        if kind == "cuda" and ":" in name:
            file, first, last = re.fullmatch(r"(.+):(\d+)-(\d+)", name).groups()
            lines = (self.path / file).read_text().splitlines(keepends=True)
            (self.path / file).write_text("".join(lines[:int(first) - 1]) + text + "".join(lines[int(last):]))
        elif kind == "cuda" and name:
            (self.path / name).write_text(text)
        if kind != "sh":
            return match.group(0)
        for command, expected in commands(text):
            got = self.run(command)
            if not fits(expected, got):
                faults.append(f"$ {command}\n--- expected\n{expected}--- got\n{got}")
                if write:
                    text = text.replace(f"$ {command}\n{expected}", f"$ {command}\n{got}")
        return f"```sh\n{text}```"


def demo(runner, page, faults):
    """The page with what the demo prints, from its line of the version on."""
    for command, shown in DEMO.findall(page):
        expected = re.sub(r"^    ", "", shown, flags=re.M) + "\n"
        got = runner.run(command)
        if not plain(got).endswith(plain(expected)):
            faults.append(f"$ {command}\n--- expected at the end\n{expected}--- got\n{got}")
            now = got[max(got.find("margay 0"), 0):].rstrip("\n")
            page = page.replace(shown, re.sub(r"^(?=.)", "    ", now, flags=re.M))
    return page


def twins(page, others, write):
    """What is wrong with the pages in other languages."""
    blocks = [match.group(0) for match in BLOCK.finditer(page)] + [match.group(2) for match in DEMO.finditer(page)]
    for other in others:
        path = pathlib.Path(other)
        text = path.read_text(encoding="utf-8")
        if write:
            each = iter(blocks)
            text = BLOCK.sub(lambda match: next(each), text)
            for match in DEMO.finditer(page):
                text = text.replace(DEMO.search(text).group(2), match.group(2))
            path.write_text(text, encoding="utf-8")
            continue
        theirs = [match.group(0) for match in BLOCK.finditer(text)] + [match.group(2) for match in DEMO.finditer(text)]
        if theirs != blocks:
            first = next((i for i, (a, b) in enumerate(zip(blocks, theirs)) if a != b), min(len(blocks), len(theirs)))
            yield f"{path.name}: block {first + 1} is not that of the other page ({len(theirs)} blocks, {len(blocks)} there)"


def main():
    write = sys.argv[1] == "--write"
    margay, nvcc, name, *others = sys.argv[2:] if write else sys.argv[1:]
    assert fits("a …\n…\nz\n", "a 12\nb\nc\nz\n") and not fits("a …\nz\n", "a 12\nb\nz\n") and not fits("a\n", "b\n")
    runner, faults, path = Runner(margay, nvcc), [], pathlib.Path(name)
    page = path.read_text(encoding="utf-8")
    count = len(commands("".join(m.group(3) for m in BLOCK.finditer(page) if m.group(1) == "sh")))
    written = BLOCK.sub(lambda match: runner.block(match, write, faults), page)
    written = demo(runner, written, faults)
    if write:
        path.write_text(written, encoding="utf-8")
        page = written
    faults += twins(page, others, write)
    if not count and not DEMO.search(page):
        faults.append(f"{path.name} has no commands")
    print("\n".join(faults))
    print(f"{path.name}: {count} commands, {len(faults)} faults")
    return 1 if faults and not write else 0


if __name__ == "__main__":
    sys.exit(main())
