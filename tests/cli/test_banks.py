#!/usr/bin/env python3
"""test_banks.py - `margay banks`, held to banks that are counted here: word w is in bank w modulo 32, a bank gives one word a
wavefront, and lanes are served 32, 16 or 8 at a time, by their width.

    test_banks.py MARGAY [NVCC] [unittest arguments]
"""
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

MARGAY = os.path.abspath(sys.argv[1])
NVCC = sys.argv[2] if len(sys.argv) > 2 and "/" in sys.argv[2] else None
TREE = pathlib.Path(__file__).resolve().parents[2]


def margay(*args, cwd=None, **more):
    done = subprocess.run([MARGAY, *map(str, args)], capture_output=True, text=True, cwd=cwd,
                          env={**os.environ, "LC_ALL": "C.UTF-8", **more})
    return done.returncode, done.stdout, done.stderr


def wavefronts(offsets, width):
    """Of a store: those of loads may be fewer, where lanes share addresses."""
    at_once, total = {1: 32, 2: 32, 4: 32, 8: 16, 16: 8}[width], 0
    for first in range(0, 32, at_once):
        banks = [set() for _ in range(32)]
        for at in offsets[first:first + at_once]:
            for word in range(at // 4, (at + width - 1) // 4 + 1):
                banks[word % 32].add(word)
        total += max(map(len, banks))
    return total


def taken(out, what="As it is"):
    found = re.search(rf"^{what}.*?: (\d+) wavefronts?, ideal (\d+)$", out, re.M)
    return found and tuple(map(int, found.groups()))


class Banks(unittest.TestCase):
    def banks_of_an_expression(self):
        status, out, err = margay("banks", "tile[tx][ty]", "--decl", "float tile[32][32]", "--block", "32x8")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(taken(out), (32, 1))
        self.assertEqual(taken(out, "Rows of 32 elements padded by 1"), (1, 1))
        self.assertEqual(taken(out, "Swizzled"), (1, 1))
        self.assertIn("32 wavefronts: bank 0 has 32 words (lanes 0-31)", out)
        self.assertIn("Padded: float tile[32][33]\n", out)
        self.assertIn("tile[r][c ^ (r & 31)]", out)
        self.assertIn("all 8: 256 wavefronts, ideal 8", out)
        self.assertTrue(all(len(line) <= 100 for line in out.splitlines()), out)

    def banks_shows_each_lane(self):
        _, out, _ = margay("banks", "tile[ty][tx]", "--decl", "float tile[32][33]", "--block", "32x8", "--warp", "3")
        lanes = [int(n) for line in re.findall(r"^  lane (.*)$", out, re.M) for n in line.split()]
        banks = [int(n) for line in re.findall(r"^  bank (.*)$", out, re.M) for n in line.split()]
        self.assertEqual(lanes, list(range(32)))
        self.assertEqual(banks, [(3 * 33 + x) % 32 for x in range(32)])

    def banks_padded_is_what_it_says(self):
        """What the command suggests has the cost that it promised."""
        for decl, access, block in (("float t[64][32]", "t[tx][ty]", "32x4"), ("double t[32][16]", "t[tx][ty]", "32x4"),
                                    ("float4 t[32][8]", "t[tx][ty]", "32x4"), ("int t[16][64]", "t[tx % 16][tx / 16 * 8]", "32")):
            _, out, _ = margay("banks", access, "--decl", decl, "--block", block)
            promised, better = taken(out, "Rows of"), re.search(r"^Padded: (.*)$", out, re.M)
            self.assertTrue(promised and better, out)
            _, then, _ = margay("banks", access, "--decl", better.group(1), "--block", block)
            self.assertEqual(taken(then), promised, better.group(1))

    def banks_of_several_expressions_are_together(self):
        """A layout for the column alone could spoil the row."""
        _, out, _ = margay("banks", "t[ty][tx] = 0", "t[tx][ty]", "--decl", "float t[32][32]", "--block", "32x8")
        self.assertEqual(len(re.findall(r"^As it is", out, re.M)), 2)
        self.assertRegex(out, r"(?s)t\[ty\]\[tx\] = 0\nstore.*Rows of 32 elements padded by 1.*?: 1 wavefront.*t\[tx\]\[ty\]\nload.*"
                              r"Rows of 32 elements padded by 1.*?: 1 wavefront")

    def banks_agree_with_counting(self):
        dice = random.Random(20261122)
        types = {"char": 1, "short": 2, "float": 4, "double": 8, "float2": 8, "float4": 16, "uchar4": 4}
        for _ in range(150):
            name = dice.choice(list(types))
            rows, columns = dice.choice([(64, 32), (40, 33), (32, 64), (96, 17)])
            a, b, c = dice.randrange(0, 9), dice.randrange(0, 9), dice.randrange(0, 31)
            text = f"(tx * {a} + {c}) % {rows}", f"((tx ^ {c}) * {b} + ty) % {columns}"
            offsets = [(((x * a + c) % rows) * columns + ((x ^ c) * b + 1) % columns) * types[name] for x in range(32)]
            _, out, err = margay("banks", f"t[{text[0]}][{text[1]}] = 0", "--decl", f"{name} t[{rows}][{columns}]", "--block",
                                 "32x2", "--warp", "1")
            self.assertEqual((err, taken(out) and taken(out)[0]), ("", wavefronts(offsets, types[name])), (name, text, out))

    def banks_of_pairs_are_served_at_once(self):
        """A load of 64 bits whose neighbours share an address takes one wavefront, a store two."""
        for op, want in (("load", 1), ("store", 2)):
            _, out, _ = margay("banks", "t[tx / 2]", "--decl", "double t[64]", "--op", op)
            self.assertEqual(taken(out)[0], want)
        _, out, _ = margay("banks", "t[0]", "--decl", "int t[64]", "--op", "atomic")
        self.assertIn("bank 0 has 32 lanes (0-31)", out)
        self.assertEqual(taken(out)[0], 32)  # lanes that meet on one word go one after the other

    def banks_complains(self):
        for args, says in ((["t[tx"], "--decl is needed"), (["t[tx", "--decl", "float t[32]"], "] is missing"),
                           (["t[tx]", "--decl", "flaot t[32]"], "'flaot' is no type"),
                           (["t[k]", "--decl", "float t[32]"], "'k' is not known"),
                           (["t[tx]", "--decl", "float t[16]"], "element 16 of 't', which has 16"),
                           (["t[tx]", "--decl", "float3 t[32]"], "name one, such as t[tx].x"),
                           (["t[tx]", "--decl", "float t[32]", "--block", "32x64"], "at most 1024 threads"),
                           (["t[tx]", "--decl", "float t[32]", "--block", "0"], "--block 0"),
                           (["t[tx]", "--decl", "float t[32]", "--warp", "1"], "the block has 1 warps"),
                           (["t[tx]", "--decl", "float t[32]", "--op", "read"], "load, store or atomic"),
                           (["--decl", "float t[32]"], "one expression or report is needed"),
                           (["/nowhere.json", "--line", "3"], "/nowhere.json"), (["x.json", "--line", "x:y"], "a line is needed")):
            status, out, err = margay("banks", *args)
            self.assertEqual((status, out), (2, ""), args)
            self.assertIn(says, err)
        _, _, err = margay("banks", "t[ty][tx+]", "--decl", "float t[32][32]")
        self.assertIn("  t[ty][tx+]\n           ^\n", err)  # where it is

    def banks_survives_hostile_text(self):
        for text in ("t[" + "(" * 3000 + "tx" + ")" * 3000 + "]", "t[tx]" * 2000, "t[\x1b[31mtx]", "t[\udcff]", "t[0x]", "t[tx]\n\n\nrm"):
            status, out, err = margay("banks", text, "--decl", "float t[32]")
            self.assertEqual(status, 2)
            self.assertNotIn("\x1b", err)
            self.assertTrue(err.startswith("margay: error: "), err)
            self.assertLess(len(err), 2000)

    def banks_of_a_damaged_report(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "r.json"
            head = {"margay": {"version": "0.1.0", "schema": 1}, "device": {"name": "x", "compute_capability": "9.0", "sm_count": 1},
                    "launches": []}
            access = {"file": 0, "line": 3, "space": "shared", "operation": "load", "variable": "\x1b[31m" * 50, "width": 4,
                      "lanes": [0] * 32, "wavefronts": 1, "wavefronts_ideal": 1, "phases": [[0, 32, 1]], "layouts": []}
            usual = {"kernel": "k", "mangled": "k", "banks": 32, "bank_bytes": 4, "files": ["a.cu"], "accesses": [access]}
            for change, status in (({}, 0), ({"banks": 0}, 2), ({"banks": 1 << 40}, 0), ({"bank_bytes": -4}, 2), ({"accesses": 3}, 2),
                                   ({"files": []}, 0), ({"accesses": [{**access, "lanes": ["x", 2 ** 62, None]}]}, 0),
                                   ({"accesses": [{**access, "phases": [[40, 99, 1], [0, 33, 2], "x"], "width": 1 << 30}]}, 0),
                                   ({"accesses": [{**access, "layouts": [{}, {"pad": 3}, 5, 6]}]}, 0), ({"accesses": [7, None]}, 2)):
                path.write_text(json.dumps({**head, "pictures": [{**usual, **change}]}))
                got, out, err = margay("banks", path, "--line", "3")
                self.assertEqual(got, status, (change, out, err))
                self.assertNotIn("\x1b", out + err)
            path.write_text(json.dumps(head))
            self.assertIn("has no pictures", margay("banks", path, "--line", "3")[2])

    def banks_of_a_report(self):
        """What a program did, and what its expression says, are the same."""
        if not NVCC:
            self.skipTest("nvcc is needed")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            status, _, err = margay("profile", "--pictures", "--json", path, "--launches", "3", "examples/transpose.cu", cwd=TREE, NVCC=NVCC)
            self.assertEqual(status, 0, err)
            line = next(n for n, text in enumerate((TREE / "examples/transpose.cu").read_text().splitlines(), 1)
                        if "= tile[threadIdx.x]" in text)
            status, out, err = margay("banks", path, "--line", f"transpose.cu:{line}", cwd=TREE)
            self.assertEqual((status, err), (0, ""))
            _, same, _ = margay("banks", "tile[threadIdx.x][threadIdx.y]", "--decl", "float tile[32][32]", "--block", "32x8")
            drawing = lambda text: text[text.index("As it is"):].split("\n\n")[0]
            self.assertEqual(drawing(out), drawing(same))
            self.assertIn("worst: 4 sectors, ideal 4", out)  # the store to global memory
            self.assertIn("no access", margay("banks", path, "--line", "other.cu:60")[2])
            self.assertEqual(margay("banks", path, "--line", f"examples/transpose.cu:{line}", "--kernel", "naive")[0], 2)


if __name__ == "__main__":
    unittest.TestLoader.testMethodPrefix = "banks_"
    unittest.main(argv=[sys.argv[0], "-v", *[a for a in sys.argv[2:] if "/" not in a]])
