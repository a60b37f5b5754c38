#!/usr/bin/env python3
"""fuse_rule.py - which products and sums does ptxas fuse? Reads its machine code for random straight-line programs.

    fuse_rule.py check [--sm 75,80,86,89,90] [--count 2000] [--seed 1]   the rule of src/simt/fuse.c, stated again below
    fuse_rule.py cases > tests/simt/fused.cases                          programs, and what the machine code computes

Each program is assembled (ptxas), disassembled (nvdisasm, from the toolkit or the wheel nvidia-cuda-nvdisasm; NVDISASM
names another) and followed from its loads to its stores, which gives every result as a tree of mul, add and fma.
`check` compares the trees with those of the rule; `cases` writes them down, so that tests need neither tool. What takes
branches or guards is not read here: tests/simt/fused.c has such programs one by one.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

STORAGE = {"f32": ("f32", 4), "f64": ("f64", 8), "f16": ("b16", 2), "f16x2": ("b32", 4), "bf16": ("b16", 2),
           "bf16x2": ("b32", 4)}
ZERO = (0, ("v", "0"))


# ---- trees: (negated, node); a node is ("v", name), ("mul", modifiers, a, b), ("add", …) or ("fma", …, a, b, c) ----
def neg(a):
    return (1 - a[0], a[1])


def pair(a, b):
    return tuple(sorted((a, b), key=repr))


def mul(a, b, how=""):
    negated, (x, y) = a[0] ^ b[0], pair((0, a[1]), (0, b[1]))
    return (0, ("mul", how, x, neg(y) if negated else y)) if ".sat" in how else (negated, ("mul", how, x, y))


def add(a, b, how=""):
    return (0, ("add", how, *pair(a, b)))


def fma(a, b, c, how=""):
    return (0, ("fma", how, *pair((0, a[1]), (0, b[1])), a[0] ^ b[0], c))


def show(tree):
    sign, node = ("-" if tree[0] else ""), tree[1]
    if node[0] == "v":
        return sign + node[1]
    if node[0] == "fma":
        return f"{sign}fma{node[1]}({'-' if node[4] else ''}{show(node[2])},{show(node[3])},{show(node[5])})"
    return f"{sign}{node[0]}{node[1]}({show(node[2])},{show(node[3])})"


# ---- machine code to trees ----
def modifiers(op):
    return (".ftz" if ".FTZ" in op else "") + (".sat" if ".SAT" in op else "")


def follow(lines):
    """The trees that are stored, by place; None for what is not understood."""
    held, out = {}, {}

    def operand(text):
        text = re.sub(r"\.reuse|\.H0_H0", "", text.strip())
        if text.startswith("-"):
            inner = operand(text[1:])
            return neg(inner) if inner else None
        return ZERO if text == "RZ" else held.get(text)

    def place(text):
        offset = re.search(r"\+(0x[0-9a-f]+)\]", text)
        return (int(offset[1], 16) if offset else 0) // 8

    for line in lines:
        match = re.match(r"(\S+)\s+(.*)", line)
        if not match or line.startswith("@"):
            continue
        op, args = match[1], [a.strip() for a in re.split(r",\s*(?![^\[]*\])", match[2])]
        base, how = op.split(".")[0], modifiers(op)
        if base == "LDG":
            held[args[0]] = (0, ("v", f"v{place(args[1])}"))
        elif base == "STG":
            out[place(args[0])] = operand(args[1])
        elif base in ("FMUL", "DMUL", "HMUL2"):
            held[args[0]] = mul(operand(args[1]), operand(args[2]), how)
        elif base in ("FADD", "DADD", "HADD2"):
            a, b = operand(args[1]), operand(args[2])
            held[args[0]] = a if b == neg(ZERO) else b if a == neg(ZERO) else add(a, b, how)
        elif base in ("FFMA", "DFMA", "HFMA2"):
            ones = [k for k, a in enumerate(args) if a in ("1", "-1")]
            if len(ones) == 2:  # a sum on the unit that only fuses: 1 * a + b
                a, b = [operand(x) for k, x in enumerate(args) if k and k not in ones]
                held[args[0]] = add(neg(a) if args[ones[0]] == "-1" else a, b, how)
                continue
            a, b, c = [operand(x) for x in args[1:4]]
            if c == neg(ZERO):
                held[args[0]] = mul(a, b, how)
            elif a[1] == ZERO[1] and b[1] == ZERO[1]:
                held[args[0]] = c
            else:
                held[args[0]] = fma(a, b, c, how)
        elif base == "MOV" or op == "IMAD.MOV.U32":
            held[args[0]] = operand(args[-1])
        elif args and re.match(r"R\d+$", args[0]):
            held.pop(args[0], None)
    return out


# ---- programs: SSA instructions (op, modifiers, result, arguments), and as they are written ----
def program(rng, kind, flushing):
    """(instructions, outputs, text): registers are used again in the text, which the instructions do not show."""
    sat_types = kind in ("f32", "f16", "f16x2")
    name = {f"v{k}": f"v{k}" for k in range(8)}  # SSA value in each register
    products, insns, text = [], [], []
    for number in range(rng.randint(2, 10)):
        what, value = rng.random(), f"s{number}"
        registers = sorted(name)

        def pick():
            near = [r for r in registers if name[r] in products]
            return rng.choice(near if near and rng.random() < .6 else registers)

        target = rng.choice(registers) if rng.random() < .15 else f"t{number}"
        if number and rng.random() < .04:
            insns.append(("end", "", None, []))
            text.append("membar.gl;")
        ftz = ".ftz" if sat_types and rng.random() < .2 else ""
        if what < .42 or number == 0:
            op, how = "mul", (".rn" if rng.random() < .05 else "") + ftz
            how += ".sat" if sat_types and rng.random() < .04 else ""
            args = [pick() if rng.random() < .15 else f"v{rng.randrange(8)}" for _ in range(2)]
            products.append(value)
        elif what < .85:
            op, how = rng.choice(["add", "sub"]), (".rn" if rng.random() < .05 else "") + ftz
            how += ".sat" if sat_types and rng.random() < .08 else ""
            args = [pick(), pick()]
        elif what < .96:
            op, args = "neg" if what < .92 else "mov", [pick()]
            how = ".ftz" if flushing and kind == "f32" and op == "neg" and rng.random() < .4 else ""
            if name[args[0]] in products:
                products.append(value)
        else:
            op, how, args = "fma", ".rn", [pick(), pick(), pick()]
        text.append(f"{op}{how}.{kind if op != 'mov' else STORAGE[kind][0]} {target},{','.join(args)};")
        insns.append((op, how, value, [name[a] for a in args]))
        name[target] = value
    used = {a for i in insns for a in i[3]}
    wanted = [r for r in sorted(name) if name[r][0] == "s" and (name[r] not in used or rng.random() < .1)]
    text += [f"OUT {k} {r}" for k, r in enumerate(wanted)]
    return insns, [name[r] for r in wanted], text


def ptx(kind, number, text):
    storage, size = STORAGE[kind]
    out = [f".visible .entry k{number}(.param .u64 p, .param .u64 q)\n{{\n.reg .{storage} %v<8>, %t<12>; .reg .u64 %a<2>;",
           "ld.param.u64 %a0, [p]; ld.param.u64 %a1, [q];"]
    bits = f"b{8 * size}" if storage[0] == "b" else storage
    out += [f"ld.global.{bits} %v{k}, [%a0+{8 * k}];" for k in range(8)]
    for line in text:
        store = re.match(r"OUT (\d+) (\w+)", line)
        out.append(f"st.global.{bits} [%a1+{8 * int(store[1])}], %{store[2]};" if store
                   else re.sub(r"(?<= |,)([vt]\d+)\b", r"%\1", line))
    return "\n".join(out) + "\nret;\n}\n"


# ---- the rule, as src/simt/fuse.c has it ----
def rule(kind, insns, outs):
    made = {i[2]: i for i in insns if i[2]}
    stretch, count = {}, 0
    live = set(outs)
    for op, _, value, args in reversed(insns):
        if value in live:
            live |= set(args)
    for i in insns:
        count += i[0] == "end"
        if i[2]:
            stretch[i[2]] = count
    half = "16" in kind

    def seen_through(value):
        op, how, _, args = made[value]
        if op != "neg" or ".ftz" not in how:
            return op == "mov" or (op == "neg" and kind != "bf16x2")
        product = root(args[0])[1]
        return product and ".ftz" in made[product][1]

    def root(value):
        """Through copies and negations: (negated, the product or None, the last neg.ftz on the way)."""
        negated, at, flushed = 0, value, None
        while at in made and seen_through(at):
            negated ^= made[at][0] == "neg"
            flushed = at if flushed is None and ".ftz" in made[at][1] else flushed
            at = made[at][3][0]
        if at in made and made[at][0] == "mul" and ".rn" not in made[at][1] and ".sat" not in made[at][1]:
            return negated, at, flushed
        return 0, None, None

    uses, other, sums, loose, through = {}, set(), [], {}, set()

    def otherwise(value):
        _, product, flushed = root(value)
        if product and not flushed:
            other.add(product)
        elif product:
            loose[flushed] = product

    for o in outs:
        otherwise(o)
    for op, how, value, args in insns:
        if value not in live or (op in ("mov", "neg") and seen_through(value) and root(args[0])[1]):
            continue
        roots = [root(a)[1] for a in args]
        plain = op in ("add", "sub") and ".rn" not in how
        for k, r in enumerate(roots):
            if r and plain and roots.count(r) > 1:
                other.add(r)
            elif r and (not plain or stretch[r] != stretch[value] or (".ftz" in how) != (".ftz" in made[r][1])):
                otherwise(args[k])
            elif r:
                uses[r] = uses.get(r, 0) + 1
                through.add(root(args[k])[2])
        if plain:
            sums.append((value, [r if r and stretch[r] == stretch[value] and
                                 (".ftz" in how) == (".ftz" in made[r][1]) else None for r in roots]))
    for flushed, product in loose.items():  # neg.ftz is a sum, -x + -0, if a sum reads it
        if flushed in through:
            uses[product] += 1
        else:
            other.add(product)
    taken = {}
    for single in ((False,) if half else (True, False)):
        for value, roots in sums:
            if value in taken:
                continue
            best = min(((uses.get(r, 0), k) for k, r in enumerate(roots) if r and r not in other), default=None)
            if best and (best[0] == 1 or not single):
                taken[value] = best[1]
                other.add(roots[1 - best[1]])
    tree = {f"v{k}": (0, ("v", f"v{k}")) for k in range(8)}
    for op, how, value, args in insns:
        a, plain = [tree[x] for x in args], how.replace(".rn", "")
        if op == "mul":
            tree[value] = mul(a[0], a[1], plain)
        elif op == "fma":
            tree[value] = fma(*a, plain)
        elif op in ("neg", "mov"):
            tree[value] = neg(a[0]) if op == "neg" else a[0]
        elif op in ("add", "sub"):
            a[1] = neg(a[1]) if op == "sub" else a[1]
            if value in taken:
                k = taken[value]
                negated, product, _ = root(args[k])
                x, y = [tree[f] for f in made[product][3]]
                tree[value] = fma(neg(x) if negated ^ (op == "sub" and k == 1) else x, y, a[1 - k], plain)
            else:
                tree[value] = add(a[0], a[1], plain)
    return {k: tree[o] for k, o in enumerate(outs)}


def same_twice(insns):
    """A value computed twice: ptxas may find that out, which the rule leaves out."""
    seen = [(i[0] if i[0] != "sub" else "add", *sorted(i[3])) for i in insns if i[2]]
    return len(seen) != len(set(seen))


# ---- the tools ----
def nvdisasm():
    found = os.environ.get("NVDISASM") or shutil.which("nvdisasm")
    if not found:
        sys.exit("nvdisasm is not there: pip install nvidia-cuda-nvdisasm, and NVDISASM=…/bin/nvdisasm")
    return found


def ptxas():
    return os.environ.get("PTXAS") or shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"


def assemble(sm, kernels):
    with tempfile.TemporaryDirectory() as folder:
        source, binary = os.path.join(folder, "a.ptx"), os.path.join(folder, "a.cubin")
        with open(source, "w") as f:
            f.write(f".version 8.0\n.target sm_{sm}\n.address_size 64\n" + "".join(kernels))
        subprocess.run([ptxas(), f"-arch=sm_{sm}", source, "-o", binary], check=True)
        text = subprocess.run([nvdisasm(), "-c", "-ndf", binary], check=True, capture_output=True, text=True).stdout
    code, here = {}, None
    for line in text.splitlines():
        section = re.match(r"\s*\.section\s+\.text\.(\w+)", line)
        here = code.setdefault(section[1], []) if section else here
        insn = re.search(r"/\*[0-9a-f]{4}\*/\s+(.*?)\s*;", line)
        if insn and here is not None:
            here.append(insn[1])
    return code


def read(sm, kind, count, seed, flushing):
    rng = random.Random(f"{seed} {kind}")
    programs = []
    while len(programs) < count:
        p = program(rng, kind, flushing)
        if not same_twice(p[0]) and p[1]:
            programs.append(p)
    code = assemble(sm, [ptx(kind, n, p[2]) for n, p in enumerate(programs)])
    return [(p, follow(code[f"k{n}"])) for n, p in enumerate(programs)]


def check(options):
    bad = 0
    for sm in options.sm.split(","):
        for kind in STORAGE:
            if kind in ("f16", "bf16") or (kind[0] == "b" and int(sm) < 90):
                continue  # scalars of 16 bits are put together in pairs, which is not followed
            differ = 0
            for (insns, outs, text), got in read(int(sm), kind, options.count, options.seed, True):
                want = {k: show(t) for k, t in rule(kind, insns, outs).items()}
                have = {k: show(t) if t else "?" for k, t in got.items()}
                if want != have:
                    differ += 1
                    if differ <= 3:
                        print("\n".join(text), "\n  machine code:", have, "\n  rule:", want)
            print(f"sm_{sm} {kind}: {differ} of {options.count} programs differ from the rule")
            bad += differ
    return bad != 0


def cases(options):
    version = subprocess.run([ptxas(), "--version"], check=True, capture_output=True, text=True).stdout
    print("# Programs, and what ptxas' machine code for sm_90 computes: made by tools/fuse_rule.py cases,")
    print("# ptxas", re.search(r"V([\d.]+)", version)[1])
    for kind in STORAGE:
        if kind in ("f16", "bf16"):
            continue
        for (_, _, text), got in read(90, kind, options.count, options.seed, False):
            if None in got.values():
                sys.exit("machine code that is not understood: " + " ".join(text))
            print(f"case {kind}\n" + "\n".join(line for line in text if line[:3] != "OUT"))
            stores = dict(re.match(r"OUT (\d+) (\w+)", line).groups() for line in text if line[:3] == "OUT")
            for k in sorted(got):
                print(f"= {stores[str(k)]} {show(got[k])}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["check", "cases"])
    parser.add_argument("--sm", default="75,80,86,89,90")
    parser.add_argument("--count", type=int, default=None)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.count = options.count or (2000 if options.what == "check" else 120)
    return check(options) if options.what == "check" else cases(options)


if __name__ == "__main__":
    sys.exit(main())
