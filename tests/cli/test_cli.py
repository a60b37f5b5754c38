#!/usr/bin/env python3
"""test_cli.py - the command `margay`, driven as a person would.

The simulated program is fake_run.c, which writes a report stream, and our runtime is an empty library: what is tested here is
the command alone. Each test holds its input and what must come of it.

    test_cli.py MARGAY FAKE_RUN CC [unittest arguments]
"""
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import time

from cli_kit import CC, FAKE, MARGAY, TREE, Case, main

PROFILE = """\
margay 0.1.0: counts of a simulated NVIDIA H100 80GB HBM3 (compute capability 9.0)

Kernels, costliest first
    -------- shared memory -------  --------- global memory --------  divergent
    wavefronts      ideal   \u00d7ideal     sectors      ideal efficiency   branches
transpose_shared(float const*, float*, int)
  grid 32\u00d732, block 32\u00d78, 4 KiB shared, 2,000 instructions, occupancy 100 %
       540,672     32,768    16.5\u00d7      65,536     65,536      100 %          0
transpose_naive(float const*, float*, int)  grid 32\u00d732, block 32\u00d78
  1,000 instructions, occupancy 100 %
             -          -        -     147,456     65,536       44 %          0
void odd<float>(float*, int)  grid 1, block 64, \u00d72 launches
  4,000 instructions, occupancy 100 %
             -          -        -          24         24      100 %         62
void odd<float>(float*, int)  grid 2, block 64
  2,000 instructions, occupancy 100 %
             -          -        -          12         12      100 %         31

Source lines, worst first
    -------- shared memory -------  --------- global memory --------  divergent
    wavefronts      ideal   \u00d7ideal     sectors      ideal efficiency   branches
src.cu:9  out[(by + threadIdx.y) * n + bx + threadIdx.x] = tile[threadIdx.x][th\u2026
       524,288     16,384    32.0\u00d7      32,768     32,768      100 %          0
src.cu:3  {   out[x * n + y] = in[y * n + x]; }
             -          -        -     147,456     65,536       44 %          0
src.cu:7  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
        16,384     16,384     1.0\u00d7      32,768     32,768      100 %          0
src.cu:11  if (threadIdx.x & 1) p[i] = n;
             -          -        -          24         24      100 %         93

Shared variables
    wavefronts      ideal   \u00d7ideal       loads     stores      bytes
tile in transpose_shared
       540,672     32,768    16.5\u00d7      16,384     16,384      4,096

What to change, tried and priced: margay advise --kernel transpose_shared
"""


class Cli(Case):
    # ---- usage ----

    def test_help_names_commands_and_statuses(self):
        for args in (["--help"], ["-h"], ["help"]):
            r = self.margay(*args)
            self.check(r, 0, err="")
            for word in ("margay run", "margay profile", "Exit status"):
                self.assertIn(word, r.out)

    def test_no_arguments_is_a_usage_error(self):
        self.assertEqual(self.margay().status, 2)

    def test_help_of_each_command_lists_its_options(self):
        common = ["--json", "--kernel", "--launches", "--threads", "--device", "--timeout", "--nvcc-args", "--verbose",
                  "--help", "--version"]
        runs = common + ["--strict"]
        for command, options in (("run", runs), ("profile", runs + ["--output"]),
                                 ("check", common + ["--output", "--sarif", "--only", "--suppress", "--fail-on", "--leaks"])):
            ways = [self.margay("help", command), self.margay(command, "--help"), self.margay(command, "-h")]
            self.assertEqual(len({w.out for w in ways}), 1)
            self.check(ways[0], 0, err="")
            for option in options:
                self.assertIn("\n  " + option, ways[0].out)
            self.assertIn("Exit status", ways[0].out)
        self.assertNotIn("--output", self.margay("help", "run").out)

    def test_manual_has_every_option(self):
        page = (TREE / "docs" / "margay.1").read_text().replace("\\-", "-")
        for command in ("run", "profile", "check"):
            for option in re.findall(r"^  --([a-z-]+)", self.margay("help", command).out, re.M):
                self.assertRegex(page, rf"(?m)^\.It Fl -{option}\b")

    def test_manual_is_clean(self):
        mandoc = shutil.which("mandoc")
        if not mandoc:
            self.skipTest("mandoc is not installed")
        done = subprocess.run([mandoc, "-T", "lint", "-W", "warning", TREE / "docs" / "margay.1"], capture_output=True)
        self.assertEqual((done.returncode, done.stdout.decode()), (0, ""))

    def test_version(self):
        for args in (["--version"], ["run", "--version"]):
            r = self.margay(*args)
            self.check(r, 0, err="")
            self.assertRegex(r.out, r"^margay \d+\.\d+\.\d+\n$")

    def test_complaints(self):
        for args, message in (
            (["profle"], "unknown command 'profle'; did you mean 'profile'?"),
            (["help", "rn"], "unknown command 'rn'; did you mean 'run'?"),
            (["zzzzzzzz"], "unknown command 'zzzzzzzz'; see 'margay --help'"),
            (["--nonsense"], "unknown option '--nonsense'; see 'margay --help'"),
            (["run"], "no program given; usage: margay run [options] PROGRAM|FILE.cu [args...]"),
            (["run", "--"], "no program given; usage: margay run [options] PROGRAM|FILE.cu [args...]"),
            (["run", "--jsno", "x", "true"], "unknown option '--jsno'; did you mean '--json'?"),
            (["run", "--output", "x", "true"], "unknown option '--output'; see 'margay run --help'"),
            (["run", "-x", "true"], "unknown option '-x'; see 'margay run --help'"),
            (["check", "--tool", "racecheck", "true"], "unknown option '--tool': 'margay check' does what memcheck, racecheck, "
             "initcheck and synccheck do; see 'margay check --help'"),
            (["profile", "--kernel-name=k", "true"], "unknown option '--kernel-name=k': --kernel REGEX looks at kernels "
             "whose name matches alone; see 'margay profile --help'"),
            (["profile", "-arch=sm_80", "x.cu"], "unknown option '-arch=sm_80': nvcc's options go behind --nvcc-args, and "
             "--device chooses what is simulated; see 'margay profile --help'"),
            (["run", "--json"], "option '--json' needs a value; see 'margay run --help'"),
            (["run", "--verbose=1", "true"], "option '--verbose' takes no value"),
            (["run", "--launches", "0", "true"], "--launches 0: a number from 1 is needed"),
            (["run", "--launches", "-1", "true"], "--launches -1: a number from 1 is needed"),
            (["run", "--launches", "3x", "true"], "--launches 3x: a number from 1 is needed"),
            (["run", "--threads", "99999", "true"], "--threads 99999: a number from 1 to 4096 is needed"),
            (["run", "--timeout", "soon", "true"], "--timeout soon: seconds are needed, such as 30 or 0.5"),
            (["run", "--timeout", "nan", "true"], "--timeout nan: seconds are needed, such as 30 or 0.5"),
            (["run", "--timeout", "0", "true"], "--timeout 0: seconds are needed, such as 30 or 0.5"),
            (["run", "nosuchprogram"], "nosuchprogram: No such file or directory"),
            (["run", "./nosuch"], "./nosuch: No such file or directory"),
            (["run", ""], "the name of the program is empty"),
            (["run", "/tmp"], "/tmp: is a folder"),
            (["run", "./src.cu.txt"], "./src.cu.txt: No such file or directory"),
            (["profile", "none.cu"], "none.cu: No such file or directory"),
            (["run", "--nvcc-args", "-O3", "true"], "--nvcc-args is for .cu files, and true is none"),
            (["run", "--json", "/no/such/x.json", "true"], "/no/such/x.json: No such file or directory"),
            (["profile", "--output", "/no/such/x", "true"], "/no/such/x: No such file or directory"),
            # what is written when the run is over is looked at before it
            (["profile", "--html", "/tmp", "sh", "-c", "echo run"], "/tmp: Is a directory"),
            (["check", "--html", "no/such.html", "sh", "-c", "echo run"], "no/such.html: No such file or directory"),
            (["advise", "--svg", "/no/such/x", "sh", "-c", "echo run"], "/no/such/x: No such file or directory"),
        ):
            with self.subTest(args=args):
                self.check(self.margay(*args), 2, out="", err=f"margay: error: {message}\n")

    def test_no_temporary_folder(self):
        r = self.margay("profile", "src.cu", TMPDIR="/no/such", NVCC="/bin/true", MARGAY_CACHE="off")
        self.check(r, 2, out="", err="margay: error: no temporary folder can be made in /no/such, which TMPDIR names: No such file or directory\n")

    def test_bad_regular_expression(self):
        r = self.margay("run", "--kernel", "a(", "true")
        self.check(r, 2, out="")
        self.assertIn("--kernel 'a('", r.err)

    def test_unknown_device_lists_the_known(self):
        for cc in ("9.9", "91", "h100", "9.0x", ""):
            r = self.margay("run", "--device", cc, "true")
            self.check(r, 2, out="")
            self.assertIn("known are 5.0, ", r.err)
            self.assertIn("9.0", r.err)

    def test_not_executable(self):
        r = self.margay("run", "./src.txt")
        shutil.copy(self.source, os.path.join(self.dir, "src.txt"))
        os.chmod(os.path.join(self.dir, "src.txt"), 0o644)
        r = self.margay("run", "./src.txt")
        self.check(r, 2, out="", err="margay: error: ./src.txt: Permission denied; 'chmod +x' lets a program of yours be run\n")

        with open(os.path.join(self.dir, "src.py"), "w") as script:
            script.write("print(1)\n")
        for name in ("./src.py", "src.py"):
            self.check(self.margay("run", name), 2, out="", err=f"margay: error: {name} is read by Python: give 'python3 {name}'\n")

    def test_runtime_is_missing(self):
        r = self.margay("run", "true", MARGAY_LIBDIR=self.dir)
        self.check(r, 2, out="")
        self.assertIn("libcudart.so.13", r.err)

    # ---- passing through ----

    def test_plain_program(self):
        self.check(self.margay("run", "/bin/echo", "hello", "--help", "-x"), 0, "hello --help -x\n",
                   "margay: no kernel was launched: Margay saw no call of CUDA\n"
                   "  hint: A program that another one starts with an environment of its own (env -i, sudo, docker) is not "
                   "seen: put margay before that program.\n")

    def test_double_dash_ends_our_options(self):
        self.check(self.margay("run", "--", "/bin/echo", "--", "-n"), 0, "-- -n\n")

    def test_stdin_reaches_the_program(self):
        self.check(self.margay("run", "cat", stdin=b"line\n" * 1000), 0, "line\n" * 1000)

    def test_exit_status(self):
        for status in (0, 1, 2, 7, 255):
            self.check(self.margay("run", "sh", "-c", f"exit {status}"), status)

    def test_killed_by_a_signal(self):
        r = self.margay("run", "sh", "-c", "kill -SEGV $$")
        self.check(r, 128 + signal.SIGSEGV)
        self.assertIn("was ended by signal 11", r.err)

    def test_script_without_interpreter_line(self):
        path = os.path.join(self.dir, "script")
        pathlib.Path(path).write_text("echo from a script; exit 5\n")
        os.chmod(path, 0o755)
        self.check(self.margay("run", "./script"), 5, "from a script\n")

    def test_environment(self):
        r = self.margay("profile", "--threads", "3", "--device", "sm_80", "--launches", "4", "--timeout", "1.5", "--strict",
                        "--kernel", "^a|b$", FAKE, "env", "--json", "x", LD_LIBRARY_PATH="/opt/x:/opt/y")
        self.check(r, 0, out=f"""\
MARGAY_MODE=profile
MARGAY_DEVICE=80
MARGAY_THREADS=3
MARGAY_LAUNCHES=4
MARGAY_TIMEOUT=1.500
MARGAY_STRICT=1
MARGAY_KERNEL=^a|b$
MARGAY_PROGRESS=1
LD_LIBRARY_PATH={self.libdir}:/opt/x:/opt/y:{self.libdir}/absent
MARGAY_DEVICES=(none)
argument --json
argument x
""")
        r = self.margay("run", FAKE, "env", MARGAY_THREADS="9", MARGAY_KERNEL="x", MARGAY_TIMEOUT="1", MARGAY_STRICT="1")
        self.check(r, 0, out=f"""\
MARGAY_MODE=run
MARGAY_DEVICE=90
MARGAY_THREADS=(none)
MARGAY_LAUNCHES=(none)
MARGAY_TIMEOUT=(none)
MARGAY_STRICT=(none)
MARGAY_KERNEL=(none)
MARGAY_PROGRESS=1
LD_LIBRARY_PATH={self.libdir}:{self.libdir}/absent
MARGAY_DEVICES=(none)
""")

    def test_devices(self):
        self.assertIn("MARGAY_DEVICES=4\n", self.margay("run", "--devices", "4", FAKE, "env", MARGAY_DEVICES="9").out)
        for wrong in ("0", "17", "9.0", "-1"):
            r = self.margay("run", "--devices", wrong, "true")
            self.check(r, 2, out="")
            self.assertIn(f"--devices {wrong}: a number from 1 to 16 is needed", r.err)

    def test_boards(self):
        r = self.margay("run", "--board", "voodoo", "true")
        self.check(r, 2, out="")
        self.assertIn("--board voodoo: no board of that name", r.err)
        r = self.margay("run", "--board", "a100", "--device", "9.0", "true")
        self.check(r, 2, out="")
        self.assertIn("has compute capability 8.0, not 9.0", r.err)
        self.assertIn("MARGAY_DEVICE=80\n", self.margay("run", "--board", "a100", FAKE, "env").out)

    def test_ambiguous_boards(self):
        """h20 is a board of its own; h2 is a part of two names, and rtx of many."""
        self.assertIn("on a simulated NVIDIA H20:\n", self.margay("run", "--board", "h20", FAKE, "launches", self.source).err)
        r = self.margay("run", "--board", "h2", "true")
        self.check(r, 2, "", "margay: error: --board h2: several boards have that in their names: NVIDIA H200, NVIDIA H20\n")
        r = self.margay("check", "--board", "rtx", "true")
        self.check(r, 2, "")
        self.assertRegex(r.err, r"several boards have that in their names: .*, NVIDIA .* and \d+ more\n$")
        r = self.margay("check", "--board", "rtx 3060", FAKE, "findings", self.source)
        self.assertIn("launch on a simulated NVIDIA GeForce RTX 3060\n", r.err)

    def test_why_there_is_no_kernel(self):
        for command, status in (("run", 0), ("profile", 0), ("advise", 0), ("check", 2)):
            r = self.margay(command, "--kernel", "no[a-z]such", "true")
            self.check(r, status, "")
            self.assertIn("no kernel whose name matches --kernel 'no[a-z]such' was launched", r.err)
            r = self.margay(command, "true")
            self.assertIn("no kernel was launched", r.err)

    def test_interrupted(self):
        """Ctrl-C: the terminal sends it to the whole group. That no kernel was launched is not known then."""
        for command in ("run", "profile", "check", "advise"):
            for words in ([FAKE, "wait"], ["sh", "-c", "trap 'exit 7' INT; echo ready; while :; do sleep 0.05; done"]):
                process = self.start(command, *words)
                os.killpg(process.pid, signal.SIGINT)
                out, err = process.communicate(timeout=20)
                self.assertIn(b"the run was ended before any kernel had", err)
                self.assertNotIn(b"no kernel was launched", err)
                self.assertEqual(process.returncode, 2 if command == "check" else 7 if words[0] == "sh" else 130, err)

    def test_interrupted_compilation(self):
        nvcc = os.path.join(self.dir, "nvcc")
        # nvcc's own way to end, or the system's; while it compiles, or while it tells its version
        for how, cache in (("trap 'exit 1' INT", "off"), ("trap - INT", "off"), ("trap 'exit 1' INT", self.dir)):
            pathlib.Path(nvcc).write_text(f"#!/bin/sh\n{how}\necho ready >{self.dir}/fifo\nwhile :; do sleep 0.05; done\n")
            os.chmod(nvcc, 0o755)
            if not os.path.exists(os.path.join(self.dir, "fifo")):
                os.mkfifo(os.path.join(self.dir, "fifo"))
            process = subprocess.Popen([MARGAY, "profile", "--json", "r.json", "src.cu"], cwd=self.dir, start_new_session=True,
                                       env=self.environment(NVCC=nvcc, MARGAY_CACHE=cache), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            pathlib.Path(self.dir, "fifo").read_text()
            os.killpg(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=20)
            self.assertEqual(process.returncode, 130, err)
            self.assertIn(b"while nvcc compiled src.cu", err)
            self.assertEqual([n for n in os.listdir(self.dir) if n.startswith(("margay-", "r.json"))], [])

    def test_reports_on_standard_output(self):
        """--json - is no file named "-": the report has standard output to itself, and the program's words go beside it."""
        r = self.margay("profile", "--json", "-", FAKE, "launches", self.source)
        self.assertEqual((r.status, len(json.loads(r.out)["launches"])), (0, 5))
        self.assertIn("PASSED\n", r.err)
        r = self.margay("check", "--sarif", "-", FAKE, "findings", self.source)
        self.assertEqual((r.status, len(json.loads(r.out)["runs"][0]["results"])), (1, 3))
        self.check(self.margay("profile", "--output", "-", FAKE, "launches", self.source), 0, "PASSED\n" + PROFILE, "")
        for args, message in ((["check", "--json", "-", "--sarif", "-"], "only one report can go to standard output"),
                              (["check", "--json", "-", "--output", "-"], "only one report can go to standard output"),
                              (["bench", "--json", "-"], "--json -: a file is needed, as the tables go to standard output")):
            self.check(self.margay(*args, FAKE), 2, "", f"margay: error: {message}\n")
        self.check(self.margay("run", "--json", "-", "./nosuch"), 2, "")
        self.assertFalse(os.path.exists(os.path.join(self.dir, "-")))

    def test_a_cache_that_cannot_be_written(self):
        """One line, not one a launch; and none where nothing is to be kept."""
        pathlib.Path(self.dir, "file").write_text("")
        folder = os.path.join(self.dir, "file", "cache")
        for command in ("run", "profile", "check"):
            note = (f"margay: note: compiled kernels cannot be kept in {folder}: Not a directory; MARGAY_CACHE names another "
                    "folder, or off (--quiet leaves this out)\n")
            self.assertEqual(self.margay(command, FAKE, "launches", self.source, MARGAY_CACHE=folder).err.count(note), 1)
            for cache, options in ((folder, ["--quiet"]), ("off", []), (os.path.join(self.dir, "new", "cache"), [])):
                r = self.margay(command, *options, FAKE, "launches", self.source, MARGAY_CACHE=cache)
                self.assertNotIn("cannot be kept", r.err)
        self.assertNotIn("cannot be kept", self.margay("run", "/bin/true", MARGAY_CACHE=folder).err)

    def test_a_file_for_each_report(self):
        os.mkdir(os.path.join(self.dir, "d"))
        os.symlink("there", os.path.join(self.dir, "link"))
        pathlib.Path(self.dir, "there").write_text("kept")
        for args, message in ((["check", "--json", "a", "--html", "./a"], "--json and --html name one file, ./a"),
                              (["check", "--sarif", "link", "--output", "there"], "--sarif and --output name one file, there"),
                              (["advise", "--svg", "d/../x", "--output", "d/../x"], "--svg and --output name one file, d/../x")):
            self.check(self.margay(*args, FAKE, "findings", self.source), 2, "",
                       f"margay: error: {message}: each report needs its own\n")
        self.assertEqual(pathlib.Path(self.dir, "there").read_text(), "kept")
        self.assertFalse(os.path.exists(os.path.join(self.dir, "a")))
        self.check(self.margay("profile", "--json", "/dev/null", "--output", "/dev/null", FAKE, "launches", self.source), 0)

    def test_usage_names_what_can_be_run(self):
        self.assertRegex(self.margay("help").out, r"(?m)^usage: margay run \[options\] PROGRAM\|FILE\.cu ")
        for command in ("run", "profile", "check", "advise"):
            text = self.margay("help", command).out
            self.assertIn("PROGRAM|FILE.cu", text.splitlines()[0])
            self.assertIn("python3 FILE.py", text)

    def test_check_of_a_call_that_failed(self):
        """A missing entry point: nothing ran, so nothing is said to have no findings, nor any kernel to have stopped."""
        r = self.margay("check", FAKE, "missing")
        self.check(r, 2, "")
        self.assertIn("cudaFancy is not simulated", r.err)
        self.assertIn("nothing was checked: the run failed with the error above", r.err)
        self.assertNotIn("no findings", r.err)
        self.assertNotIn("a kernel stopped", r.err)

    def test_ptx_is_no_program(self):
        pathlib.Path(self.dir, "kernel.ptx").write_text(".version 8.0\n")
        r = self.margay("profile", "./kernel.ptx")
        self.check(r, 2, "")
        self.assertIn("./kernel.ptx is PTX text, which no processor starts", r.err)

    def test_files_that_no_processor_starts(self):
        elf = bytes([127]) + b"ELF" + bytes([2, 1, 1]) + bytes(9)
        kind, machine = (3).to_bytes(2, "little"), os.uname().machine == "aarch64"
        own = (183 if machine else 62).to_bytes(2, "little")
        for name, data, mode, says in (
                ("old", elf[:4] + bytes([1]) + elf[5:] + kind + (3).to_bytes(2, "little"), 0o755, "old is a 32-bit program"),
                ("far", elf + kind + (243).to_bytes(2, "little"), 0o755, "far is a program for another kind of processor"),
                ("k.cubin", elf + (1).to_bytes(2, "little") + (190).to_bytes(2, "little"), 0o644, "k.cubin is machine code for GPUs"),
                ("k.fatbin", bytes([0x50, 0xed, 0x55, 0xba]) + bytes(60), 0o644, "k.fatbin holds code for GPUs"),
                ("part.o", elf + (1).to_bytes(2, "little") + own, 0o644, "part.o is an object file: link it first"),
                ("plain", elf + kind + own, 0o644, "plain: Permission denied; 'chmod +x'")):
            path = pathlib.Path(self.dir, name)
            path.write_bytes(data + bytes(60))
            path.chmod(mode)
            r = self.margay("run", "./" + name)
            self.check(r, 2, "")
            self.assertIn("margay: error: ./" + says, r.err)

    def test_no_main(self):
        for text, has in (("__global__ void k() {}", False), ("// int main()\n__global__ void k() {}", False),
                          ("/* main */ const char *main_one = \"main\";", False), ("void remain();", False),
                          ("int main() {}", True), ("#define CATCH_CONFIG_MAIN\n", True), ('#include "rest.h"\n', True),
                          ("const char *a = \"\\\"\"; int main(){}", True)):
            pathlib.Path(self.dir, "k.cu").write_text(text)
            r = self.margay("run", "k.cu", NVCC=self.fake_nvcc())
            self.assertEqual("k.cu has no main()" not in r.err, has, text)
            self.assertEqual(r.status, 6 if has else 2)
            self.assertEqual(self.margay("run", "--nvcc-args", "more.cu", "k.cu", NVCC=self.fake_nvcc()).status, 6)

    def test_long_kernel_names_keep_what_tells(self):
        r = self.margay("profile", FAKE, "cub")
        self.check(r, 0)
        self.assertIn("\nDeviceReduceSingleTileKernel<cub::detail::reduce::policy_hub<", r.err)
        self.assertNotIn("CUB_300001", r.err)

    def test_device_spellings(self):
        for cc, number in (("9.0", "90"), ("90", "90"), ("12.1", "121"), ("sm_75", "75")):
            self.assertIn(f"MARGAY_DEVICE={number}\n", self.margay("run", "--device", cc, FAKE, "env").out)

    def build(self, name, *flags):
        path = os.path.join(self.dir, name)
        code = pathlib.Path(self.dir, "p.c")
        code.write_text('#include <stdio.h>\n#include <stdlib.h>\nint main(void) { puts(getenv("LD_PRELOAD")); }\n')
        subprocess.run([CC, "-Wl,--no-as-needed", "-o", path, code, *flags], check=True)
        return path

    def test_which_runtime_is_preloaded(self):
        for name, flags, version in (("none", [], 13), ("v13", [f"{self.libdir}/libcudart.so.13"], 13),
                                     ("v12", [f"{self.libdir}/libcudart.so.12"], 12)):
            r = self.margay("run", self.build(name, *flags))
            self.check(r, 0)
            libraries = r.out.strip().split(":")
            self.assertIn(f"{self.libdir}/libcudart.so.{version}", libraries)
            self.assertEqual(sum("libcudart" in lib for lib in libraries), 1)

    def test_preload_of_the_user_is_kept(self):
        # The option is for a command built with the address sanitizer, which would refuse to start behind the other library.
        r = self.margay("run", self.build("p"), LD_PRELOAD=f"{self.libdir}/libcudart.so.12",
                        ASAN_OPTIONS="verify_asan_link_order=0")
        self.assertTrue(r.out.strip().endswith(f"libcudart.so.13:{self.libdir}/libcudart.so.12"), r.out)

    def test_files_that_are_nearly_programs(self):
        """The look into the program for the runtime it needs must stand anything."""
        whole = pathlib.Path(self.build("p")).read_bytes()
        path = os.path.join(self.dir, "broken")
        for n in list(range(0, 64, 7)) + list(range(64, len(whole), len(whole) // 20)):
            pathlib.Path(path).write_bytes(whole[:n])
            os.chmod(path, 0o755)
            self.assertGreaterEqual(self.margay("run", "./broken").status, 0)
        header = bytearray(whole)
        for at in range(16, 64):
            header[at] ^= 0xFF
            pathlib.Path(path).write_bytes(header)
            self.assertGreaterEqual(self.margay("run", "./broken").status, 0)
            header[at] ^= 0xFF

    # ---- signals ----

    def start(self, *args):
        process = subprocess.Popen([MARGAY, *args], cwd=self.dir, env=self.environment(), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def test_signals_are_forwarded(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
            process = self.start("run", FAKE, "wait")
            process.send_signal(number)
            out, err = process.communicate(timeout=20)
            self.assertEqual(process.returncode, 128 + number, err)

    def test_program_may_handle_the_signal(self):
        process = self.start("run", "sh", "-c", "trap 'echo caught; exit 9' TERM; echo ready; while :; do sleep 0.05; done")
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=20)
        self.assertEqual((process.returncode, out), (9, b"caught\n"))

    def assert_ends(self, child):
        deadline = time.monotonic() + 20
        while True:
            try:
                with open(f"/proc/{child}/stat", encoding="ascii") as stat:
                    if stat.read().rsplit(")", 1)[1].split()[0] in "ZX":
                        return # ended; who inherited it has not taken its status yet
            except FileNotFoundError:
                return
            self.assertLess(time.monotonic(), deadline, "the program goes on without margay")
            time.sleep(0.05)

    def test_a_killed_command_leaves_no_child(self):
        process = self.start("run", "sh", "-c", "echo ready; echo $$; exec sleep 600")
        child = int(process.stdout.readline())
        os.kill(child, 0)
        process.kill()
        process.communicate(timeout=20)
        self.assert_ends(child)

    def test_nor_a_childs_child_of_its_own_session(self):
        script = "echo ready; echo $$; (setsid sh -c 'echo $$; sleep 600; :' &); sleep 600; :"
        process = self.start("run", "sh", "-c", script)
        children = [int(process.stdout.readline()) for _ in range(2)]
        for child in children:
            os.kill(child, 0)
        process.kill()
        process.communicate(timeout=20)
        for child in children:
            self.assert_ends(child)

    def test_what_a_program_leaves_behind_goes_on(self):
        process = self.start("run", "sh", "-c", "echo ready; setsid sleep 600 >/dev/null 2>&1 & echo $!")
        child = int(process.stdout.readline())
        process.communicate(timeout=20)
        self.assertEqual(process.returncode, 0)
        os.kill(child, signal.SIGKILL)

    def test_child_starts_with_an_open_signal_mask(self):
        r = self.margay("run", "grep", "SigBlk", "/proc/self/status")
        self.check(r, 0, "SigBlk:\t0000000000000000\n")

    def test_orphan_that_keeps_the_pipe_does_not_hold_us_up(self):
        begin = time.monotonic()
        r = self.margay("run", FAKE, "orphan", self.source)
        self.check(r, 0)
        self.assertLess(time.monotonic() - begin, 15)
        self.assertEqual(r.err.count("margay: "), 4)

    # ---- reports ----

    def test_profile(self):
        self.check(self.margay("profile", FAKE, "launches", self.source), 0, "PASSED\n", PROFILE)

    def test_profile_to_a_file(self):
        self.check(self.margay("profile", "--output", "out.txt", FAKE, "launches", self.source), 0, "PASSED\n", "")
        self.assertEqual(pathlib.Path(self.dir, "out.txt").read_text(encoding="utf-8"), PROFILE)

    def test_profile_in_ascii(self):
        r = self.margay("profile", FAKE, "launches", self.source, LC_ALL="C")
        self.check(r, 0, "PASSED\n")
        self.assertTrue(r.err.isascii())
        self.assertEqual(r.err.replace("...", "\u2026"), re.sub("th\u2026", "\u2026", PROFILE.replace("\u00d7", "x")))

    def test_run_summary(self):
        self.check(self.margay("run", FAKE, "launches", self.source), 0, "PASSED\n", """\
margay: on a simulated NVIDIA H100 80GB HBM3:
margay: transpose_naive(float const*, float*, i\u2026: grid 32\u00d732, block 32\u00d78, 12.5 ms
margay: transpose_shared(float const*, float*, \u2026: grid 32\u00d732, block 32\u00d78, 4 KiB shared, 12.5 ms
margay: void odd<float>(float*, int): grid 1, block 64 and others, \u00d73 launches, 37.5 ms
""")

    def test_json(self):
        self.check(self.margay("profile", "--json", "report.json", FAKE, "launches", self.source), 0)
        report = json.loads(pathlib.Path(self.dir, "report.json").read_text(encoding="utf-8"))
        self.assertEqual(list(report), ["margay", "device", "launches", "findings", "errors", "warnings"])
        self.assertEqual(report["margay"], {"version": "0.1.0", "schema": 1})
        self.assertEqual(report["device"], {"name": "NVIDIA H100 80GB HBM3", "compute_capability": "9.0", "sm_count": 132})
        self.assertEqual((report["findings"], report["errors"]), ([], []))
        self.assertEqual(len(report["launches"]), 5)  # each launch, not each row
        for launch in report["launches"]:
            self.assertEqual(list(launch), ["kernel", "mangled", "device", "grid", "block", "shared_static", "shared_dynamic",
                                            "regs", "seconds", "status", "waits", "metrics", "derived", "lines", "variables"])
        one = report["launches"][1]
        self.assertEqual(one["kernel"], "transpose_shared(float const*, float*, int)")
        self.assertEqual(one["mangled"], "_Z16transpose_sharedPKfPfi")
        self.assertEqual((one["grid"], one["block"], one["shared_static"]), ([32, 32, 1], [32, 8, 1], 4096))
        self.assertEqual((one["seconds"], one["status"]), (0.0125, "MG_OK"))
        self.assertEqual(one["metrics"]["memory_l1_wavefronts_shared"], 540672)
        self.assertEqual([(l["file"], l["line"], l["metrics"]["memory_l1_wavefronts_shared"]) for l in one["lines"]],
                         [(self.source, 7, 16384), (self.source, 9, 524288)])
        self.assertEqual([(v["name"], v["size"], v["metrics"]["memory_l1_wavefronts_shared_ideal"])
                          for v in one["variables"]], [("tile", 4096, 32768)])
        page = (TREE / "docs" / "metrics.md").read_text(encoding="utf-8")
        for name in one["metrics"]:
            self.assertIn(f"| `{name}` |", page)

    def test_json_without_a_launch(self):
        self.check(self.margay("run", "--json", "report.json", "--device", "8.0", "true"), 0)
        report = json.loads(pathlib.Path(self.dir, "report.json").read_text())
        self.assertEqual((report["launches"], report["device"]["compute_capability"]), ([], "8.0"))

    def test_json_of_a_program_that_died(self):
        r = self.margay("run", "--json", "report.json", FAKE, "partial", self.source)
        self.check(r, 137)
        self.assertIn("damaged records of the run, missing here: 1\n", r.err)
        self.assertEqual(len(json.loads(pathlib.Path(self.dir, "report.json").read_text())["launches"]), 5)

    def test_no_json_without_a_run(self):
        self.check(self.margay("run", "--json", "report.json", "./nosuch"), 2)
        self.assertFalse(os.path.exists(os.path.join(self.dir, "report.json")))

    def test_json_that_cannot_be_written(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        r = self.margay("run", "--json", "/dev/full", FAKE, "launches", self.source)
        self.check(r, 2, "PASSED\n")
        self.assertIn("/dev/full could not be written", r.err)
        self.assertTrue(os.path.exists("/dev/full"))

    def test_damaged_records(self):
        r = self.margay("profile", FAKE, "damaged", self.source)
        self.check(r, 0)
        self.assertIn("damaged records of the run, missing here: 4\n", r.err)
        self.assertTrue(r.err.endswith(PROFILE), r.err)

    def test_no_line_information(self):
        r = self.margay("profile", FAKE, "no-lines")
        self.check(r, 0)
        self.assertIn("\nk()  grid 1, block 64, 1,000 instructions, occupancy 100 %\n            64         32     2.0\u00d7", r.err)
        self.assertIn("compile with nvcc -lineinfo", r.err)
        self.assertNotIn("Source lines", r.err)

    def test_error_with_source(self):
        for column, caret in ((0, ""), (2, ""), (6, "    "), (59, " " * 57)):
            r = self.margay("run", FAKE, "error", self.source, str(column))
            self.check(r, 3, "", f"""\
margay: error: scale(float*, int): global load of 4 bytes at 0x7f0000001000 is outside every allocation
  --> src.cu:9{f":{column}" if column else ""}
    9 | out[(by + threadIdx.y) * n + bx + threadIdx.x] = tile[threadIdx.x][thre\u2026
      | {caret}^
  hint: the nearest allocation ends 4096 bytes before
""")

    def test_warning(self):
        for command in ("run", "profile"):
            r = self.margay(command, "--json", "r.json", FAKE, "warning", self.source)
            self.check(r, 0)
            self.assertIn("margay: warning: scale(float*, int): access of 4 bytes, 4 bytes past the end of an", r.err)
            self.assertIn(":9\n", r.err)
            self.assertNotIn("error", r.err)
            report = json.loads(pathlib.Path(self.dir, "r.json").read_text())
            self.assertEqual(report["errors"], [])
            self.assertEqual([(w["kernel"], w["line"]) for w in report["warnings"]], [("scale(float*, int)", 9)])

    def test_error_in_json(self):
        self.check(self.margay("run", "--json", "r.json", FAKE, "error", self.source, "6"), 3)
        errors = json.loads(pathlib.Path(self.dir, "r.json").read_text())["errors"]
        self.assertEqual(errors, [{
            "kernel": "scale(float*, int)", "status": "MG_ERR_ADDRESS",
            "message": "global load of 4 bytes at 0x7f0000001000 is outside every allocation", "file": self.source,
            "line": 9, "column": 6, "excerpt": "", "hint": "the nearest allocation ends 4096 bytes before",
            "inlined_file": "", "inlined_line": 0}])

    def test_error_in_a_header(self):
        """The line is the user's, and the header's stands below it."""
        r = self.margay("run", "--json", "r.json", FAKE, "error", self.source, "2", "/usr/local/cuda/include/crt/mma.hpp")
        self.check(r, 3, "", """\
margay: error: scale(float*, int): global load of 4 bytes at 0x7f0000001000 is outside every allocation
  --> src.cu:9:2
    9 | out[(by + threadIdx.y) * n + bx + threadIdx.x] = tile[threadIdx.x][thre\u2026
      | ^
  in /usr/local/cuda/include/crt/mma.hpp:91, inlined there
  hint: the nearest allocation ends 4096 bytes before
""")
        error = json.loads(pathlib.Path(self.dir, "r.json").read_text())["errors"][0]
        self.assertEqual((error["file"], error["line"]), (self.source, 9))
        self.assertEqual((error["inlined_file"], error["inlined_line"]), ("/usr/local/cuda/include/crt/mma.hpp", 91))

    def test_a_defect_of_ours_is_told_as_one(self):
        for command in ("run", "profile", "check", "advise"):
            r = self.margay(command, "--json", "r.json", FAKE, "crash", self.source)
            self.check(r, 2 if command == "check" else 128 + signal.SIGFPE)
            self.assertIn("margay: error: operator?? _x(? double): Margay itself failed: signal 8 (a bad division) at "
                          "libcudart+0x10\n  hint: This is a defect of Margay, not of your program", r.err)
            self.assertIn("ended there, by signal 8", r.err)
            self.assertNotIn("was ended by signal", r.err)
            self.assertNotIn("this CUDA runtime runs kernels but does not look at them", r.err)
            self.assertNotIn("damaged", r.err)
            errors = json.loads(pathlib.Path(self.dir, "r.json").read_text())["errors"]
            self.assertEqual([e["status"] for e in errors], ["MG_ERR_INTERNAL"])

    # ---- the settings for a shell ----

    def test_env(self):
        """A shell that evaluates them, and a list of lines, have what a program of `margay run` has."""
        odd = "/x y:/it's"
        r = self.margay("env", "--board", "h200", "--timeout", "5", LD_LIBRARY_PATH=odd)
        self.check(r, 0)
        said = subprocess.run(["sh", "-c", r.out + 'printf "%s\\n" "$LD_LIBRARY_PATH" "$LD_PRELOAD" "$MARGAY_BOARD" "$MARGAY_TIMEOUT"'],
                              capture_output=True, text=True, env={"PATH": os.environ["PATH"]}).stdout.split("\n")
        self.assertEqual(said[0], f"{self.libdir}:{odd}:{self.libdir}/absent")
        self.assertEqual(said[1].split(":")[-1], f"{self.libdir}/libcudart.so.13")
        self.assertEqual(said[2:4], ["NVIDIA H200", "5.000"])
        lines = self.margay("env", "--lines", LD_LIBRARY_PATH=odd)
        self.check(lines, 0)
        self.assertIn(f"LD_LIBRARY_PATH={self.libdir}:{odd}:{self.libdir}/absent\n", lines.out)
        self.assertNotIn("MARGAY_REPORT", lines.out)
        # CuPy keeps its kernels apart from a GPU's, and compiles those of its reductions; what the user says stays.
        self.assertIn("CUPY_CACHE_DIR=/k/cupy\nCUPY_ACCELERATORS=\n", self.margay("env", "--lines", MARGAY_CACHE="/k").out)
        off = self.margay("env", "--lines", MARGAY_CACHE="off", CUPY_ACCELERATORS="cub").out
        self.assertIn("CUPY_CACHE_IN_MEMORY=1\nCUPY_ACCELERATORS=cub\n", off)
        self.assertNotIn("CUPY_CACHE_DIR", off)
        # So with TileLang, which is told to compile with NVRTC.
        self.assertIn("TILELANG_EXECUTION_BACKEND=nvrtc\nTILELANG_CACHE_DIR=/k/tilelang\n",
                      self.margay("env", "--lines", MARGAY_CACHE="/k").out)
        off = self.margay("env", "--lines", MARGAY_CACHE="off", TILELANG_EXECUTION_BACKEND="cython").out
        self.assertIn("TILELANG_EXECUTION_BACKEND=cython\nTILELANG_DISABLE_CACHE=1\n", off)
        self.check(self.margay("env", "program"), 2)
        self.assertIn("usage: eval", self.margay("env", "--help").out)

    # ---- programs that the loader does not start ----

    def test_missing_libraries(self):
        """The loader's line stays, and ours says what the library is: found by the loader itself, through other libraries too."""
        gone = []
        for name in ("libcuda.so.1", "libcublas.so.99", "libnppif.so.99", "libcudart.so.11.0", "libnvrtc.so.99", "libown.so.2"):
            path = os.path.join(self.dir, name)
            pathlib.Path(self.dir, "l.c").write_text("int f(void) { return 1; }\n")
            subprocess.run([CC, "-shared", "-fPIC", f"-Wl,-soname,{name}", "-o", path, os.path.join(self.dir, "l.c")], check=True)
            gone.append(path)
        between = os.path.join(self.dir, "libbetween.so")
        subprocess.run([CC, "-shared", "-fPIC", "-Wl,--no-as-needed", "-o", between, os.path.join(self.dir, "l.c"), gone[1], f"-Wl,-rpath,{self.dir}"],
                       check=True)
        program = self.build("needs", gone[0], *gone[2:], between, f"-Wl,-rpath,{self.dir}", f"-Wl,-rpath-link,{self.dir}")
        self.check(self.margay("run", program), 0)
        for path in gone:
            os.unlink(path)
        for command in ("run", "check"):
            r = self.margay(command, "--json", "r.json", program)
            self.check(r, 127 if command == "run" else 2, "")
            self.assertIn("error while loading shared libraries", r.err)
            for path, words in zip(gone, ("the CUDA driver API", "cuBLAS", "NPP", "the CUDA runtime of another version",
                                          "NVRTC", "")):
                self.assertEqual(r.err.count(f"needs did not start: it needs {os.path.basename(path)}"), 1, r.err)
                self.assertIn(words, r.err)
            self.assertIn("Margay brings one, libcuda.so.1 beside its CUDA runtime, and it is not there", r.err)
            self.assertIn("machine code for GPUs, which Margay cannot run", r.err)
            self.assertNotIn("no kernel was launched", r.err)
            self.assertEqual(len(json.loads(pathlib.Path(self.dir, "r.json").read_text())["errors"]), 6)

    def test_status_127_of_the_program_itself(self):
        """Nothing is missing, and it does not run a second time."""
        code = pathlib.Path(self.dir, "p.c")
        code.write_text('#include <stdio.h>\nint main(void) { puts("ran"); return 127; }\n')
        subprocess.run([CC, "-o", os.path.join(self.dir, "p"), code], check=True)
        r = self.margay("run", "./p")
        self.check(r, 127, "ran\n")
        self.assertNotIn("error", r.err)

    def test_error_without_the_source(self):
        r = self.margay("run", FAKE, "error", "/gone/away.cu", "6")
        self.check(r, 3, "", """\
margay: error: scale(float*, int): global load of 4 bytes at 0x7f0000001000 is outside every allocation
  --> /gone/away.cu:9:6
  hint: the nearest allocation ends 4096 bytes before
""")

    def test_a_thousand_errors_are_not_a_thousand_messages(self):
        r = self.margay("run", FAKE, "many-errors")
        self.assertEqual(r.err.count("error:"), 10)
        self.assertIn("errors beyond the first 10, not shown: 990\n", r.err)

    # ---- terminals ----

    def on_terminal(self, *args, **env):
        """What arrives on standard error when that is a terminal."""
        master, slave = pty.openpty()
        process = subprocess.Popen([MARGAY, *args], cwd=self.dir, env=self.environment(TERM="xterm", **env),
                                   stdout=subprocess.PIPE, stderr=slave)
        os.close(slave)
        text = b""
        while select.select([master], [], [], 20)[0]:
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            if not piece:
                break
            text += piece
        os.close(master)
        process.stdout.close()
        self.assertEqual(process.wait(timeout=20), 0)
        return text.decode()

    def test_colour_on_a_terminal_only(self):
        plain = PROFILE.replace("\n", "\r\n")
        coloured = self.on_terminal("profile", FAKE, "launches", self.source)
        self.assertIn("\x1b[1mKernels\x1b[0m", coloured)
        self.assertEqual(re.sub("\x1b\\[[0-9]*m", "", coloured), plain)
        self.assertEqual(self.on_terminal("profile", FAKE, "launches", self.source, NO_COLOR="1"), plain)

    def test_progress_on_a_terminal_only(self):
        text = self.on_terminal("run", FAKE, "progress", NO_COLOR="1", CI="")
        self.assertNotIn(" 0 of ", text)  # in its first second a launch may yet be a short one
        self.assertIn("\r\x1b[Klaunch 1: 1,000 of 4,000 blocks (25 %), 17 s left, of scale(float*, int)", text)
        self.assertIn("\r\x1b[Klaunch 1: 2,000 of 4,000 blocks (50 %), 11 s left, of scale(float*, int)", text)
        self.assertTrue(text.endswith("\r\x1b[Kmargay: no kernel was launched\r\n"), repr(text))
        none = "margay: no kernel was launched\n"
        self.assertEqual(self.margay("run", FAKE, "progress").err, none)
        for extra in ({"CI": "true"}, {"options": ["--no-progress"]}):
            options = extra.pop("options", [])
            text = self.on_terminal("run", *options, FAKE, "progress", NO_COLOR="1", **{"CI": "", **extra})
            self.assertEqual(text, none.replace("\n", "\r\n"))
        self.assertEqual(self.margay("run", "--progress", FAKE, "progress").err,
                         "margay: launch 1: 1,000 of 4,000 blocks (25 %), 17 s left, of scale(float*, int)\n" + none)

    # ---- .cu files: a stand-in for nvcc, so that the test needs no CUDA toolkit ----

    def fake_nvcc(self, status=0):
        path = os.path.join(self.dir, "nvcc")
        pathlib.Path(path).write_text(f"""#!/bin/sh
for word; do printf '<%s>' "$word"; done >{self.dir}/words
echo a line on standard output; echo a warning >&2
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\\necho "ran $@"; exit 6\\n' >"$2"; chmod +x "$2"
exit {status}
""")
        os.chmod(path, 0o755)
        return path

    def test_cu_file_is_compiled_and_cleaned_up(self):
        r = self.margay("profile", "--nvcc-args", "-O3 -D'A B'=\"1 2\" x\\ y", "--device", "8.6", "src.cu", "a b",
                        NVCC=self.fake_nvcc())
        self.check(r, 6, "ran a b\n")
        words = pathlib.Path(self.dir, "words").read_text()
        self.assertRegex(words, rf"^<-lineinfo><-arch=sm_86><-O3><-DA B=1 2><x y><-o><{self.dir}/margay-\w+/src><src.cu>$")
        self.assertIn("a warning\n", r.err)
        self.assertIn("a line on standard output\n", r.err)
        self.assertEqual([n for n in os.listdir(self.dir) if n.startswith("margay-")], [])

    def test_toolkit_of_the_nvcc_in_the_path(self):
        """Ours stands before it, and what looks for the folder above would find Margay's."""
        for folder in ("kit/bin", "kit/include", "links"):
            os.makedirs(os.path.join(self.dir, folder))
        os.rename(self.fake_nvcc(), os.path.join(self.dir, "kit/bin/nvcc"))
        os.symlink("../kit/bin/nvcc", os.path.join(self.dir, "links/nvcc"))
        kit = os.path.realpath(os.path.join(self.dir, "kit"))

        def home(folder, **env):
            env = {"CUDA_HOME": "", "CUDA_PATH": "", **env, "PATH": f"{self.dir}/{folder}:/usr/bin:/bin"}
            return [line for line in self.margay("env", "--lines", **env).out.splitlines() if line.startswith("CUDA_HOME=")]
        self.assertEqual(home("kit/bin"), ["CUDA_HOME="])  # without headers it is none
        pathlib.Path(self.dir, "kit/include/cuda_runtime.h").touch()
        self.assertEqual([os.path.realpath(line[10:]) for line in home("kit/bin")], [kit])
        self.assertEqual(home("links"), [f"CUDA_HOME={kit}"])
        self.assertEqual(home("links", CUDA_HOME="/own"), ["CUDA_HOME=/own"])
        self.assertEqual(home("links", CUDA_PATH="/own"), ["CUDA_HOME="])

    def test_nvcc_is_found_in_cuda_home(self):
        os.mkdir(os.path.join(self.dir, "bin"))
        os.rename(self.fake_nvcc(), os.path.join(self.dir, "bin", "nvcc"))
        self.check(self.margay("run", "src.cu", CUDA_HOME=self.dir, PATH="/usr/bin:/bin"), 6, "ran \n")

    def test_compilation_fails(self):
        r = self.margay("profile", "--json", "r.json", "src.cu", NVCC=self.fake_nvcc(status=1))
        self.check(r, 2, "")
        self.assertTrue(r.err.endswith(f"margay: error: {self.dir}/nvcc could not compile src.cu\n"), r.err)
        self.assertEqual([n for n in os.listdir(self.dir) if n.startswith(("margay-", "r.json"))], [])

    def test_bad_quotes(self):
        r = self.margay("profile", "--nvcc-args", "-D'x", "src.cu", NVCC=self.fake_nvcc())
        self.check(r, 2, "", "margay: error: --nvcc-args: a quote is not closed, or there are too many words\n")


if __name__ == "__main__":
    main()
