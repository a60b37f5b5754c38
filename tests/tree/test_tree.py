#!/usr/bin/env python3
"""test_tree.py - holds every #include of src/ to the one-way dependencies between rooms, and C to 120 columns.

A room may include its own headers, those of the rooms named here, and what those may include in turn. Three more rules:
a *_priv.h stays in its room; of the engine, an observer sees simt/observe.h alone; every room has a README, which names its files. A room that is
not in the table fails, so that a new one is thought about, and CONTRIBUTING.md lists what the table says.

And no list of instructions stands outside their table (src/ptx/isa.def): whoever asks what an instruction is asks its row.
A file of src/ may name two opcodes, one that it is about and one to tell it from; MAY_NAME says which may name more.

    test_tree.py SOURCE_FOLDER
"""
import fnmatch
import pathlib
import re
import sys

MAY_INCLUDE = {
    "base": set(),
    "sem": set(),
    "arch": {"base"},
    "fatbin": {"base"},
    "report": {"base"},
    "ptx": {"base"},
    "cfg": {"ptx"},
    "flow": {"cfg", "ptx"},
    "simt": {"sem", "flow", "cfg", "ptx", "arch"},
    "jit": {"simt", "sem", "cfg"},
    # Observers get pointers to instructions, and may look at them: observe.h is the engine's only window.
    "model": {"simt/observe.h", "flow", "cfg", "ptx", "arch", "report"},
    # Asks the same rules what they count, for people to see.
    "time": {"simt/observe.h", "model", "flow", "cfg", "ptx", "arch", "report"},
    "picture": {"simt/observe.h", "model", "ptx", "arch", "report"},
    "check": {"simt/observe.h", "flow", "ptx", "arch", "report"},
    # Asks the model's rules what other addresses would have cost.
    "advise": {"simt/observe.h", "time", "model", "flow", "ptx", "arch", "report"},
    "device": {"fatbin", "simt", "jit", "model", "time", "picture", "advise", "check", "report"},
    "embed": {"device"},
    "cudart": {"device"},
    "cuda": {"cudart"},
    # Libraries that compute on the host; they meet the runtime by name, as any program's libraries do.
    "hosted": {"cudart/hosted.h"},
    "cublas": {"hosted"},
    "cufft": {"hosted"},
    "curand": {"hosted"},
    "absent": {"hosted"},
    "cli": {"report", "picture", "arch", "fatbin", "check/kind.def"},
}
MAY_NAME = {
    # What becomes of single bits: each operation computes on sets of values as it does on values.
    "check/bits.c": 22,
    # The table's own reader: what PTX asks of an operand or of a modifier of one instruction alone.
    "ptx/insn.c": 6,
    "ptx/modifier.c": 5,
}
OPCODES = 2
OPCODE = re.compile(r"\bMG_OP_(?!COUNT\b|INVALID\b)[A-Z0-9_]+\b(?!##)")
COMMENT = re.compile(r"/\*.*?\*/", re.S)
COLUMNS = 120
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', re.M)


def reach(room):
    """All that `room` may include: rooms, and single headers written room/header.h."""
    seen, todo = set(), [room]
    while todo:
        one = todo.pop()
        if one in seen:
            continue
        seen.add(one)
        todo += MAY_INCLUDE.get(one, ())
    return seen


def complaint(src, path, name):
    """What is wrong with `path` (below src) including `name`, or None."""
    room = path.parts[0]
    target = (src / path).parent / name
    if target.exists():  # the same room's, without its name
        target = target.resolve().relative_to(src.resolve())
    elif (src / name).exists():
        target = pathlib.PurePath(name)
    else:
        return None  # a system header, a public one, or one that the build makes
    other = target.parts[0]
    if other == room:
        return None
    allowed = reach(room)
    if other not in allowed and str(target) not in allowed:
        return f"{room} may not include {other}"
    if target.name.endswith("_priv.h"):
        return f"{target} is private to {other}"
    return None


def listed(text):
    """The rooms as CONTRIBUTING.md lists them."""
    rooms = {}
    for names, others in re.findall(r"^    ([a-z, ]+) -> (.+)$", text, re.M):
        for name in names.split(", "):
            rooms[name] = set() if others == "nothing" else set(others.split(", "))
    return rooms


def too_many(path, text):
    """What is wrong with the opcodes that the file names, or None."""
    names, most = set(OPCODE.findall(COMMENT.sub("", text))), MAY_NAME.get(path, OPCODES)
    return f"{len(names)} opcodes are named, {most} may be: ask their rows in isa.def" if len(names) > most else None


def self_test(src):
    """The rules can fail: includes that must be refused, and some that must not."""
    bad = [("simt/x.c", "model/model.h"), ("base/x.c", "ptx/ptx.h"), ("model/x.c", "simt/simt.h"),
           ("cli/x.c", "simt/simt.h"), ("cli/x.c", "report/report_priv.h"), ("ptx/x.c", "cfg/cfg.h"),
           ("device/x.c", "cudart/cudart.h"), ("embed/x.c", "cudart/cudart.h")]
    good = [("simt/x.c", "ptx/ptx.h"), ("model/x.c", "simt/observe.h"), ("cli/x.c", "report/render.h"),
            ("cudart/x.c", "base/base.h"), ("simt/x.c", "stdio.h"), ("report/x.c", "report/report_priv.h")]
    for path, name in bad + good:
        refused = complaint(src, pathlib.PurePath(path), name) is not None
        if (src / name).exists() and refused != ((path, name) in bad):
            yield f"self-test: {path} including {name}: refused is {refused}"
    three = "case MG_OP_ADD: case MG_OP_SUB: return i->opcode == MG_OP_FMA;"
    if not too_many("model/x.c", three) or too_many("model/x.c", three[:-10]) or too_many("ptx/insn.c", three):
        yield "self-test: opcodes are not counted"


def unnamed(room, names):
    """Files that the room's README does not name, alone or as one of `cmd_*.c`; headers that have the room's name speak for it."""
    text = (room / "README.md").read_text(encoding="utf-8") if names else ""
    patterns = re.findall(r"[\w*]+\*[\w*.]*", text)
    words = set(re.findall(r"\w+", text))
    return [f"{room.name}/README.md does not name {name}" for name in sorted(names)
            if name not in text and pathlib.PurePath(name).stem not in words and not name.endswith("_priv.h")
            and not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]


def main():
    root = pathlib.Path(sys.argv[1])
    src = root / "src"
    faults = list(self_test(src))
    rooms = sorted(p.name for p in src.iterdir() if p.is_dir())
    for room in rooms:
        if room not in MAY_INCLUDE:
            faults.append(f"src/{room} is not in the table of rooms (tests/tree/test_tree.py)")
        files = [p for p in (src / room).rglob("*") if p.suffix in (".c", ".h", ".def", ".cc", ".cpp")]
        if files and not (src / room / "README.md").exists():
            faults.append(f"src/{room} has no README.md")
        else:
            faults += unnamed(src / room, [p.name for p in files if p.parent == src / room])
        for file in sorted(files):
            path = file.relative_to(src)
            for match in INCLUDE.finditer(file.read_text(encoding="utf-8")):
                wrong = complaint(src, pathlib.PurePath(path), match.group(1))
                if wrong:
                    line = file.read_text(encoding="utf-8").count("\n", 0, match.start()) + 1
                    faults.append(f"src/{path}:{line}: {wrong} ({match.group(1)})")
            wrong = file.suffix != ".def" and too_many(str(path), file.read_text(encoding="utf-8"))
            if wrong:
                faults.append(f"src/{path}: {wrong}")
    pages = listed((root / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    for room in sorted(MAY_INCLUDE.keys() | pages.keys()):
        if MAY_INCLUDE.get(room) != pages.get(room):
            faults.append(f"CONTRIBUTING.md: {room} -> {', '.join(sorted(MAY_INCLUDE.get(room, ['no such room'])))}")
    for header in sorted((root / "include").rglob("*.h")):
        for match in INCLUDE.finditer(header.read_text(encoding="utf-8")):
            if (src / match.group(1)).exists():
                faults.append(f"{header.relative_to(root)}: a public header includes src/{match.group(1)}")
    for folder in ("src", "include", "tests", "bench", "kernels", "examples", "tools"):
        for file in sorted(p for p in (root / folder).rglob("*") if p.suffix in (".c", ".h")):
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                if len(line) > COLUMNS:
                    faults.append(f"{file.relative_to(root)}:{number}: {len(line)} columns, {COLUMNS} are the most")
    for fault in faults:
        print(fault)
    print(f"{len(rooms)} rooms, {len(faults)} faults")
    return 1 if faults else 0


sys.exit(main())
