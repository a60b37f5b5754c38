#!/usr/bin/env python3
"""test_html.py - the page of `margay profile|check|advise --html`: what is in it, and what a browser makes of it.

The simulated program is a script that writes a stream of records which stand here, so the page is tested apart from the engine;
`runs` takes programs instead. The browser is Chromium without a window, and clicks and keys are real ones (browser.py).

    test_html.py MARGAY page|browser [unittest arguments]       no toolkit; browser: exit status 77 where there is none
    test_html.py MARGAY runs NVCC                               with nvcc
"""
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser

MARGAY, MODE = os.path.abspath(sys.argv[1]), sys.argv[2]
TREE = pathlib.Path(__file__).resolve().parents[2]
SHOTS = os.environ.get("MARGAY_SCREENSHOTS")  # a folder that keeps pictures of the pages, to be looked at
HOSTILE = "</script><script>document.title='owned'</script><!-- \u2028 \" ' & \\ </SCRIPT >"
WAVE = "memory_l1_wavefronts_shared"
SECTOR = "memory_l2_theoretical_sectors_global"


def metrics(wave=0, wave_ideal=0, sector=0, sector_ideal=0, divergent=0):
    return {WAVE: wave, WAVE + "_ideal": wave_ideal, SECTOR: sector, SECTOR + "_ideal": sector_ideal,
            "smsp__sass_branch_targets_threads_divergent.sum": divergent, "smsp__inst_executed.sum": 100}


def launch(name, lines, **more):
    total = {}
    for line in lines:
        for key, value in line["metrics"].items():
            total[key] = total.get(key, 0) + value
    return {"record": "launch", "launch": {
        "kernel": name, "mangled": name, "grid": [4, 1, 1], "block": [32, 8, 1], "shared_static": 4096, "shared_dynamic": 0,
        "regs": 40, "seconds": 0.1, "status": "MG_OK", "waits": [], "metrics": total, "lines": lines, "variables": [], **more}}


def column(pitch):
    """A column of 32 words, in rows of so many words: what its banks make of it, by hand."""
    lanes = [4 * pitch * i for i in range(32)]
    words = [0] * 32
    for at in lanes:
        words[at // 4 % 32] += 1
    return lanes, max(words)


def picture(name, file, line=9, accesses=None, ptx=20, text="ld.shared.f32 %f1, [%r1]"):
    lanes, worst = column(32)
    after, better = column(33)
    shared = {"file": 0, "line": line, "insn": 3, "space": "shared", "operation": "load", "variable": "tile", "offset": 0,
              "size": 4096, "count": 64, "total": 2048, "total_ideal": 64, "width": 4, "lanes": lanes, "wavefronts": worst,
              "wavefronts_ideal": 1, "phases": [[0, 32, worst]],
              "layouts": [{"kind": "pad", "element": 4, "row": 32, "pad": 1, "xor_mask": 0, "xor_shift": 0, "xor_times": 0,
                           "added": 128, "lanes": after, "wavefronts": better, "wavefronts_ideal": 1, "phases": [[0, 32, better]]}]}
    wide = {**shared, "line": line + 1, "operation": "store", "width": 16, "lanes": [16 * i for i in range(32)], "wavefronts": 4,
            "wavefronts_ideal": 4, "phases": [[0, 8, 1], [8, 8, 1], [16, 8, 1], [24, 8, 1]], "layouts": []}
    far = {"file": 0, "line": line, "insn": 4, "space": "global", "operation": "store", "variable": "", "offset": 0, "size": 0,
           "count": 64, "total": 2048, "total_ideal": 256, "width": 4, "lanes": [4096 * i for i in range(31)] + [None],
           "sectors": 31, "sectors_ideal": 4, "phases": [], "layouts": []}
    return {"record": "picture", "picture": {
        "kernel": name, "mangled": name, "device": 0, "grid": [4, 1, 1], "block": [32, 8, 1], "shared_dynamic": 0, "banks": 32,
        "bank_bytes": 4, "sector_bytes": 32, "line_bytes": 128, "files": [file], "accesses": accesses or [shared, wide, far],
        "accesses_left_out": 0, "ptx": [[0, line - 2 + i % 4, 64, f"{text} // {i}"] for i in range(ptx)], "ptx_left_out": 0,
        "copies": [{"file": 0, "line": line, "what": "commit", "bytes": 4096, "pending": 1},
                   {"file": 0, "line": line, "what": "commit", "bytes": 4096, "pending": 2},
                   {"file": 0, "line": line, "what": "wait", "bytes": 0, "pending": 1}],
        "copies_left_out": 0, "copies_warp": 0}}


def finding(name, file, line, message):
    return {"record": "finding", "finding": {
        "check": "race", "kind": "write-read", "severity": "error", "kernel": name, "mangled": name, "variable": "tile[0][0]",
        "message": message, "advice": "Put a __syncthreads() between them.", "file": file, "other_file": file, "line": line,
        "column": 5, "other_line": line - 1, "other_column": 5, "count": 3}}


class Data(html.parser.HTMLParser):
    """What a browser would take for the page's elements, and what they ask for."""

    def __init__(self, text):
        super().__init__()
        self.inside, self.scripts, self.data, self.asks = None, 0, "", []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.scripts += tag == "script"
        self.inside = given.get("id") if tag == "script" else None
        self.asks += [value for key, value in given.items() if key in ("src", "href", "action", "srcset")]

    def handle_data(self, data):
        if self.inside == "data":
            self.data += data

    def handle_endtag(self, tag):
        self.inside = None if tag == "script" else self.inside


class Page(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="margay-html-")
        self.dir = pathlib.Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def make(self, records, command="profile", program="program.sh", *options):
        """Runs a script that writes the records, and returns the page's path and its data."""
        stream, script, page = self.dir / "stream", self.dir / program, self.dir / "page.html"
        header = {"record": "header", "version": "0.1.0", "schema": 1, "pid": 1,
                  "device": {"name": "NVIDIA H100 80GB HBM3", "compute_capability": "9.0", "sm_count": 132}}
        checks = [{"record": "checks", "checks": "race"}] if command == "check" else []
        stream.write_text("".join(json.dumps(r) + "\n" for r in [header, *checks, *records, {"record": "end", "launches": 1}]))
        script.write_text('#!/bin/sh\ncat "$0.stream" >"/proc/self/fd/${MARGAY_REPORT#fd:}"\n')
        stream.rename(f"{script}.stream")
        script.chmod(0o755)
        done = subprocess.run([MARGAY, command, *options, "--html", page, script], capture_output=True, cwd=self.dir)
        self.assertIn(done.returncode, (0, 1), done.stderr.decode())
        parsed = Data(page.read_text("utf-8"))
        return page, json.loads(parsed.data), parsed

    def source(self, name="kernel.cu", count=30, line="    tile[ty][tx] = in[i];"):
        file = self.dir / name
        file.write_text("".join(f"{line} // {i}\n" for i in range(1, count + 1)))
        return str(file)

    def html_holds_what_records_say(self):
        file = self.source()
        records = [launch("transpose", [{"file": file, "line": 9, "metrics": metrics(2048, 64, 300, 256)},
                                        {"file": file, "line": 12, "metrics": metrics(0, 0, 0, 0, 7)}]), picture("transpose", file)]
        _, data, _ = self.make(records)
        kernel = data["kernels"][0]
        self.assertEqual(kernel["metrics"][WAVE], 2048)
        self.assertEqual([row[1:7] for row in kernel["lines"]], [[9, 2048, 64, 300, 256, 0], [12, 0, 0, 0, 0, 7]])
        self.assertEqual(data["files"][0]["name"], "kernel.cu")
        first = data["files"][0]["source"]["first"]
        self.assertEqual(data["files"][0]["source"]["lines"][9 - first], "    tile[ty][tx] = in[i]; // 9")
        self.assertEqual(kernel["picture"]["accesses"][0]["layouts"][0]["wavefronts"], 1)
        # 256 threads of 40 registers: 65,536 registers over 8 warps of 40 * 32 (a multiple of 256) each, six blocks
        self.assertEqual((kernel["occupancy"]["blocks"], kernel["occupancy"]["binding"]), (6, "registers"))

    def html_escapes_hostile_text(self):
        """A source file, a kernel's name and a finding that would end the script: the page has three elements all the same."""
        file = self.source(line=HOSTILE)
        raw = pathlib.Path(file)
        raw.write_bytes(raw.read_bytes() + b"bytes \xff\xfe\x80 \x00 \x01 \x1b[31m end\n" * 3)
        records = [launch(HOSTILE, [{"file": file, "line": 31, "metrics": metrics(5, 1)}]), picture(HOSTILE, file, 29, text=HOSTILE),
                   finding(HOSTILE, file, 31, HOSTILE)]
        for command in ("profile", "check"):
            _, data, parsed = self.make(records, command)
            self.assertEqual(parsed.scripts, 2)
            self.assertNotIn("<", parsed.data)
            self.assertEqual(data["kernels"][0]["kernel"], HOSTILE)
            self.assertEqual(data["findings"][0]["message"], HOSTILE)
            lines = data["files"][0]["source"]["lines"]
            self.assertTrue(any("bytes \ufffd\ufffd\ufffd" in line for line in lines), lines)
            self.assertIn(f"{HOSTILE} // 30", lines)

    def html_asks_for_nothing(self):
        file = self.source()
        page, _, parsed = self.make([launch("k", [{"file": file, "line": 9, "metrics": metrics(5, 1)}]), picture("k", file)])
        self.assertEqual([a for a in parsed.asks if not a.startswith("#")], [])
        text = page.read_text("utf-8")
        for call in ("fetch(", "XMLHttpRequest", "import(", "@import", "url(", "WebSocket", "innerHTML", "document.write", "eval("):
            self.assertNotIn(call, text)
        self.assertEqual(set(re.findall(r"https?://[^\s'\"<]*", text)), {"http://www.w3.org/2000/svg"})  # a name, not a place

    def html_of_200_kernels_is_below_2_MB(self):
        file = self.source(count=4000)
        long = "fma.rn.f32 %f1234, %f1235, %f1236, %f1237;" * 2
        records = []
        for k in range(200):
            lines = [{"file": file, "line": 1 + (k * 17 + i) % 3900, "metrics": metrics(1000 - k, 10, 100 + i, 100)} for i in range(60)]
            one = picture(f"kernel_{k}", file, 10 + 19 * k, None, 300, long)
            one["picture"]["accesses"] *= 10
            records += [launch(f"kernel_{k}", lines), one, finding(f"kernel_{k}", file, 10 + k, "x" * 1000)]
        page, data, _ = self.make(records)
        self.assertLess(page.stat().st_size, 2 * 1000 * 1000)
        self.assertEqual(len(data["kernels"]), 200)
        whole = [k for k in data["kernels"] if k["picture"] and k["picture"]["ptx"]]
        self.assertEqual(whole, data["kernels"][:len(whole)])  # the costliest have it
        self.assertGreater(len(whole), 10)
        self.assertTrue(all(not k["picture"] or k["picture"]["ptx"] or k["picture"]["ptx_left_out"] for k in data["kernels"]))

    def html_goes_to_standard_output(self):
        script = self.dir / "quiet.sh"
        script.write_text("#!/bin/sh\necho of the program\n")
        script.chmod(0o755)
        done = subprocess.run([MARGAY, "profile", "--html", "-", script], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("<!doctype html>") and done.stdout.endswith("</html>\n"))
        self.assertIn("of the program", done.stderr)
        self.assertEqual(json.loads(Data(done.stdout).data)["kernels"], [])

    def html_tells_errors(self):
        file = self.source()
        error = {"record": "error", "kernel": "k(int*)", "status": "MG_ERR_ADDRESS", "message": HOSTILE, "file": file, "line": 7, "column": 1,
                 "excerpt": "", "hint": "look there", "inlined_file": "", "inlined_line": 0}
        _, data, parsed = self.make([error])
        self.assertEqual((data["errors"][0]["message"], data["errors"][0]["line"]), (HOSTILE, 7))
        self.assertEqual(parsed.scripts, 2)

    def html_cannot_be_written(self):
        done = subprocess.run([MARGAY, "profile", "--html", "/nowhere/page.html", "true"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("/nowhere/page.html", done.stderr)


class Clicks(Page):
    """One browser for all of them."""

    @classmethod
    def setUpClass(cls):
        cls.page = browser.Browser(browser.find())
        cls.addClassCleanup(cls.page.__exit__)

    def setUp(self):
        super().setUp()
        self.page.errors.clear()
        self.page.requests.clear()
        self.page.scheme("light")
        self.page.size(1400, 1000)

    def tearDown(self):
        self.assertEqual(self.page.errors, [])
        self.assertEqual([r for r in self.page.requests if not r.startswith(("file:", "about:"))], [])

    def shoot(self, name):
        if SHOTS:
            pathlib.Path(SHOTS).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(os.path.join(SHOTS, name + ".png"))

    def usual(self, command="profile", fragment=""):
        file = self.source()
        other = self.source("other.cu")
        records = [launch("transpose", [{"file": file, "line": 9, "metrics": metrics(2048, 64, 300, 256)},
                                        {"file": file, "line": 12, "metrics": metrics(0, 0, 0, 0, 7)}]), picture("transpose", file),
                   launch("second", [{"file": other, "line": 5, "metrics": metrics(3, 3, 90, 10)}]), picture("second", other, 5),
                   finding("transpose", file, 10, "thread 1 reads what thread 0 writes"),
                   finding("", file, 20, "a copy that does not fit")]
        page, _, _ = self.make(records, command)
        self.page.open(page.as_uri() + fragment)
        return page

    def html_tabs_and_links_are_clicked(self):
        self.usual()
        self.assertEqual(self.page.text("h1").split("/")[-1], "program.sh")
        self.assertIn("wavefronts above the ideal", self.page.text("#heat"))
        self.assertIn("1,984", self.page.text("[id='L0:9']"))
        self.page.click("#tab-accesses")
        self.assertIn("tab=accesses", self.page.run("location.hash"))
        self.assertIn("As it is: 32 wavefronts, ideal 1", self.page.text("#picture"))
        self.assertIn("Rows of 32 padded by 1", self.page.text("#picture"))
        self.assertEqual(self.page.count("#picture svg"), 2)
        words = "[...document.querySelectorAll('#picture svg')].map(s => s.querySelectorAll('.hit').length + ':' + s.querySelectorAll('.full').length)"
        self.assertEqual(self.page.run(words), ["1:0", "0:32"])  # one bank is hit 32 times; every bank once
        self.page.click("a.access", 1)
        self.assertIn("in 4 phases", self.page.text("#picture"))
        self.assertEqual(self.page.count("#picture svg"), 4)
        self.page.click("a.access", 2)
        self.assertIn("31 sectors, ideal 4", self.page.text("#picture"))
        self.assertEqual(self.page.count("#picture svg .hit"), 31)
        self.page.click("#picture h3 a")  # back to the line
        self.assertIn("tab=source&line=0:9", self.page.run("location.hash"))
        self.assertEqual(self.page.count("#source tr.here"), 1)
        self.assertGreater(self.page.count("#ptx tr.here"), 3)  # its instructions, beside it
        for tab, words in (("occupancy", "Held back by registers"), ("pipeline", "the most in flight were 2"),
                           ("roofline", "margay advise"), ("findings", "thread 1 reads")):
            self.page.click(f"#tab-{tab}")
            self.assertIn(words, self.page.text("#panel"))
        self.page.click("#kernels tbody tr:nth-child(2) a")
        self.assertEqual(self.page.text("h2 ~ p") and self.page.text("#detail h2"), "second")
        self.page.run("history.back()")
        self.page.settle()
        self.assertEqual(self.page.text("#detail h2"), "transpose")

    def html_counts_lanes_of_atomics(self):
        """Eight lanes on each word: a word a bank, and eight wavefronts, for lanes go one after the other."""
        file = self.source()
        add = {"file": 0, "line": 9, "insn": 3, "space": "shared", "operation": "atomic", "variable": "bins", "offset": 0, "size": 16,
               "count": 1, "total": 8, "total_ideal": 1, "width": 4, "lanes": [4 * (i // 8) for i in range(32)], "wavefronts": 8,
               "wavefronts_ideal": 1, "phases": [[0, 32, 8]], "layouts": []}
        page, _, _ = self.make([launch("k", [{"file": file, "line": 9, "metrics": metrics(8, 1)}]), picture("k", file, accesses=[add])])
        self.page.open(page.as_uri() + "#tab=accesses")
        texts = self.page.run("[...document.querySelectorAll('#picture svg text')].map(t => t.textContent)")
        self.assertIn("lanes", texts)
        self.assertEqual(texts.count("8"), 2 + 4)  # lane 8, bank 8, and below four banks
        self.assertEqual(self.page.count("#picture svg .hit"), 4)

    def html_times_stand_beside_the_kernels(self):
        file, timed = self.source(), metrics(70, 1)
        timed.update({"gpu__time_duration.sum": 5300, "time__least": 4100, "time__most": 1234567})
        line = lambda m: [{"file": file, "line": 9, "metrics": m}]
        for first, heads, cells in ((timed, 1, ["5.3 us", "–"]), (metrics(70, 1), 0, [])):
            page, _, _ = self.make([launch("one", line(first)), launch("two", line(metrics(7, 1)))])
            self.page.open(page.as_uri())
            self.assertEqual(self.page.run("[...document.querySelectorAll('#kernels th')].map(t => t.textContent)").count("Time"), heads)
            column = "[...document.querySelectorAll('#kernels tbody tr')].map(r => r.children[2].textContent)"
            self.assertEqual(self.page.run(column)[:len(cells)], cells)
            self.assertEqual(self.page.count("#kernels td span[title='4.1 us to 1.2 ms in four of five']"), heads)

    def html_heat_is_chosen(self):
        self.usual()
        self.page.run("const s = document.querySelector('#heat'); s.value = 'divergent'; s.dispatchEvent(new Event('change'))")
        self.page.settle()
        self.assertRegex(self.page.text("[id='L0:12']"), r"^7\b")
        self.assertIn("heat=divergent", self.page.run("location.hash"))

    def html_shows_the_hottest_line(self):
        file = self.source(count=900)
        lines = [{"file": file, "line": n, "metrics": metrics(70 if n == 600 else 1, 1)} for n in range(20, 880)]
        page, _, _ = self.make([launch("k", lines), picture("k", file, 30)])
        self.page.open(page.as_uri())
        seen = ("(() => { const b = document.querySelector('#source').getBoundingClientRect();"
                "const r = document.getElementById('L0:%d').getBoundingClientRect(); return r.top >= b.top && r.bottom <= b.bottom; })()")
        self.assertTrue(self.page.run(seen % 600))
        self.assertFalse(self.page.run(seen % 20))

    def html_findings_stand_in_place(self):
        self.usual("check")
        self.assertIn("error: thread 1 reads what thread 0 writes", self.page.text("[id='L0:10'] + tr"))
        self.assertIn("the other place of", self.page.text("[id='L0:9'] + tr"))
        self.assertIn("a copy that does not fit", self.page.text("#kernels"))  # the host's stand above the kernels

    def html_keys_do(self):
        self.usual()
        self.page.key("n")
        self.assertIn("line=0:9", self.page.run("location.hash"))
        self.page.key("j")
        self.assertEqual(self.page.text("#detail h2"), "second")
        self.page.key("k")
        self.page.run("document.getElementById('tab-source').focus()")
        self.page.key("ArrowRight")
        self.assertEqual(self.page.run("document.activeElement.id"), "tab-accesses")
        reach = ("[...document.querySelectorAll('a, button, select')].filter(e => e.tabIndex < 0 && e.getAttribute('role') !== 'tab').length")
        self.assertEqual(self.page.run(reach), 0)

    def html_is_narrow_and_dark(self):
        self.usual(fragment="#tab=accesses")
        self.page.size(400, 900)
        for tab in ("source", "accesses", "occupancy", "roofline", "pipeline", "findings"):
            self.page.click(f"#tab-{tab}")
            self.assertLessEqual(self.page.run("document.documentElement.scrollWidth"), 400, tab)
            self.shoot(f"narrow-{tab}")
        light = self.page.run("getComputedStyle(document.body).backgroundColor")
        self.page.scheme("dark")
        self.assertNotEqual(self.page.run("getComputedStyle(document.body).backgroundColor"), light)
        # 4.5 to 1, as WCAG wants of text, of every colour that text has, on the page and on what is chosen
        contrast = """(() => { const s = getComputedStyle(document.documentElement);
            const lum = name => { const v = parseInt(s.getPropertyValue(name).trim().slice(1).replace(/^(.)(.)(.)$/, '$1$1$2$2$3$3'), 16);
              const part = c => { c /= 255; return c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4; };
              return .2126 * part(v >> 16) + .7152 * part(v >> 8 & 255) + .0722 * part(v & 255); };
            const all = []; for (const t of ['--front', '--dim', '--link', '--bad', '--warn', '--good'])
              for (const b of t === '--front' || t === '--link' ? ['--back', '--soft', '--chosen'] : ['--back']) {
                const [x, y] = [lum(t), lum(b)].sort((p, q) => q - p); all.push([(x + .05) / (y + .05), t, b]); }
            return all.sort((p, q) => p[0] - q[0])[0]; })()"""
        for scheme in ("dark", "light"):
            self.page.scheme(scheme)
            least = self.page.run(contrast)
            self.assertGreaterEqual(least[0], 4.5, f"{scheme}: {least}")

    def html_of_hostile_text_runs_nothing(self):
        file = self.source(line=HOSTILE)
        page, _, _ = self.make([launch(HOSTILE, [{"file": file, "line": 9, "metrics": metrics(5, 1)}]),
                                picture(HOSTILE, file, 9, text=HOSTILE), finding(HOSTILE, file, 9, HOSTILE)])
        self.page.open(page.as_uri())
        for tab in ("source", "accesses", "findings"):
            self.page.click(f"#tab-{tab}")
        self.assertNotIn("owned", self.page.run("document.title"))
        self.assertEqual(self.page.text("#detail h2").replace("\u2028", " "), HOSTILE.replace("\u2028", " "))
        for bad in ("#kernel=99&tab=nothing&line=x&access=77", "#kernel=-1&line=9999:1", "#kernel=NaN&access=1e9", "#%%%"):
            self.page.run(f"location.hash = {json.dumps(bad)}")
            self.page.settle()
            self.assertTrue(self.page.text("#detail h2"))

    def html_of_200_kernels_is_quick(self):
        file = self.source(count=4000)
        records = []
        for k in range(200):
            records += [launch(f"kernel_{k}", [{"file": file, "line": 1 + k, "metrics": metrics(1000 - k, 10)}]),
                        picture(f"kernel_{k}", file, 10 + k, None, 300)]
        page, _, _ = self.make(records)
        self.page.open(page.as_uri())
        took = self.page.run("(() => { const t = performance.now(); for (let i = 0; i < 10; i++) { location.hash = `#kernel=${i}`; show(); }"
                             "return (performance.now() - t) / 10; })()")
        self.assertLess(took, 1000)  # milliseconds from one kernel to the next


class Runs(unittest.TestCase):
    """Programs, from nvcc to the page."""

    def run_page(self, command, source, *options):
        page, report = self.dir / "page.html", self.dir / "report.json"
        done = subprocess.run([MARGAY, command, "--html", page, "--json", report, *options, source], capture_output=True,
                              cwd=TREE, text=True, env={**os.environ, "NVCC": sys.argv[3]})
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads(Data(page.read_text("utf-8")).data), json.loads(report.read_text())

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="margay-html-")
        self.dir = pathlib.Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def access(self, report, kernel, **want):
        for p in report["pictures"]:
            if kernel in p["kernel"]:
                for a in p["accesses"]:
                    if all(a[key] == value for key, value in want.items()):
                        return a
        self.fail(f"no access {want} of {kernel}")

    def html_is_named_by_the_demo(self):
        """The end of `make demo`, without what sets up and builds: the last thing said is where the page is."""
        alone = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}  # no part of a make that runs this
        planned = subprocess.run(["make", "-n", "demo", f"BUILD={self.dir}"], capture_output=True, text=True, cwd=TREE, env=alone,
                                 check=True).stdout
        at = planned.rindex(f"{self.dir}/margay profile")
        done = subprocess.run(["sh", "-e", "-c", planned[at:].replace(f"{self.dir}/margay", MARGAY)], capture_output=True, text=True,
                              cwd=TREE, env={**os.environ, "NVCC": sys.argv[3]})
        self.assertEqual(done.returncode, 0, done.stderr)
        named = re.search(r"open (/\S+\.html) in a browser", done.stdout.splitlines()[-1])
        self.assertTrue(named, done.stdout)
        self.assertIn("transpose_shared", pathlib.Path(named.group(1)).read_text("utf-8"))

    def html_draws_a_transpose(self):
        data, report = self.run_page("profile", "examples/transpose.cu", "--launches", "3")
        load = self.access(report, "transpose_shared", space="shared", operation="load")
        self.assertEqual(load["lanes"], column(32)[0])
        self.assertEqual((load["wavefronts"], load["phases"]), (32, [[0, 32, 32]]))
        by_kind = {l["kind"]: l for l in load["layouts"]}
        self.assertEqual(by_kind["pad"]["lanes"], column(33)[0])
        self.assertEqual([l["wavefronts"] for l in load["layouts"]], [1, 1])
        self.assertEqual(by_kind["swizzle"]["lanes"], [128 * i + 4 * (0 ^ i) for i in range(32)])
        store = self.access(report, "transpose_naive", space="global", operation="store")
        self.assertEqual((store["sectors"], store["lanes"]), (32, [4096 * i for i in range(32)]))
        # the sums of a line's accesses are the line's counters
        for p, k in zip(report["pictures"], report["launches"]):
            for line in k["lines"]:
                of = [a for a in p["accesses"] if p["files"][a["file"]] == line["file"] and a["line"] == line["line"]]
                self.assertEqual(sum(a["total"] for a in of if a["space"] == "shared"), line["metrics"][WAVE])
                self.assertEqual(sum(a["total"] for a in of if a["space"] == "global"), line["metrics"][SECTOR])
        text = [t for _, line, _, t in data["kernels"][0]["picture"]["ptx"]]
        self.assertTrue(any(t.startswith("@%p") for t in text) and any(t.startswith("$L_") for t in text), text)

    def html_draws_phases_and_pipelines(self):
        (self.dir / "wide.cu").write_text(r"""
#include <cuda_pipeline.h>
#include <cstdio>
__global__ void wide(float4 *out, const float4 *in)
{
    __shared__ float4 tile[2][64];
    for (int i = 0; i < 4; i++) {
        __pipeline_memcpy_async(&tile[i % 2][threadIdx.x], &in[i * 64 + threadIdx.x], 16);
        __pipeline_commit();
        if (i) {
            __pipeline_wait_prior(1);
            __syncthreads();
            out[(i - 1) * 64 + threadIdx.x] = tile[(i - 1) % 2][threadIdx.x ^ 1];
            __syncthreads();
        }
    }
    __pipeline_wait_prior(0);
    __syncthreads();
    out[3 * 64 + threadIdx.x] = tile[1][threadIdx.x ^ 1];
}
int main()
{
    float4 *a, *b;
    cudaMalloc(&a, 256 * 16);
    cudaMalloc(&b, 256 * 16);
    cudaMemset(a, 0, 256 * 16);
    wide<<<1, 64>>>(b, a);
    return cudaDeviceSynchronize() != cudaSuccess;
}
""")
        _, report = self.run_page("profile", str(self.dir / "wide.cu"))
        load = self.access(report, "wide", space="shared", operation="load")
        self.assertEqual((load["width"], load["wavefronts"], load["phases"]), (16, 4, [[0, 8, 1], [8, 8, 1], [16, 8, 1], [24, 8, 1]]))
        copies = report["pictures"][0]["copies"]
        self.assertEqual([(c["what"], c["bytes"], c["pending"]) for c in copies],
                         [("commit", 512, 1), ("commit", 512, 2), ("wait", 0, 1), ("commit", 512, 2), ("wait", 0, 1),
                          ("commit", 512, 2), ("wait", 0, 1), ("wait", 0, 0)])

    def html_is_the_same_for_any_number_of_threads(self):
        """And under the interpreter: the other run is with the engine that the tests name, or what pays."""
        reports = []
        for options in (["--threads", "1", "--engine", "interp"], ["--threads", "4"]):
            _, report = self.run_page("profile", "examples/histogram.cu", *options, "--launches", "4")
            reports.append(report["pictures"])
        self.assertEqual(*reports)

    def html_of_check_and_advise(self):
        data, _ = self.run_page("check", "examples/missing_barrier.cu")
        found = data["findings"][0]
        self.assertEqual((found["line"], data["files"][found["file"]]["name"]), (20, "examples/missing_barrier.cu"))
        self.assertTrue(data["kernels"][0]["picture"]["accesses"])
        data, _ = self.run_page("advise", "examples/transpose.cu", "--launches", "3")
        shared = next(a for a in data["advice"] if "shared" in a["kernel"])
        self.assertEqual({r["name"] for r in shared["roofline"]["roofs"]}, {"arithmetic", "device memory", "shared memory", "instruction issue"})
        self.assertTrue({"pad", "swizzle"} & {i["id"] for i in shared["advice"]})


def main():
    if MODE == "browser" and not browser.find():
        print("skipped: there is no chromium (apt-get install chromium)")
        return 77
    case = {"page": Page, "browser": Clicks, "runs": Runs}[MODE]
    loader = unittest.TestLoader()
    loader.testMethodPrefix = "html_"
    wanted = sys.argv[4 if MODE == "runs" else 3:]
    own = [n for n in loader.getTestCaseNames(case) if case is not Clicks or n not in loader.getTestCaseNames(Page)]
    suite = unittest.TestSuite(case(n) for n in own if not wanted or n in wanted)
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


sys.exit(main())
