#!/usr/bin/env python3
"""test_guard.py - what guards a build: --expect, --format, `margay diff` and `margay summary`;
whose times a program's own are.

The programs are compiled here; what they must be told is worked out by hand beside them.

    test_guard.py MARGAY NVCC [unittest arguments]
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

MARGAY, NVCC = os.path.abspath(sys.argv[1]), sys.argv[2]

# columns: each of 32 warps writes a row (1 wavefront) and reads a column of 32 (32 wavefronts): 1056 where 64 are ideal, 16.5
# times. Its stores are contiguous. strided: 8 warps, each lane in a sector of its own: 256 sectors, 1024 bytes fill 32, 12.5 %.
KERNELS = """\
#include <cstdio>
__global__ void columns(float *out)
{
    __shared__ float tile[32][WIDTH];
    tile[threadIdx.y][threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void strided(float *out)
{
    out[threadIdx.x * STRIDE] = 1;
}
int main(int argc, char **)
{
    float *d;
    cudaMalloc(&d, 4096 * sizeof(float));
    columns<<<1, dim3(32, 32)>>>(d);
    strided<<<1, 256>>>(d);
    cudaDeviceSynchronize();
    puts("done");
    return argc - 1;
}
"""
RACE = """\
__global__ void neighbours(int *out)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = tile[63 - threadIdx.x];
}
int main()
{
    int *d;
    cudaMalloc(&d, 64 * sizeof(int));
    neighbours<<<1, 64>>>(d);
    cudaDeviceSynchronize();
}
"""


class Guard(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="margay-guard-")
        cls.path = pathlib.Path(cls.folder.name)
        cls.build("bad", KERNELS, "-DWIDTH=32", "-DSTRIDE=8")
        cls.build("race", RACE)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def build(cls, name, source, *flags):
        """The program `name`, of the file name.cu."""
        (cls.path / f"{name}.cu").write_text(source)
        subprocess.run([NVCC, "-lineinfo", "-arch=sm_90", *flags, "-o", name, f"{name}.cu"], cwd=cls.path, check=True)

    def margay(self, *args, status=0, env=None):
        done = subprocess.run([MARGAY, *map(str, args)], cwd=self.path, capture_output=True, text=True,
                              env={**os.environ, "LC_ALL": "C.UTF-8", **(env or {})})
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def expect(self, budgets, status, *options):
        return self.margay("profile", "--output", "/dev/null", *options, "--expect", budgets, "./bad", status=status).stderr


class Expect(Guard):
    def test_budgets_that_hold(self):
        self.assertEqual(self.expect("conflicts<=16.5,efficiency>=0.125,efficiency>=12.5%,sectors<=256,divergent<=0", 0), "")
        # A kernel without shared memory has no conflicts that could be too many.
        self.assertEqual(self.expect("conflicts<=17", 0), "")

    def test_a_budget_that_does_not_names_kernel_metric_value_and_budget(self):
        text = self.expect("conflicts<=1.1,efficiency>=0.8", 1)
        self.assertIn("margay: error: budget/conflicts in columns(float*)\n  --> bad.cu:7\n", text)
        self.assertIn("  conflicts is 16.5, and the budget is at most 1.1, with grid 1, block 32×32\n", text)
        self.assertIn("margay: error: budget/efficiency in strided(float*)\n  --> bad.cu:11\n", text)
        self.assertIn("  efficiency is 12.5 %, and the budget is at least 80 %, with grid 1, block 256\n", text)
        self.assertEqual(text.count("margay: error"), 2)

    def test_names_of_the_metrics_page(self):
        text = self.expect("memory_l1_wavefronts_shared<=1055", 1)
        self.assertIn("memory_l1_wavefronts_shared is 1056, and the budget is at most 1055", text)
        self.expect("memory_l1_wavefronts_shared<=1056", 0)

    def test_a_file_has_rules_and_exceptions(self):
        (self.path / "budgets.txt").write_text("# of all\nconflicts<=1.1,efficiency>=0.8\n\n"
                                               "conflicts<=17   ^columns\nefficiency>=10%  strided # known\n")
        self.assertEqual(self.expect("@budgets.txt", 0), "")
        (self.path / "less.txt").write_text("conflicts<=1.1\nefficiency>=12.6%  strided\n")
        text = self.expect("@less.txt,sectors<=200", 1)
        self.assertIn("at most 1.1 (less.txt:1)", text)
        self.assertIn("at least 12.6 % (less.txt:2)", text)
        self.assertIn("sectors is 256, and the budget is at most 200, with", text)

    def test_a_budget_for_no_kernel_fails(self):
        (self.path / "gone.txt").write_text("conflicts<=17\nconflicts<=1  transpose.*\n")
        self.assertIn("gone.txt:2: transpose.*: no kernel of the run has that name", self.expect("@gone.txt", 2))

    def test_reports_have_them(self):
        (self.path / "two.txt").write_text("conflicts<=1.1\nefficiency>=0.8\n")
        self.expect("@two.txt", 1, "--json", "over.json", "--sarif", "over.sarif", "--html", "over.html")
        found = json.loads((self.path / "over.json").read_text())["findings"]
        self.assertEqual([[f[key] for key in ("check", "kind", "severity", "kernel", "line")] for f in found],
                         [["budget", "conflicts", "error", "columns(float*)", 7],
                          ["budget", "efficiency", "error", "strided(float*)", 11]])
        self.assertIn("conflicts is 16.5, and the budget is at most 1.1 (two.txt:1)", found[0]["message"])
        log = json.loads((self.path / "over.sarif").read_text())["runs"][0]
        self.assertEqual([rule["id"] for rule in log["tool"]["driver"]["rules"]], ["budget/conflicts", "budget/efficiency"])
        self.assertEqual([(r["ruleIndex"], r["locations"][0]["physicalLocation"]["region"]["startLine"]) for r in log["results"]],
                         [(0, 7), (1, 11)])
        self.assertEqual(log["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "bad.cu")
        self.assertIn("the budget is at least 80 %", (self.path / "over.html").read_text())
        # What holds leaves nothing, and what fails is no fault of the result.
        self.expect("conflicts<=17", 0, "--json", "held.json", "--sarif", "held.sarif")
        self.assertEqual(json.loads((self.path / "held.json").read_text())["findings"], [])
        self.assertEqual(json.loads((self.path / "held.sarif").read_text())["runs"][0]["results"], [])
        self.assertEqual(json.loads(self.margay("summary", "--json", "over.json").stdout)["verdict"], "not checked")
        self.assertIn("new error budget/conflicts", self.margay("diff", "held.json", "over.json", status=1).stdout)

    def test_sarif_wants_budgets(self):
        done = self.margay("profile", "--sarif", "none.sarif", "./bad", status=2)
        self.assertIn("give --expect", done.stderr)
        self.assertFalse((self.path / "none.sarif").exists())

    def test_slips(self):
        (self.path / "slip.txt").write_text("\nconflicts<=1.1  (\n")
        for budgets, words in (("conflicts<1", "NAME<=NUMBER or NAME>=NUMBER is needed"), ("speed<=1", "no such counter"),
                               ("efficiency>=80", "a share is a number from 0 to 1, or has a %"),
                               ("conflicts<=2%", "only a share has a %"), ("conflicts<=", "a number from 0 on"),
                               ("@none.txt", "No such file"), ("@slip.txt", "slip.txt:2: (:"), ("", "is needed")):
            text = self.expect(budgets, 2)
            self.assertIn(words, text)
            self.assertTrue(text.startswith("margay: error: "), text)

    def test_the_programs_own_failure_stays(self):
        done = self.margay("profile", "--output", "/dev/null", "--expect", "conflicts<=1", "./bad", "x", status=1)
        self.assertIn("budget/conflicts", done.stderr)
        done = self.margay("profile", "--output", "/dev/null", "--expect", "conflicts<=1", "./bad", "x", "y", status=2)


class Format(Guard):
    def test_gcc(self):
        done = self.margay("check", "--format", "gcc", "--only", "race", "./race", status=1)
        lines = done.stderr.splitlines()
        match = re.match(r"race\.cu:5:(\d+): error: neighbours\(int\*\): thread .* \[race/(write-read|read-write)\]$", lines[0])
        self.assertTrue(match, lines[0])
        self.assertRegex(lines[1], r"^race\.cu:4:\d+: note: the other access$")
        self.assertRegex(lines[2], r"^race\.cu:5:\d+: note: fix: .*__syncthreads")

    def test_github(self):
        done = self.margay("check", "--format", "github", "--only", "race", "./race", status=1)
        self.assertRegex(done.stderr.splitlines()[0],
                         r"^::error file=race\.cu,line=5,col=\d+,title=race/[a-z-]+::neighbours\(int\*\): thread .*"
                         r"%0Athe other access: race\.cu:4%0Afix: .*$")

    def test_text_is_the_default(self):
        self.assertEqual(self.margay("check", "--format", "text", "./race", status=1).stderr,
                         self.margay("check", "./race", status=1).stderr)

    def test_budgets(self):
        self.assertEqual(self.expect("conflicts<=1.1", 1, "--format", "gcc").strip(),
                         "bad.cu:7: error: columns(float*): conflicts is 16.5, and the budget is at most 1.1, "
                         "with grid 1, block 32×32 [budget/conflicts]")
        self.assertEqual(self.expect("conflicts<=1.1", 1, "--format", "github").strip(),
                         "::error file=bad.cu,line=7,title=budget/conflicts::columns(float*): conflicts is 16.5, and the "
                         "budget is at most 1.1, with grid 1, block 32×32")
        self.assertIn("%0A", self.margay("check", "--format", "github", "./race", status=1).stderr)
        self.assertIn("efficiency is 12.5 %25, and", self.expect("efficiency>=50%", 1, "--format", "github"))

    def test_no_such_format(self):
        self.assertIn("--format xml: text, gcc or github is needed", self.margay("check", "--format", "xml", "./race",
                                                                                 status=2).stderr)


class Diff(Guard):
    """32 columns and 33: 1024 wavefronts of reads become 32, those of writes stay 32; conflicts 992 and 0."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # Two lines more stand above the kernels, so that all lines move.
        cls.build("good", "// one\n// two\n" + KERNELS, "-DWIDTH=33", "-DSTRIDE=1")
        for name in ("bad", "good"):
            subprocess.run([MARGAY, "run", "--json", f"{name}.json", f"./{name}"], cwd=cls.path, check=True, capture_output=True)

    def test_better(self):
        text = self.margay("diff", "bad.json", "good.json").stdout
        self.assertIn("columns(float*): better\n    conflicts     992 → 0  (-100 %)\n    wavefronts    1,056 → 64", text)
        self.assertIn("    static bytes  4,096 → 4,224\n", text)
        self.assertIn("    bad.cu:7 → good.cu:9\n        conflicts     992 → 0  (-100 %)\n        wavefronts    1,024 → 32", text)
        self.assertIn("strided(float*): better\n    sectors       256 → 32", text)
        self.assertTrue(text.endswith("kernels: 2 better; nothing is worse\n"), text)

    def test_worse(self):
        text = self.margay("diff", "good.json", "bad.json", status=1).stdout
        self.assertIn("    conflicts     0 → 992\n    wavefronts    64 → 1,056  (16.5 times)\n", text)
        self.assertTrue(text.endswith("kernels: 2 worse; worse\n"), text)

    def test_the_same(self):
        self.assertEqual(self.margay("diff", "bad.json", "bad.json").stdout, "kernels: 2 same; nothing is worse\n")

    def test_lines_that_moved_are_the_same(self):
        self.build("moved", "\n\n\n" + KERNELS.replace("__syncthreads();", "__syncthreads();\n\n"), "-DWIDTH=32", "-DSTRIDE=8")
        self.margay("run", "--json", "moved.json", "./moved")
        self.assertEqual(self.margay("diff", "bad.json", "moved.json").stdout, "kernels: 2 same; nothing is worse\n")

    def test_json(self):
        both = json.loads(self.margay("diff", "--json", "bad.json", "good.json").stdout)
        self.assertEqual((both["worse"], both["a"], both["b"]), (False, "bad.json", "good.json"))
        kernel = both["kernels"][0] if both["kernels"][0]["kernel"] == "columns(float*)" else both["kernels"][1]
        self.assertEqual(kernel["change"], "better")
        self.assertEqual(kernel["metrics"]["memory_l1_wavefronts_shared"], [1056, 64])
        self.assertEqual(kernel["metrics"]["derived__memory_l1_wavefronts_shared_excessive"], [992, 0])
        self.assertNotIn("memory_l1_wavefronts_shared_ideal", kernel["metrics"])
        line = [x for x in kernel["lines"] if x["a"]["line"] == 7][0]
        self.assertEqual((line["b"]["line"], line["metrics"]["memory_l1_wavefronts_shared"]), (9, [1024, 32]))
        self.assertTrue(json.loads(self.margay("diff", "--json", "good.json", "bad.json", status=1).stdout)["worse"])

    def edited(self, name, change):
        report = json.loads((self.path / "bad.json").read_text())
        change(report)
        (self.path / name).write_text(json.dumps(report))

    def test_what_counts_is_the_users_to_say(self):
        def more(report):
            report["launches"][0]["metrics"]["smsp__inst_executed.sum"] += 7
        self.edited("more.json", more)
        self.assertIn("1 changed, 1 same; nothing is worse", self.margay("diff", "bad.json", "more.json").stdout)
        self.margay("diff", "--fail-on", "instructions", "bad.json", "more.json", status=1)
        self.margay("diff", "--fail-on=instructions,sectors", "--tolerance", "5", "bad.json", "more.json")
        self.margay("diff", "--fail-on", "never", "good.json", "bad.json")
        self.margay("diff", "--fail-on", "findings", "good.json", "bad.json")
        self.assertIn("--fail-on x:", self.margay("diff", "--fail-on", "x", "bad.json", "bad.json", status=2).stderr)

    def test_new_and_gone(self):
        self.edited("less.json", lambda report: report["launches"].pop())
        text = self.margay("diff", "bad.json", "less.json").stdout
        self.assertIn("strided(float*): gone\n\nkernels: 1 gone, 1 same", text)
        self.assertIn("strided(float*): new\n", self.margay("diff", "less.json", "bad.json").stdout)

    def test_twice_as_many_launches_are_compared_each(self):
        self.edited("twice.json", lambda report: report.update(launches=report["launches"] * 2))
        text = self.margay("diff", "bad.json", "twice.json").stdout
        self.assertIn("columns(float*): changed (counts are those of one launch, on average)\n    launches      1 → 2\n\n", text)

    def test_order_is_not_judged(self):
        def wait(report):
            report["launches"][0]["waits"] = ["polling"]
            report["launches"][0]["metrics"]["memory_l1_wavefronts_shared"] += 1000
        self.edited("wait.json", wait)
        self.assertIn("not judged", self.margay("diff", "bad.json", "wait.json").stdout)

    def test_new_findings_are_worse(self):
        self.margay("check", "--json", "race.json", "./race", status=1)
        report = json.loads((self.path / "race.json").read_text())
        self.assertTrue(report["findings"])
        (self.path / "mended.json").write_text(json.dumps({**report, "findings": []}))
        text = self.margay("diff", "mended.json", "race.json", status=1).stdout
        self.assertIn("new error race/", text)
        self.assertIn(" in neighbours(int*)\n    race.cu:5\n", text)
        self.assertIn("gone: error race/", self.margay("diff", "race.json", "mended.json").stdout)

    def test_files_that_are_no_reports(self):
        (self.path / "broken.json").write_text("{")
        (self.path / "other.json").write_text("{}")
        self.edited("later.json", lambda report: report["margay"].update(schema=99))
        self.edited("board.json", lambda report: report["device"].update(name="another"))
        for name, words in (("none.json", "No such file"), ("broken.json", "broken.json:1"), ("other.json", "no report"),
                            ("later.json", "schema 99"), ("board.json", "different devices")):
            self.assertIn(words, self.margay("diff", "bad.json", name, status=2).stderr)
        self.assertIn("two reports are needed", self.margay("diff", "bad.json", status=2).stderr)


class Summary(Guard):
    def summary(self, *args, status=0):
        text = self.margay("summary", "--json", *args, status=status).stdout
        self.assertLess(len(text), 2000)
        return json.loads(text)

    def test_of_a_program(self):
        got = self.summary("./bad")
        self.assertEqual((got["verdict"], got["program_exit"], got["findings"]), ("right", 0, []))
        kernels = {kernel["kernel"]: kernel for kernel in got["kernels"]}
        self.assertEqual(kernels["columns"]["conflicts"], 16.5)
        self.assertEqual(kernels["strided"]["efficiency"], 0.125)
        first = kernels["columns"]["do"][0]
        self.assertRegex(first["what"], "Pad each row of .?tile.? by 1 element")
        self.assertEqual(first["at"], "bad.cu:7")
        self.assertGreater(first["gain"], 0)

    def test_of_a_wrong_one(self):
        got = self.summary("./race", status=1)
        self.assertEqual(got["verdict"], "wrong")
        self.assertRegex(got["findings"][0]["what"], "^race/")
        self.assertEqual((got["findings"][0]["at"], got["findings"][0]["other"]), ("race.cu:5", "race.cu:4"))
        self.assertIn("__syncthreads", got["findings"][0]["fix"])
        text = self.margay("summary", "./race", status=1).stdout
        self.assertTrue(text.startswith("wrong: "), text)
        self.assertIn("    fix: ", text)

    def test_the_programs_own_failure_is_told(self):
        got = self.summary("./bad", "x", "y", "z", status=1)
        self.assertEqual((got["verdict"], got["program_exit"]), ("wrong", 3))
        self.assertIn("ended with status 3", self.margay("summary", "./bad", "x", "y", "z", status=1).stdout)

    def test_only_json_goes_to_standard_output(self):
        done = self.margay("summary", "--json", "./bad")
        self.assertEqual(done.stdout.count("\n"), 1)
        self.assertEqual(done.stderr, "done\n")

    def test_of_a_source_file_and_with_options(self):
        (self.path / "plain.cu").write_text(KERNELS)
        got = self.summary("--nvcc-args=-DWIDTH=33 -DSTRIDE=1", "--kernel", "columns", "--device", "8.0", "plain.cu")
        self.assertEqual([kernel["kernel"] for kernel in got["kernels"]], ["columns"])
        self.assertEqual(got["kernels"][0]["conflicts"], 1)
        self.assertIn("A100", got["device"])

    def test_of_reports(self):
        self.margay("check", "--json", "c.json", "./bad")
        self.margay("profile", "--output", "/dev/null", "--json", "p.json", "./bad")
        got = self.summary("p.json")
        self.assertEqual(got["verdict"], "not checked")
        self.assertEqual({kernel["kernel"]: kernel.get("conflicts") for kernel in got["kernels"]}, {"columns": 16.5, "strided": None})
        self.assertEqual(self.summary("c.json", "p.json")["verdict"], "right")
        self.assertEqual(len(self.summary("c.json", "p.json")["kernels"]), 2)

    def test_however_much_there_is_it_fits(self):
        self.margay("check", "--json", "r.json", "./race", status=1)
        self.margay("advise", "--output", "/dev/null", "--json", "a.json", "./bad")
        races, advice = (json.loads((self.path / name).read_text()) for name in ("r.json", "a.json"))
        finding, launch, item = races["findings"][0], advice["launches"][0], advice["advice"][0]
        for size in (1, 40, 3000):
            for letter in ("x", "\u00e9", "\u5171", '"', "\n"):
                word = letter * size
                many = [{**finding, "kernel": word + str(i), "mangled": word + str(i), "message": word, "advice": word,
                         "file": "/" + word + str(i)} for i in range(30)]
                kernels = [{**launch, "kernel": f"k{i}" + word, "mangled": f"k{i}" + word} for i in range(40)]
                told = [{**item, "kernel": f"k{i}" + word, "mangled": f"k{i}" + word, "advice": [
                    {**one, "title": word, "how": word, "file": word} for one in item["advice"] * 4]} for i in range(40)]
                self.edited("many.json", {**races, "findings": many, "launches": kernels, "advice": told, "errors": [
                    {"kernel": word, "status": "MG_ERR_ADDRESS", "message": word[:100], "file": word[:50], "line": 3}] * 20})
                got = self.summary("many.json", status=1)
                self.assertEqual(got["findings_left_out"] + len(got["findings"]), 30)
                self.assertEqual(got["errors_left_out"] + len(got["errors"]), 20)
                self.assertEqual(got["kernels_left_out"] + len(got["kernels"]), 40)

    def edited(self, name, report):
        (self.path / name).write_text(json.dumps(report))

    def test_what_was_not_looked_at_is_not_right(self):
        self.assertEqual(self.summary("--kernel", "no_such_kernel", "./bad", status=2)["verdict"], "not checked")

    def test_slips(self):
        self.assertIn("a report or a program is needed", self.margay("summary", status=2).stderr)
        self.assertIn("No such file", self.margay("summary", "none.json", status=2).stderr)
        self.assertIn("none: ", self.margay("summary", "./none", status=2).stderr)
        self.assertIn("no kernel was launched", self.margay("summary", "/bin/true", status=2).stderr)


class Advise(Guard):
    """A word that is no program is a kernel: of the program behind it, or alone of the last run in the folder."""

    def advise(self, *args, status=0):
        return self.margay("advise", *args, status=status, env={"MARGAY_CACHE": str(self.path / "cache")})

    def test_a_kernel_of_a_program(self):
        alone = self.advise("strided", "./bad").stderr
        self.assertEqual(alone, self.advise("--kernel", "strided", "./bad").stderr)
        self.assertIn("strided(float*)", alone)
        self.assertNotIn("columns(float*)", alone)

    def test_a_kernel_of_the_last_run(self):
        self.assertIn("Why and how: margay advise NAME, or --full", self.advise("./bad").stderr)
        done = self.advise("columns")
        self.assertEqual(done.stdout, "")  # the program is not run again
        first, rest = done.stderr.split("\n", 1)
        self.assertEqual(first, "margay: of the last run in this folder: ./bad")
        self.assertEqual(rest, self.advise("columns", "./bad").stderr)
        # A run that was narrowed to a kernel leaves what is kept as it is.
        self.assertEqual(self.advise("--quiet", "strided").stderr, self.advise("strided", "./bad").stderr)
        self.advise("--output", "page.txt", "columns")
        self.assertIn("Pad each row of 'tile'", (self.path / "page.txt").read_text())

    def test_a_kernel_that_is_called_like_a_program_of_the_system(self):
        (self.path / "bin").mkdir()
        (self.path / "bin" / "columns").write_text("#!/bin/sh\nexit 7\n")
        (self.path / "bin" / "columns").chmod(0o755)
        path = {"MARGAY_CACHE": str(self.path / "cache"), "PATH": f"{self.path / 'bin'}:{os.environ['PATH']}"}
        self.margay("advise", "./bad", env=path)
        self.assertIn("of the last run in this folder: ./bad", self.margay("advise", "columns", env=path).stderr)

    def test_a_program_that_changed_is_told(self):
        self.build("other", KERNELS, "-DWIDTH=33", "-DSTRIDE=1")
        self.advise("./other", "two words", status=1)  # the program's own status
        os.utime(self.path / "other", (2e9, 2e9))
        self.assertIn("margay: of the last run in this folder: ./other two words (which has changed since)\n",
                      self.advise("columns").stderr)

    def test_what_is_neither(self):
        self.advise("./bad")
        for args, words in ((["reduce"], "reduce: no such program; and as a kernel: the last run in this folder (./bad) launched "
                             "none of that name"), (["reduce", "folds"], "reduce: No such file"), (["("], "Unmatched ("),
                            (["--device", "8.6", "columns"], "for another device"), (["--json", "-", "columns"], "are of a run"),
                            (["columns.x"], "columns.x: No such file")):
            self.assertIn(words, self.advise(*args, status=2).stderr)
        done = self.margay("advise", "columns", status=2, env={"MARGAY_CACHE": "off"})
        self.assertIn("no advice was kept in this folder", done.stderr)

    def test_what_was_kept_is_not_trusted(self):
        self.advise("./bad")
        for file in (self.path / "cache").iterdir():
            if file.read_bytes().startswith(b"margay text"):
                file.write_bytes(file.read_bytes()[:-9] + b"nonsense]")
        self.assertIn("no advice was kept", self.advise("columns", status=2).stderr)


class Manual(Guard):
    def test_help_and_manual_have_the_same_options(self):
        page = (pathlib.Path(__file__).resolve().parents[2] / "docs/margay.1").read_text()
        for title, command in (("DIFF AND SUMMARY", "diff"), ("DIFF AND SUMMARY", "summary"), ("COMPARE AND SWEEP", "compare"),
                               ("COMPARE AND SWEEP", "sweep")):
            section = page[page.index(f".Sh {title}"):]
            section = section[:section.index(".Sh ", 4)]
            ways = [self.margay("help", command).stdout, self.margay(command, "--help").stdout, self.margay(command, "-h").stdout]
            self.assertEqual(len(set(ways)), 1)
            self.assertTrue(ways[0].startswith(f"usage: margay {command} "), ways[0])
            self.assertLessEqual(max(map(len, ways[0].splitlines())), 110)
            options = set(re.findall(r"^  --([a-z-]+)", ways[0], re.M)) - {"help", "version"}
            self.assertIn("output" if command == "sweep" else "json", options)
            for option in options:
                self.assertRegex(section, rf"[ ,]-{option}\b", (command, option))
            self.assertRegex(self.margay(command, "--version").stdout, r"^margay \d+\.\d+\.\d+$")


TIMES = """\
#include <cstdio>
__global__ void clocked(long long *out) { out[0] = clock64(); }
__global__ void plain(long long *out) { out[0] = 1; }
int main(int argc, char **)
{
    long long *d;
    float ms;
    cudaEvent_t a, b;
    cudaMalloc(&d, sizeof(*d));
    cudaEventCreate(&a);
    cudaEventCreate(&b);
    cudaEventRecord(a);
    if (argc == 2)
        clocked<<<1, 1>>>(d);
    else
        plain<<<1, 1>>>(d);
    cudaEventRecord(b);
    cudaEventSynchronize(b);
    for (int i = 0; argc == 3 && i < 5; i++)
        cudaEventElapsedTime(&ms, a, b);
}
"""


class Times(Guard):
    """Whose times a program's own are is said once, and only to those who ask for times."""

    def test_notes(self):
        self.build("times", TIMES)
        for command in ("run", "profile", "check", "advise"):
            for args, words in (((), None), (("x",), "clock64"), (("x", "y"), "cudaEventElapsedTime")):
                done = self.margay(command, "./times", *args, status=0)
                notes = [line for line in done.stderr.splitlines() if "note:" in line]
                self.assertEqual(len(notes), 1 if words else 0, done.stderr)
                if words:
                    self.assertTrue(notes[0].startswith("margay: note: "), notes[0])
                    self.assertIn(words, notes[0])
                    self.assertIn("simulator's", notes[0])
                    self.assertNotIn("note:", self.margay(command, "--quiet", "./times", *args).stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
