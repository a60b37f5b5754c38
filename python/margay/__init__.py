"""margay - CUDA kernels without a GPU: run, profile and check them from Python.

    report = margay.kernel("saxpy.cu", "saxpy").run(grid, block, n, 2.0, x, y)     # a kernel alone, on numpy arrays
    report = margay.profile(function)                                              # whatever the function launches
    with margay.check() as report: ...                                             # with Numba, CuPy, cuda-python, ctypes
    @margay.expect(conflicts=0, efficiency=">=0.9")                                # for a test

A report has `launches`, `lines`, `findings` and `errors` as plain records, and frame() makes pandas tables of them.
"""
from ._expect import expect, verify
from ._files import command
from ._kernel import Error, Kernel, kernel
from ._report import Finding, Launch, Line, Report
from ._session import check, profile, start

__version__ = "0.1.0"
__all__ = ["Error", "Finding", "Kernel", "Launch", "Line", "Report", "check", "command", "expect", "kernel", "profile", "start", "verify"]
