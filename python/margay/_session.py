"""_session.py - the simulated GPU of this process: switched on once, looked at from one point of time to another.

Libraries like Numba, cuda-python or CuPy load libcuda.so.1 or libcudart.so by name. The system's loader takes a library of that
name that is in the process already, so ours are loaded first; from then on every CUDA call of the process is the simulator's. It
writes a record for each launch into a file (MARGAY_REPORT), and a window is what came into that file between its beginning and end.
Nothing is loaded before it is asked for: on a machine with a GPU, a program that does not ask runs on it.
"""
import atexit
import ctypes
import os
import sys
import tempfile

from . import _files
from ._report import Report

_windows = []  # the reports of those that are open: what embedded kernels do is added to them


class _Process:
    settings = None  # of the environment, once it is switched on
    report = None
    libraries = ()


def _foreign():
    """A CUDA library of somebody else's that is in the process."""
    own = os.path.realpath(_files.native() / "lib")
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            path = line.rstrip("\n").partition("/")[2]
            if path.rpartition("/")[2].startswith(("libcuda.so", "libcudart.so", "libnvJitLink.so")) and not os.path.realpath("/" + path).startswith(own):
                return "/" + path
    return None


def start(mode="both", *, device=None, board=None, advise=False, kernel=None, threads=None, timeout=None, engine=None):
    """Switches the simulated GPU of this process on. profile() and check() do so by themselves; call it first to choose.

    mode: "profile" counts, "check" looks for mistakes, "both" does both. device: a compute capability, as 8.6; board: one of its
    boards, by its whole name. advise: collect advice, too (slower). kernel: a regular expression; report only kernels that match.
    threads: host threads that run blocks. timeout: seconds that a launch may take. engine: jit, quick or interp.
    """
    if mode not in ("profile", "check", "both"):
        raise ValueError(f"mode {mode!r}: 'profile', 'check' or 'both' is needed")
    settings = {"MARGAY_MODE": mode, "MARGAY_DEVICE": round(float(device) * 10) if device else None, "MARGAY_BOARD": board,
                "MARGAY_ADVISE": 1 if advise else None, "MARGAY_KERNEL": kernel, "MARGAY_THREADS": threads, "MARGAY_TIMEOUT": timeout,
                "MARGAY_ENGINE": engine}
    settings = {name: str(value) for name, value in settings.items() if value is not None}
    if _Process.settings is not None:
        if settings != _Process.settings:
            raise RuntimeError(f"the simulated GPU of this process is on already, with {_Process.settings}: a process has one")
        return
    if os.environ.get("MARGAY_REPORT"):
        raise RuntimeError("this process runs under the command margay, which has its report")
    foreign = _foreign() or ("cupy" if "cupy_backends.cuda.api.runtime" in sys.modules else None)  # it has a runtime inside
    if foreign:
        raise RuntimeError(f"{foreign} is loaded already: call margay.start() before anything uses CUDA")
    handle, path = tempfile.mkstemp(prefix="margay-", suffix=".report")
    os.close(handle)
    before = dict(os.environ)
    os.environ.update(settings, MARGAY_REPORT=path)
    for name, value in _packages():
        os.environ.setdefault(name, value)
    # Modules with a runtime inside, as CuPy's, ask for a name of the first library when they start (src/cudart/redirect.c).
    try:
        libraries = [ctypes.CDLL(os.fspath(library), ctypes.RTLD_GLOBAL if library.name.startswith("libmargay_cuda") else ctypes.RTLD_LOCAL)
                     for library in _files.runtimes()]
    except OSError:  # it is off, as it was
        os.unlink(path)
        for name in set(os.environ) - set(before):
            del os.environ[name]
        os.environ.update(before)
        raise
    _Process.settings, _Process.report, _Process.libraries = settings, open(path, "rb"), libraries
    atexit.register(_remove, path, os.getpid())


def _packages():
    """What packages have settings for, so that they use what can be run: as the command does (src/cli/session.c)."""
    cache = os.environ.get("MARGAY_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "margay")
    yield ("CUPY_CACHE_IN_MEMORY", "1") if cache == "off" else ("CUPY_CACHE_DIR", os.path.join(cache, "cupy"))
    yield ("TILELANG_DISABLE_CACHE", "1") if cache == "off" else ("TILELANG_CACHE_DIR", os.path.join(cache, "tilelang"))
    yield "CUPY_ACCELERATORS", ""
    yield "TILELANG_EXECUTION_BACKEND", "nvrtc"


def _remove(path, pid):
    if os.getpid() == pid and os.path.exists(path):  # a child that was forked is not the last to need it
        os.unlink(path)


def _length():
    return os.fstat(_Process.report.fileno()).st_size


def _read(begin):
    """All from there on. Where a file is read is shared with other threads, and with processes that were forked."""
    pieces = []
    while piece := os.pread(_Process.report.fileno(), 1 << 20, begin):
        pieces.append(piece)
        begin += len(piece)
    return b"".join(pieces)


def _finish():
    """Waits for what is still under way, if anything ran."""
    if _length():
        for library in _Process.libraries:
            if "libcudart.so.13" in library._name:
                library.cudaDeviceSynchronize()


class _Window:
    def __enter__(self):
        start() if _Process.settings is None else None
        _finish()
        self.begin = _length()
        self.report = Report()
        _windows.append(self.report)
        return self.report

    def __exit__(self, *_):
        _finish()
        _windows[:] = [w for w in _windows if w is not self.report]  # another may hold the same
        stream = _read(self.begin)
        self.report.read(stream[:stream.rfind(b"\n") + 1])
        return False


def _run(fn, args, kwargs):
    window = _Window()
    if fn is None:
        return window
    with window as report:
        report.value = fn(*args, **kwargs)
    return report


def profile(fn=None, /, *args, **kwargs):
    """A report of what fn(*args, **kwargs) launches; without fn a context manager, whose report is whole at its end.

        report = margay.profile(add, x, y)
        with margay.profile() as report:
            add[blocks, threads](x, y)
    """
    return _run(fn, args, kwargs)


def check(fn=None, /, *args, **kwargs):
    """The same, for the findings in it."""
    start() if _Process.settings is None else None
    if _Process.settings["MARGAY_MODE"] == "profile":
        raise RuntimeError("the simulated GPU of this process was started to profile alone: margay.start() does both")
    return _run(fn, args, kwargs)
