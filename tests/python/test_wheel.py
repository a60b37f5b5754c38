#!/usr/bin/env python3
"""test_wheel.py - the wheel, installed into an empty environment, as a user has it: no toolkit, no compiler, no source tree.

    test_wheel.py empty|packages|numba|cupy BUILD_FOLDER

empty: nothing but the wheel. packages: with numpy, pandas and pytest from PyPI. numba, cupy: kernels of these, profiled and checked.
Exits with 77 and a message where PyPI is out of reach.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

TREE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[2]).resolve()
PACKAGES = {"empty": [], "packages": ["numpy==2.2.6", "pandas==2.3.3", "pytest==8.4.2"],
            "numba": ["numba==0.68.1", "numba-cuda[cu13]==0.30.4", "cuda-core==1.2.2", "cuda-bindings==13.5.0",
                      "numpy==2.4.6"],
            "cupy": ["cupy-cuda13x==14.2.0", "nvidia-cuda-nvrtc==13.0.88", "nvidia-cuda-runtime==13.0.96", "nvidia-cuda-crt==13.0.88",
                     "numpy==2.2.6"]}
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}


def run(folder, *words, status=0):
    done = subprocess.run([folder / "env/bin" / words[0], *words[1:]], cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    assert done.returncode == status, f"{words}: {done.returncode}\n{done.stdout}"
    return done.stdout


def python(folder, text):
    return run(folder, "python", "-c", textwrap.dedent(text))


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def install(folder, packages):
    done = subprocess.run([sys.executable, TREE / "tools/wheel.py", BUILD, folder / "dist"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    wheel = pathlib.Path(done.stdout.strip())
    subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
    run(folder, "pip", "install", "--quiet", "--no-index", str(wheel))
    if packages:
        done = subprocess.run([folder / "env/bin/pip", "install", "--quiet", *packages], capture_output=True, text=True)
        if done.returncode:
            skip(f"pip could not install {' '.join(packages)}: {done.stderr.strip().splitlines()[-1]}")
    return wheel


def newest_glibc(wheel, folder):
    """What the binaries ask for, as readelf has it."""
    shutil.unpack_archive(wheel, folder / "open", "zip")
    asked = set()
    for path in (folder / "open").rglob("*"):
        if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
            said = subprocess.run(["readelf", "-V", "-W", path], capture_output=True, text=True, check=True).stdout
            asked |= {tuple(map(int, v.split("."))) for v in re.findall(r"Name: GLIBC_([0-9.]+)", said)}
    return max(asked)


def empty(folder, wheel):
    # The tag promises no older system than the binaries run on.
    assert wheel.name.startswith("margay-") and "-py3-none-" in wheel.name, wheel.name
    tag = re.search(r"manylinux_(\d+)_(\d+)_x86_64", wheel.name)
    if tag:
        assert newest_glibc(wheel, folder) <= (int(tag[1]), int(tag[2])) <= (2, 28), wheel.name
    else:
        print("no auditwheel was to be had: the wheel is", wheel.name)
    assert re.match(r"margay \d+\.\d+\.\d+\n$", run(folder, "margay", "--version"))
    assert "H100" in run(folder, "margay", "limits", "--cc", "9.0")
    (folder / "add.ptx").write_text("""\
.version 8.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 x, .param .u32 n)
{
    .reg .b32 %r<4>; .reg .b64 %d<3>; .reg .pred %p;
    mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r0, %r0, %r1, %r2;
    ld.param.u32 %r3, [n]; setp.ge.u32 %p, %r0, %r3; @%p ret;
    ld.param.u64 %d0, [x]; mul.wide.u32 %d1, %r0, 4; add.u64 %d0, %d0, %d1; ld.global.u32 %r1, [%d0]; add.u32 %r1, %r1, %r0;
    st.global.u32 [%d0], %r1; ret;
}
""")
    said = python(folder, """\
        import array, margay, os
        x = array.array("i", [1] * 1000)
        report = margay.kernel("add.ptx").run(4, 256, x, 1000)
        assert list(x) == [1 + i for i in range(1000)]
        print(report.sectors, report.efficiency, report.findings, os.access(margay.command(), os.X_OK))
        margay.start()
        print(len(margay.profile(lambda: None).launches))
        open("broken.cu", "w").write("__global__ void f( {}")
        try:
            margay.kernel("broken.cu")
        except margay.Error as error:  # there is no nvcc, or one where toolkits are
            print(str(error).startswith(("broken.cu: no nvcc was found", "nvcc could not compile broken.cu")))
        """)
    assert said == "250 1.0 [] True\n0\nTrue\n", said
    # Kernels are compiled where the wheel has the generator: the same, and it says so.
    if list((folder / "env").rglob("libmargay_jit.so")):
        said = python(folder, """\
            import array, os
            os.environ.update(MARGAY_ENGINE="jit", MARGAY_VERBOSE="1")
            import margay
            x = array.array("i", [1] * 1000)
            assert margay.kernel("add.ptx").run(4, 256, x, 1000).sectors == 250
            assert list(x) == [1 + i for i in range(1000)]
            """)
        assert re.search("add: compiled", said), said
    run(folder, "pip", "uninstall", "--quiet", "--yes", "margay")
    assert not list((folder / "env").rglob("*margay*")), "something is left"


def packages(folder, wheel):
    (folder / "test_kernels.py").write_text(textwrap.dedent('''\
        import margay
        import numpy as np
        import pytest

        PTX = """.version 8.0
        .target sm_70
        .address_size 64
        .visible .entry strided(.param .u64 x, .param .u32 by)
        {
            .reg .b32 %r<4>; .reg .b64 %d<3>;
            mov.u32 %r0, %tid.x; ld.param.u32 %r1, [by]; mul.lo.u32 %r2, %r0, %r1;
            ld.param.u64 %d0, [x]; mul.wide.u32 %d1, %r2, 4; add.u64 %d0, %d0, %d1; st.global.u32 [%d0], %r0; ret;
        }
        """

        @pytest.fixture
        def x():
            return np.zeros((64, 8), np.int32)

        @pytest.mark.parametrize("by", [1, 8])
        @margay.expect(conflicts=0, efficiency=">=0.9")
        def test_strided(x, by):  # 8 words apart are 32 sectors, where 4 would do
            margay.kernel(PTX).run(1, 64, x, np.uint32(by))
            assert (x.ravel()[: 64 * by : by] == np.arange(64)).all()
        '''))
    said = run(folder, "pytest", "-q", "-p", "no:cacheprovider", status=1)
    assert "1 failed, 1 passed" in said and "strided: efficiency is 0.125, and >= 0.9 is expected" in said, said
    assert python(folder, """\
        import margay, numpy as np
        from test_kernels import PTX
        x = np.zeros(512, np.int64).view(np.int32)
        report = margay.kernel(PTX).run(1, 64, x, 8)
        frame = report.frame()
        print(list(frame.kernel), list(frame.sectors), list(frame.efficiency), len(report.frame("lines")), len(report.frame("findings")))
        try:
            margay.kernel(PTX).run(1, 64, np.zeros((64, 16), np.int32)[:, ::2], 8)
        except margay.Error as error:
            print("ascontiguousarray" in str(error))
        """) == "['strided'] [64] [0.125] 1 0\nTrue\n"


def numba(folder, wheel):
    (folder / "kernels.py").write_text(textwrap.dedent('''\
        import margay
        margay.start()
        import numpy as np, warnings
        warnings.simplefilter("ignore")
        from numba import cuda, float32

        @cuda.jit(lineinfo=True)
        def add(x, y, out):
            i = cuda.grid(1)
            if i < x.size:
                out[i] = x[i] + y[i]

        @cuda.jit(lineinfo=True)
        def reverse(out):
            tile = cuda.shared.array(64, float32)
            t = cuda.threadIdx.x
            tile[t] = t
            out[t] = tile[63 - t]

        x, out = np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32)
        report = margay.profile(lambda: add[4, 256](x, x, out))
        assert (out == 2 * x).all()
        print(len(report.launches), report.sectors, report.efficiency, report.findings, any(l.line == 11 for l in report.lines))
        with margay.check() as report:
            reverse[1, 64](out)
        print([(f.check, f.file.endswith("kernels.py"), f.line) for f in report.findings if f.check == "race"])
        '''))
    done = subprocess.run([folder / "env/bin/python", "kernels.py"], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == "1 375 1.0 [] True\n[('race', True, 18)]\n", done.stdout


def cupy(folder, wheel):
    (folder / "kernels.py").write_text(textwrap.dedent('''\
        import margay
        margay.start()
        import cupy
        turned = cupy.RawKernel("""
        extern "C" __global__ void turned(float *x)
        {
            __shared__ float row[256];
            row[threadIdx.x] = x[threadIdx.x];
            x[threadIdx.x] = row[255 - threadIdx.x];
        }""", "turned", options=("--generate-line-info",))
        x = cupy.arange(256, dtype=cupy.float32)
        with margay.profile() as report:
            total = float((x * 2).sum())
        print(total, [(launch.kernel.split("__")[0], launch.efficiency) for launch in report.launches])
        report = margay.check(turned, (1,), (256,), (x,))
        print([(f.check, f.line) for f in report.findings], any(l.line == 5 and l.sectors == 32 for l in report.lines))
        '''))
    done = subprocess.run([folder / "env/bin/python", "kernels.py"], cwd=folder, env={**ENVIRONMENT, "CUPY_CACHE_DIR": str(folder / "kept")},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == "65280.0 [('cupy_multiply', 1.0), ('cupy_sum', 1.0)]\n[('race', 6)] True\n", done.stdout


def main():
    what = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="margay-wheel-") as folder:
        folder = pathlib.Path(folder)
        wheel = install(folder, PACKAGES[what])
        {"empty": empty, "packages": packages, "numba": numba, "cupy": cupy}[what](folder, wheel)


if __name__ == "__main__":
    main()
