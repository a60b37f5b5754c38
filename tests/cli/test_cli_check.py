#!/usr/bin/env python3
"""test_cli_check.py - `margay check` as a person would drive it: findings as text, JSON and SARIF, suppressions, exit statuses.

    test_cli_check.py MARGAY FAKE_RUN CC [unittest arguments]
"""
import json
import os
import pathlib
import re

from cli_kit import CC, FAKE, MARGAY, Case, main

# The objects of SARIF 2.1.0 that are written here: their properties, * an array of it, ! it must be there.
SARIF = {
    "log": {"$schema": "str", "version": "=2.1.0!", "runs": "run*!"},
    "run": {"tool": "tool!", "results": "result*!", "originalUriBaseIds": "bases", "invocations": "invocation*",
            "columnKind": "utf16CodeUnits|unicodeCodePoints"},
    "tool": {"driver": "driver!"},
    "driver": {"name": "str!", "version": "str", "semanticVersion": "str", "informationUri": "str", "rules": "rule*"},
    "rule": {"id": "str!", "name": "str", "shortDescription": "text", "fullDescription": "text", "help": "text",
             "helpUri": "str", "defaultConfiguration": "configuration"},
    "configuration": {"level": "none|note|warning|error", "enabled": "bool"},
    "text": {"text": "str!", "markdown": "str"},
    "invocation": {"executionSuccessful": "bool!", "exitCode": "int"},
    "result": {"ruleId": "str", "ruleIndex": "int", "level": "none|note|warning|error", "message": "text!",
               "locations": "location*", "relatedLocations": "location*", "partialFingerprints": "map",
               "suppressions": "suppression*", "occurrenceCount": "int", "properties": "bag"},
    "suppression": {"kind": "inSource|external!", "status": "accepted|underReview|rejected", "justification": "str"},
    "location": {"id": "int", "message": "text", "physicalLocation": "physical", "logicalLocations": "logical*"},
    "logical": {"name": "str", "fullyQualifiedName": "str", "decoratedName": "str", "kind": "str"},
    "physical": {"artifactLocation": "artifactLocation", "region": "region"},
    "artifactLocation": {"uri": "uri", "uriBaseId": "str"},
    "region": {"startLine": "int", "startColumn": "int", "endLine": "int", "endColumn": "int"},
}


class Check(Case):
    def checked(self, *args):
        return self.margay("check", *args, FAKE, "findings", self.source)

    def test_columns(self):
        """A line for who searches the output; broken at blanks for who asked for a width."""
        whole = self.margay("check", FAKE, "findings", self.source).err.rstrip("\n").split("\n")[-1]
        self.assertGreater(len(whole), 80)
        narrow = self.margay("check", FAKE, "findings", self.source, COLUMNS="60").err.rstrip("\n").split("\n\n")[-1]
        self.assertLessEqual(max(map(len, narrow.split("\n"))), 60)
        self.assertEqual(narrow.replace("\n  ", " "), whole)

    def test_check_statuses(self):
        for args, status in ((["/bin/true"], 2), ([FAKE, "launches", self.source], 0),
                             ([FAKE, "findings", self.source], 1), (["--fail-on", "error", FAKE, "findings", self.source], 1),
                             (["--fail-on", "never", FAKE, "findings", self.source], 0),
                             ([FAKE, "faulted", self.source], 1), ([FAKE, "error", self.source], 2),
                             ([FAKE, "partial", self.source], 2), (["sh", "-c", "exit 3"], 2), (["./nosuch"], 2),
                             ([FAKE, "no-lines"], 2)):  # a runtime that does not say that it checks
            with self.subTest(args=args):
                self.check(self.margay("check", *args), status)

    def test_check_text(self):
        r = self.checked("--verbose")
        self.check(r, 1, "PASSED\n" if r.out else "")
        self.assertIn(f"""\
margay: error: race/write-read in transpose_shared(float const*, float*, int)
  --> src.cu:9
     9 | out[(by + threadIdx.y) * n + bx + threadIdx.x] = tile[threadIdx.x][th\u2026
       |                                                  ^~~~~~~~~~~~~~~~~~~~~
     7 | tile[threadIdx.y][threadIdx.x] = in[y * n + x];
       | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ the other access
  thread (1,0,0) of block (0,0,0) reads tile[1][0], which thread (0,1,0) writes
    (1,024 times)
  fix: Put a __syncthreads() between the write and the read.
  suppress: race/write-read kernel=transpose_shared at=src.cu:9 variable=tile
""", r.err)
        self.assertLess(r.err.index("bounds/copy"), r.err.index("race/write-read"))
        self.assertLess(r.err.index("race/write-read"), r.err.index("race/same-value"))
        self.assertTrue(r.err.endswith("margay: 2 errors, 1 warning: 5 launches of 3 kernels checked for race, barrier, "
                                       "init, bounds, launch on a simulated NVIDIA H100 80GB HBM3\n"), r.err)

    def test_check_json_merges_launches(self):
        self.check(self.checked("--json", "report.json"), 1)
        report = json.loads(pathlib.Path(self.dir, "report.json").read_text(encoding="utf-8"))
        self.assertEqual([(f["kind"], f["line"], f["other_line"], f["variable"], f["count"], f["severity"])
                          for f in report["findings"]],
                         [("copy", 0, 0, "", 1, "error"), ("write-read", 9, 7, "tile[1][0]", 1024, "error"),
                          ("same-value", 3, 3, "allocation of 64 bytes, byte 0", 2, "warning")])
        self.assertEqual(report["suppressed"], [])

    def test_check_error_with_a_finding_is_told_once(self):
        r = self.margay("check", FAKE, "faulted", self.source)
        self.check(r, 1)
        self.assertIn("bounds/out-of-allocation", r.err)
        self.assertNotIn("outside every allocation", r.err)

    def suppress(self, text, *args):
        pathlib.Path(self.dir, "known").write_text(text)
        return self.checked("--suppress", "known", *args)

    def test_suppressions(self):
        self.check(self.suppress("# all that is known\n\nrace/* \nbounds/copy # the host\n"), 0)
        for line in ("race/write-read", "race/write-* kernel=transpose_shared at=src.cu:9 variable=tile",
                     "*/write-read kernel=_Z16* at=src.cu:7", "race/write-read kernel=\"transpose_shared(float const*, *\""):
            r = self.suppress(line + "\n", "--json", "report.json")
            self.check(r, 1)
            report = json.loads(pathlib.Path(self.dir, "report.json").read_text(encoding="utf-8"))
            self.assertEqual([f["kind"] for f in report["suppressed"]], ["write-read"], line)
            self.assertIn("; 1 suppressed\n", r.err)
            self.assertNotIn("nothing was suppressed", r.err)
        for line in ("race/write-read at=src.cu:8", "race/write-read kernel=naive", "race/write-read variable=til",
                     "race/write-read at=rc.cu", "init/shared"):
            self.assertIn(f"margay: note: known:1: nothing was suppressed by: {line}\n", self.suppress(line + "\n").err)

    def test_offered_suppressions_suppress(self):
        lines = re.findall(r"  suppress: (.*)", self.checked("--verbose").err)
        self.assertEqual(len(lines), 3)
        self.check(self.suppress("\n".join(lines)), 0)

    def test_bad_suppressions(self):
        for line, why in (("race", "CHECK/KIND is needed first"), ("rce/*", "there is no check of that name"),
                          ("race/* kernel", "kernel=, at= or variable= is needed"), ("race/* at=a:x", "at= needs"),
                          ("race/* at=\"a", "a quote is not closed"), ("race/* at=a:0", "at= needs"),
                          ("race/* color=red", "kernel=, at= or variable="), ("/x", "CHECK/KIND")):
            r = self.suppress("race/*\n" + line + "\n")
            self.check(r, 2, out="")
            self.assertIn(f"margay: error: known:2: {why}", r.err)
        self.assertEqual(self.checked("--suppress", "/no/such").status, 2)

    def test_only(self):
        for args, value in (([], "race,barrier,init,bounds,launch"), (["--only", "race, init"], "race,init"),
                            (["--only", "bounds", "--leaks"], "bounds,leaks")):
            r = self.margay("check", *args, FAKE, "check-env")
            self.assertEqual(r.out, value + "\n", r.err)
        for bad in ("", "races", "race,", ",race", "race init", "race,race,race,race,race,race,race,race,race,race,race,race,race"):
            self.assertEqual(self.margay("check", "--only", bad, "true").status, 2, bad)
        self.assertEqual(self.margay("check", "--fail-on", "note", "true").status, 2)

    def test_sarif(self):
        self.assertEqual(self.suppress("race/same-value\n", "--sarif", "out.sarif").status, 1)
        log = json.loads(pathlib.Path(self.dir, "out.sarif").read_text(encoding="utf-8"))
        self.sarif_object("log", log)
        self.assertEqual((log["version"], len(log["runs"])), ("2.1.0", 1))
        run = log["runs"][0]
        rules = run["tool"]["driver"]["rules"]
        self.assertEqual(len({r["id"] for r in rules}), len(rules))
        self.assertTrue(run["originalUriBaseIds"]["%SRCROOT%"]["uri"].startswith("file:///"))
        self.assertTrue(run["originalUriBaseIds"]["%SRCROOT%"]["uri"].endswith("/"))
        self.assertEqual([r["ruleId"] for r in run["results"]], ["bounds/copy", "race/write-read", "race/same-value"])
        for result in run["results"]:
            self.assertEqual(rules[result["ruleIndex"]]["id"], result["ruleId"])
            self.assertIn(result["level"], ("error", "warning", "note"))
            self.assertTrue(result["message"]["text"])
            self.assertRegex(result["partialFingerprints"]["margay/v1"], "^[0-9a-f]{16}$")
        race = run["results"][1]
        place = race["locations"][0]["physicalLocation"]
        self.assertEqual(place["artifactLocation"], {"uri": "src.cu", "uriBaseId": "%SRCROOT%"})
        self.assertEqual(place["region"]["startLine"], 9)
        self.assertEqual(race["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 7)
        self.assertEqual([len(r["suppressions"]) for r in run["results"]], [0, 0, 1])
        self.assertEqual(self.margay("check", "--sarif", "none.sarif", "./nosuch").status, 2)
        self.assertFalse(os.path.exists(os.path.join(self.dir, "none.sarif")))

    def sarif_object(self, kind, value):
        """Holds an object of the file to what section 3 of SARIF 2.1.0 allows in it and demands of it."""
        self.assertIsInstance(value, dict, kind)
        for name, kept in value.items():
            self.assertIn(name, SARIF[kind], kind)
            what = SARIF[kind][name].rstrip("!")
            many = what.endswith("*")
            what = what.rstrip("*")
            self.assertIsInstance(kept, list if many else object)
            for item in kept if many else [kept]:
                if what == "map":
                    self.assertTrue(item and all(isinstance(v, str) for v in item.values()))
                elif what == "bases":
                    for base in item.values():
                        self.sarif_object("artifactLocation", base)
                elif what == "uri":
                    self.assertRegex(item, r"^(file:///)?([A-Za-z0-9._~/-]|%[0-9A-F]{2})*$")
                elif what in ("int", "bool"):
                    self.assertIs(type(item), {"int": int, "bool": bool}[what], name)
                    self.assertGreaterEqual(item, 0 if name == "ruleIndex" else 1 if what == "int" else 0, name)
                elif what == "str":
                    self.assertIsInstance(item, str, name)
                elif what == "bag":
                    self.assertIsInstance(item, dict, name)
                elif "|" in what or what[0] == "=":
                    self.assertIn(item, what.lstrip("=").split("|"), name)
                else:
                    self.sarif_object(what, item)
        for name, what in SARIF[kind].items():
            self.assertTrue(not what.endswith("!") or name in value, f"{kind} needs {name}")


if __name__ == "__main__":
    main()
