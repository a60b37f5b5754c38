#!/usr/bin/env python3
"""test_module.py - the Python module, from the source tree, with the standard library alone.

A process has one simulated GPU, so that what concerns it runs in processes of its own. Numbers are worked out by hand beside the kernels.

    test_module.py PYTHON_FOLDER BUILD_FOLDER [NVCC] [unittest arguments]
"""
import array
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

FOLDER, BUILD = map(os.path.abspath, sys.argv[1:3])
NVCC = sys.argv[3] if len(sys.argv) > 3 and os.access(sys.argv[3], os.X_OK) else None
os.environ["MARGAY_BUILD"] = BUILD
if NVCC:
    os.environ["NVCC"] = NVCC
sys.path.insert(0, FOLDER)
import margay  # noqa: E402

# y[i] = a * x[i] + y[i]; 1000 floats are 125 sectors, read twice and written once: 375.
SAXPY = """\
.version 8.0
.target sm_70
.address_size 64
.visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 .ptr .global .align 4 x, .param .u64 y)
{
    .reg .b32 %r<5>; .reg .b64 %d<5>; .reg .f32 %f<4>; .reg .pred %p;
    mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r0, %r0, %r1, %r2;
    ld.param.u32 %r3, [n]; setp.ge.u32 %p, %r0, %r3; @%p ret;
    ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y]; mul.wide.u32 %d2, %r0, 4; add.u64 %d0, %d0, %d2; add.u64 %d1, %d1, %d2;
    ld.param.f32 %f0, [a]; ld.global.f32 %f1, [%d0]; ld.global.f32 %f2, [%d1]; fma.rn.f32 %f2, %f0, %f1, %f2;
    st.global.f32 [%d1], %f2; ret;
}
// .entry in_a_comment(.param .u32 n)
.visible .entry sizes(.param .u64 out, .param .u8 a, .param .s16 b, .param .f64 c, .param .align 8 .b8 d[16])
{
    .reg .b64 %d<3>; .reg .b32 %r<3>; .reg .f64 %f; .reg .b16 %h<2>;
    ld.param.u64 %d0, [out]; ld.param.u8 %h0, [a]; ld.param.s16 %h1, [b]; cvt.u32.u16 %r0, %h0; cvt.s32.s16 %r1, %h1;
    ld.param.f64 %f, [c]; ld.param.u64 %d1, [d+8];
    st.global.u32 [%d0], %r0; st.global.u32 [%d0+4], %r1; st.global.f64 [%d0+8], %f; st.global.u64 [%d0+16], %d1; ret;
}
"""
# columns: 1024 lanes write rows (32 wavefronts) and read columns of 32 words (1024): 992 more than the ideal 64. Half of what the
# host should have written is not.
COLUMNS = """\
__global__ void columns(float *out, const float *in)
{
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    BARRIER
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
namespace other { __global__ void columns_of(int *p) { *p = 1; } __global__ void of(int *p) { *p = 2; } }
extern "C" int go(float *host)
{
    float *in, *out;
    cudaMalloc(&in, 4096);
    cudaMalloc(&out, 4096);
    cudaMemcpy(in, host, 4096, cudaMemcpyHostToDevice);
    columns<<<1, dim3(32, 32)>>>(out, in);
    cudaMemcpy(host, out, 4096, cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    return 0;
}
"""


def floats(values):
    return array.array("f", values)


class Alone(unittest.TestCase):
    """margay.kernel(): no nvcc is needed for PTX."""

    def test_saxpy(self):
        saxpy = margay.kernel(SAXPY, "saxpy")
        x, y = floats(range(1000)), floats([1] * 1000)
        for rounds in (1, 2):
            report = saxpy.run(4, 256, 1000, 2.0, x, y)
            self.assertEqual(y, floats(1 + 2.0 * rounds * i for i in range(1000)))
        (launch,) = report.launches
        self.assertEqual((launch.kernel, launch.grid, launch.block, launch.status), ("saxpy", (4, 1, 1), (256, 1, 1), "MG_OK"))
        self.assertEqual((launch.sectors, launch.efficiency, launch.conflicts, launch.wavefronts), (375, 1.0, 0, 0))
        self.assertEqual((report.sectors, report.efficiency, report.findings, report.errors), (375, 1.0, [], []))
        self.assertEqual(report.metrics["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"], 64)  # 32 warps, 2 loads each
        self.assertIsNone(margay.kernel(SAXPY, "sizes", check=False).parameters and margay.Report().efficiency)

    def test_files_and_devices(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "k.ptx")
            path.write_text(SAXPY)
            y = floats([0] * 64)
            margay.kernel(path, "saxpy", device=7.5, threads=1).run(1, 64, 64, 1, floats([3] * 64), y)
            self.assertEqual(y, floats([3] * 64))

    def test_parameters(self):
        out = array.array("i", [0] * 6)
        margay.kernel(SAXPY, "sizes").run(1, 1, out, 255, -3, 0.5, bytes(8) + (7).to_bytes(8, "little"))
        self.assertEqual((out[0], out[1], out.tobytes()[8:16], out[4]), (255, -3, array.array("d", [0.5]).tobytes(), 7))
        sizes = margay.kernel(SAXPY, "sizes")
        for args, words in (((out, 1, 2, 3.0), "5 parameters, and 4"), ((out, 1, 2, 3.0, b"short"), "16 bytes was given 5")):
            with self.assertRaisesRegex(margay.Error, words):
                sizes.run(1, 1, *args)

    def test_numbers_that_a_parameter_cannot_hold(self):
        """They were cut to what fits, without a word."""
        saxpy, x = margay.kernel(SAXPY, "saxpy"), floats([0] * 4)
        for n in (1 << 32, -(1 << 31) - 1, 2.5):
            with self.assertRaisesRegex(margay.Error, r"type \.u32 was given .*, which is no whole number of 32 bits"):
                saxpy.run(1, 4, n, 1.0, x, x)
        for n in (4.0, (1 << 32) - 1, -1):
            saxpy.run(1, 4, n, 1.0, x, x)

    def test_what_may_not_be_written_is_read(self):
        y = floats([0] * 4)
        margay.kernel(SAXPY, "saxpy").run(1, 4, 4, 1.0, bytes(floats([1, 2, 3, 4])), y)
        self.assertEqual(y, floats([1, 2, 3, 4]))
        with self.assertRaisesRegex(margay.Error, "contiguous"):
            margay.kernel(SAXPY, "saxpy").run(1, 4, 4, 1.0, memoryview(y)[::2], y)

    def test_errors_say_what_to_do(self):
        saxpy = margay.kernel(SAXPY, "saxpy")
        x = floats([0] * 1000)
        with self.assertRaisesRegex(margay.Error, r"past the end of an allocation of 4000 bytes.*Check the index"):
            saxpy.run(5, 256, 1100, 1.0, x, x)
        with self.assertRaisesRegex(margay.Error, "a kernel's name is needed; it has saxpy, sizes"):
            margay.kernel(SAXPY)
        with self.assertRaisesRegex(margay.Error, "there is no kernel nosuch"):
            margay.kernel(SAXPY, "nosuch")
        with self.assertRaisesRegex(margay.Error, "compute capability 1.0"):
            margay.kernel(SAXPY, "saxpy", device=1.0)
        with self.assertRaisesRegex(margay.Error, "block"):
            saxpy.run(1, 4096, 1, 1.0, x, x)
        with self.assertRaises(FileNotFoundError):
            margay.kernel("none.ptx")
        with self.assertRaisesRegex(margay.Error, "unknown instruction 'nonsense', at <ptx>:4"):
            margay.kernel(".version 8.0\n.target sm_70\n.address_size 64\n.entry x() { nonsense; }\n", "x")

    def test_budgets(self):
        x = floats([0] * 1000)
        report = margay.kernel(SAXPY, "saxpy").run(4, 256, 1000, 1.0, x, x)
        margay.verify(report, conflicts=0, efficiency=">=90%", sectors=375, instructions="> 1", kernel="sax")
        for budgets, words in (({"sectors": 374}, "saxpy: sectors is 375, and <= 374 is expected"), ({"kernel": "y2"}, "no launch of"),
                               ({"smsp__inst_executed.sum": "<1"}, "smsp__inst_executed.sum is ")):
            with self.assertRaisesRegex(AssertionError, words):
                margay.verify(report, **budgets)
        for budgets, words in (({"speed": 1}, "no such counter"), ({"sectors": "many"}, "a number")):
            with self.assertRaisesRegex(ValueError, words):
                margay.verify(report, **budgets)
        with self.assertRaises(ValueError):
            margay.expect(sectors="many")

    @unittest.skipUnless(NVCC, "no nvcc")
    def test_a_cu_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "c.cu")
            path.write_text(COLUMNS.replace("BARRIER", ""))
            with self.assertRaisesRegex(margay.Error, "there is no kernel column;"):
                margay.kernel(path, "column")
            one = array.array("i", [0])
            margay.kernel(path, "of").run(1, 1, one)
            self.assertEqual(one[0], 2)
            columns = margay.kernel(path, "columns")
            out, given = floats([0] * 1024), floats(range(1024))
            report = columns.run(1, (32, 32), out, given)
            self.assertEqual(report.conflicts, 992)
            worst = report.lines[0]
            self.assertEqual((worst.file, worst.line, worst.conflicts), (str(path), 6, 992))
            race = [f for f in report.findings if f.check == "race"]
            self.assertEqual([(f.severity, f.line, f.other_line) for f in race], [("error", 6, 4)])
            self.assertIn("__syncthreads() between line 4 and line 6", str(race[0]))
            with self.assertRaisesRegex(AssertionError, "race/"):
                margay.verify(report)
            margay.verify(report, findings=None, conflicts=992)
            with self.assertRaisesRegex(AssertionError, rf"conflicts is 992, and <= 0 is expected, most of it at {path}:6"):
                margay.verify(report, findings=None, conflicts=0)
            path.write_text("__global__ void broken( {}\n")
            with self.assertRaisesRegex(margay.Error, r"(?s)nvcc could not compile.*c\.cu"):
                margay.kernel(path)


class Process(unittest.TestCase):
    """The simulated GPU of a process, with a library over the CUDA runtime as its client."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="margay-python-")
        cls.path = pathlib.Path(cls.folder.name)
        if NVCC:
            for name, barrier in (("right", "__syncthreads();"), ("race", "")):
                (cls.path / f"{name}.cu").write_text(COLUMNS.replace("BARRIER", barrier))
                subprocess.run([NVCC, "-shared", "-Xcompiler", "-fPIC", "-cudart", "shared", "-lineinfo", "-arch=sm_90", "-o",
                                f"lib{name}.so", f"{name}.cu"], cwd=cls.path, check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def python(self, text, command=(), **env):
        """What a program prints in a process of its own."""
        head = """\
            import array, ctypes, sys
            import margay
            def go(name):
                host = array.array("f", range(1024))
                ctypes.CDLL(f"./lib{name}.so").go(ctypes.c_void_p(host.buffer_info()[0]))
                return list(host)
            def ours():
                return [line for line in open("/proc/self/maps") if "libcud" in line or "libmargay" in line]
            """
        done = subprocess.run([*command, sys.executable, "-c", textwrap.dedent(head) + textwrap.dedent(text)], cwd=self.path,
                              env={**os.environ, "PYTHONPATH": FOLDER, **env}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    @unittest.skipUnless(NVCC, "no nvcc")
    def test_profile_and_check(self):
        self.assertEqual(self.python("""\
            report = margay.profile(go, "right")
            assert report.value == [float(c * 32 + r) for r in range(32) for c in range(32)]
            print(len(report.launches), report.conflicts, report.findings, report.errors, report.lines[0].line)
            with margay.check() as second:
                go("race")
                assert not second.launches  # it is complete at the end
            print(len(second.launches), second.conflicts, [(f.check, f.line, f.other_line) for f in second.findings if f.line])
            print(len(margay.profile(lambda: None).launches), report.launches[0].kernel)
            """), "1 992 [] [] 6\n1 992 [('race', 6, 4)]\n0 columns(float*, float const*)\n")

    def test_windows_in_windows(self):
        """Two that hold the same are two all the same."""
        self.assertEqual(self.python("""\
            kernel = margay.kernel(".version 7.0\\n.target sm_70\\n.address_size 64\\n.visible .entry k() { ret; }\\n")
            with margay.profile() as outer:
                with margay.profile() as inner:
                    pass
                kernel.run(1, 32)
            print(len(outer.launches), len(inner.launches))
            """), "1 0\n")

    def test_a_start_that_fails_is_none(self):
        self.assertEqual(self.python("""\
            import os, pathlib
            from margay import _files
            ours, _files.runtimes = _files.runtimes, lambda: [pathlib.Path("/nosuch/libcudart.so.13")]
            try:
                margay.start("profile")
            except OSError:
                print("MARGAY_REPORT" in os.environ)
            _files.runtimes = ours
            margay.start("profile")
            print(len(margay.profile(lambda: None).launches))
            """), "False\n0\n")

    @unittest.skipUnless(NVCC, "no nvcc")
    def test_expect(self):
        self.assertEqual(self.python("""\
            @margay.expect(conflicts=992, efficiency=1)
            def right(name):
                "a test"
                go(name)
                return 7
            @margay.expect(conflicts=0, findings=None)
            def dear():
                go("right")
            @margay.expect()
            def idle():
                pass
            print(right("right"), right.__name__, right.__doc__)
            for wrong in (lambda: right("race"), dear, idle):
                try:
                    wrong()
                except AssertionError as error:
                    print(str(error).split(" at ")[0].split(": thread")[0])
            """), "7 right a test\nerror: race/write-read in columns(float*, float const*)\n"
                  "columns(float*, float const*): conflicts is 992, and <= 0 is expected, most of it\nno kernel was launched\n")

    @unittest.skipUnless(NVCC, "no nvcc")
    def test_choices(self):
        self.assertEqual(self.python("""\
            margay.start("profile", device=8.0, kernel="other")
            print(len(margay.profile(go, "race").launches))  # another kernel's were asked for
            for wrong in (lambda: margay.check(), lambda: margay.start(), lambda: margay.start("all")):
                try:
                    wrong()
                except (RuntimeError, ValueError) as error:
                    print(type(error).__name__, str(error).partition(",")[0].partition(":")[0])
            margay.start("profile", device=8.0, kernel="other")
            """), "0\nRuntimeError the simulated GPU of this process was started to profile alone\n"
                  "RuntimeError the simulated GPU of this process is on already\nValueError mode 'all'\n")

    def test_nothing_of_ours_before_it_is_asked_for(self):
        self.assertEqual(self.python("""\
            print(len(ours()))
            margay.start()
            print(len(ours()) > 0)
            """), "0\nTrue\n")

    def test_driver_by_both_of_its_names(self):
        self.assertEqual(self.python("""\
            margay.start()
            for name in ("libcuda.so", "libcuda.so.1"):
                print(ctypes.CDLL(name).cuInit(0))
            """), "0\n0\n")

    def test_another_driver_that_is_there_already(self):
        (self.path / "none.c").write_text("int none;\n")
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", "libcuda.so.1", "none.c"], cwd=self.path, check=True)
        self.assertEqual(self.python("""\
            ctypes.CDLL("./libcuda.so.1")
            try:
                margay.start()
            except RuntimeError as error:
                print(str(error).rpartition("/")[2])
            """), "libcuda.so.1 is loaded already: call margay.start() before anything uses CUDA\n")

    def test_under_the_command(self):
        said = self.python("""\
            try:
                margay.start()
            except RuntimeError as error:
                print(error)
            """, [f"{BUILD}/margay", "run", "--quiet"])
        self.assertEqual(said, "this process runs under the command margay, which has its report\n")

    @unittest.skipUnless(NVCC, "no nvcc")
    def test_no_file_is_left(self):
        (self.path / "tmp").mkdir(exist_ok=True)
        self.python("margay.profile(go, 'right')", TMPDIR=str(self.path / "tmp"))
        self.assertEqual(os.listdir(self.path / "tmp"), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
