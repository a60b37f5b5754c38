"""_kernel.py - a kernel alone, with no program around it: over libmargay (include/margay/margay.h).

A .cu file is compiled to PTX by nvcc, where there is one; PTX goes as it is. Arrays are numpy's, or anything with a writable buffer
of their own (array.array, memoryview): they are copied to device memory, and back when the kernel has ended. Numbers become what the
kernel's parameters are in PTX.
"""
import ctypes
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from . import _files, _session
from ._report import Report

_COUNT, _CHECK = 1, 2
_NUMBERS = {"u8": ctypes.c_uint8, "s8": ctypes.c_int8, "b8": ctypes.c_uint8, "u16": ctypes.c_uint16, "s16": ctypes.c_int16,
            "b16": ctypes.c_uint16, "u32": ctypes.c_uint32, "s32": ctypes.c_int32, "b32": ctypes.c_uint32, "u64": ctypes.c_uint64,
            "s64": ctypes.c_int64, "b64": ctypes.c_uint64, "f32": ctypes.c_float, "f64": ctypes.c_double}


class Error(RuntimeError):
    """A kernel that does not compile, is not found, or failed: what happened, where, and what to do."""


# ---- margay.h ----
class _Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32)]


class _Options(ctypes.Structure):
    _fields_ = [("device_cc", ctypes.c_uint), ("threads", ctypes.c_uint), ("timeout_ms", ctypes.c_uint), ("profile", ctypes.c_int)]


class _Diag(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("line", ctypes.c_uint), ("column", ctypes.c_uint), ("file", ctypes.c_char * 256),
                ("message", ctypes.c_char * 512), ("excerpt", ctypes.c_char * 160), ("hint", ctypes.c_char * 256),
                ("inlined_file", ctypes.c_char * 256), ("inlined_line", ctypes.c_uint)]


@functools.cache
def _library():
    library = ctypes.CDLL(os.fspath(_files.library()))
    library.mg_last_error.restype = ctypes.POINTER(_Diag)
    library.mg_last_error.argtypes = [ctypes.c_void_p]
    library.mg_status_name.restype = ctypes.c_char_p
    library.mg_context_destroy.restype = None
    library.mg_context_destroy.argtypes = [ctypes.c_void_p]
    library.mg_mem_alloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_uint64)]
    library.mg_mem_free.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
    library.mg_mem_write.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t]
    library.mg_launch.argtypes = [ctypes.c_void_p, ctypes.c_void_p, _Dim3, _Dim3, ctypes.c_uint32, ctypes.c_void_p]
    return library


class _Device:
    """One simulated device: a context of margay.h."""

    def __init__(self, cc, threads, timeout, check):
        self.library, self.context = _library(), ctypes.c_void_p()
        options = _Options(cc, threads or 0, round((timeout or 0) * 1000), _COUNT | (_CHECK if check else 0))
        status = self.library.mg_context_create(ctypes.byref(options), ctypes.byref(self.context))
        if status:
            raise Error(f"a device of compute capability {cc / 10}: {self.library.mg_status_name(status).decode()}")

    def __del__(self):
        if getattr(self, "context", None):
            self.library.mg_context_destroy(self.context)

    def ask(self, status):
        if not status:
            return
        diag = self.library.mg_last_error(self.context).contents
        words = [getattr(diag, name).decode(errors="replace") for name in ("message", "file", "hint")]
        raise Error(words[0] + (f", at {words[1]}:{diag.line}" if diag.line else "") + (f"; {words[2]}" if words[2] else ""))

    def report(self):
        text = ctypes.c_void_p()
        self.ask(self.library.mg_report_json(self.context, ctypes.byref(text)))
        report = Report.of(json.loads(ctypes.string_at(text.value)))
        _free(text)
        return report


def _free(pointer):
    libc = ctypes.CDLL(None)
    libc.free.argtypes = [ctypes.c_void_p]
    libc.free(pointer)


# ---- source to PTX ----
def _nvcc():
    """nvcc: $NVCC, PATH, $CUDA_HOME, the usual place, or NVIDIA's wheels beside this package."""
    home = os.environ.get("CUDA_HOME")
    wheels = [p for folder in sys.path if folder for p in sorted(pathlib.Path(folder).glob("nvidia/cu*/bin/nvcc"))]
    places = [os.environ.get("NVCC"), shutil.which("nvcc"), home and f"{home}/bin/nvcc", "/usr/local/cuda/bin/nvcc", *wheels]
    return next((os.fspath(p) for p in places if p and os.access(p, os.X_OK)), None)


def _compile(path, cc, options):
    open(path, "rb").close()  # whether it is there is said first
    nvcc = _nvcc()
    if not nvcc:
        raise Error(f"{path}: no nvcc was found (NVCC, PATH, CUDA_HOME, the wheel nvidia-cuda-nvcc); PTX needs none: a .ptx file")
    with tempfile.TemporaryDirectory(prefix="margay-") as folder:
        ptx = os.path.join(folder, "k.ptx")
        done = subprocess.run([nvcc, "-ptx", "-lineinfo", f"-arch=sm_{cc}", *options, "-o", ptx, os.fspath(path)], capture_output=True,
                              text=True)
        if done.returncode:
            raise Error(f"nvcc could not compile {path}:\n{done.stderr or done.stdout}")
        return pathlib.Path(ptx).read_text(encoding="utf-8")


def _entries(ptx):
    """The kernels of PTX text: by name, the types and sizes of their parameters."""
    plain = re.sub(r"/\*.*?\*/|//[^\n]*", " ", ptx, flags=re.S)
    entries = {}
    for name, body in re.findall(r"\.entry\s+([\w$%]+)\s*(?:\(([^)]*)\))?", plain):
        entries[name] = []
        for parameter in filter(None, map(str.strip, body.split(","))):
            kind = re.search(r"\.([usbf]\d+)\b", parameter)[1]
            count = re.search(r"\[(\d+)\]\s*$", parameter)
            entries[name].append((kind, int(count[1]) if count else None))
    return entries


def _find(entries, name, where):
    """The entry of that name as it is written in PTX or in C++: the last part of a mangled name."""
    if name is None and len(entries) == 1:
        return next(iter(entries))
    if name in entries:
        return name
    found = [e for e in entries if name and e.startswith("_Z") and re.search(rf"(?<!\d){len(name)}{re.escape(name)}(?![a-z_0-9]*\d*::)", e)]
    if len(found) != 1:
        what = f"several kernels are called {name}" if found else f"there is no kernel {name}" if name else "a kernel's name is needed"
        raise Error(f"{where}: {what}; it has {', '.join(found or entries) or 'none'}")
    return found[0]


# ---- arguments ----
def _buffer(value):
    """An array as bytes of its own that can be written; None: it is none."""
    if hasattr(value, "__array_interface__"):
        shape = value.__array_interface__
        if shape.get("strides") is not None:
            raise Error("an array must be contiguous: numpy.ascontiguousarray makes it so")
    try:
        view = memoryview(value)
    except TypeError:
        return None
    if not view.contiguous:
        raise Error("an array must be contiguous: numpy.ascontiguousarray makes it so")
    return view.cast("B") if view.nbytes else memoryview(b"")


def _number(kind, count, value):
    if count is not None:  # a structure, as its bytes
        raw = bytes(value)
        if len(raw) != count:
            raise Error(f"a parameter of {count} bytes was given {len(raw)}")
        return (ctypes.c_uint8 * count).from_buffer_copy(raw)
    number = _NUMBERS.get(kind)
    if number is None:
        raise Error(f"a parameter of type .{kind} cannot be passed")
    if kind[0] == "f":
        return number(float(value))
    whole, bits = int(value), 8 * _size(kind)  # what has a sign and what has none is not told apart in PTX
    if whole != value or not -1 << bits - 1 <= whole < 1 << bits:
        raise Error(f"a parameter of type .{kind} was given {value!r}, which is no whole number of {bits} bits")
    return number(whole)


def _dim(value):
    sizes = (value,) if isinstance(value, int) else tuple(value)
    return _Dim3(*(int(n) for n in sizes + (1,) * (3 - len(sizes))))


class Kernel:
    """A kernel; see kernel()."""

    def __init__(self, ptx, name, where, device):
        entries = _entries(ptx)
        self.name, self.device = _find(entries, name, where), device
        self.parameters = entries[self.name]
        text, module, self._handle = ptx.encode(), ctypes.c_void_p(), ctypes.c_void_p()
        device.ask(device.library.mg_module_load(device.context, text, ctypes.c_size_t(len(text)), ctypes.byref(module)))
        device.ask(device.library.mg_kernel_find(module, self.name.encode(), ctypes.byref(self._handle)))

    def run(self, grid, block, *args, shared=0):
        """Runs it to its end; arrays hold what it wrote. Returns the report of the launch.

        grid, block: a number or a tuple. shared: bytes of dynamic shared memory. An array that cannot be written is not copied back.
        """
        if len(args) != len(self.parameters):
            raise Error(f"{self.name} has {len(self.parameters)} parameters, and {len(args)} arguments were given")
        device, library, held, arrays = self.device, self.device.library, [], []
        try:
            for (kind, count), value in zip(self.parameters, args):
                view = _buffer(value) if count is None else None
                if view is not None and _size(kind) == 8:
                    address = ctypes.c_uint64()
                    device.ask(library.mg_mem_alloc(device.context, max(view.nbytes, 1), ctypes.byref(address)))
                    arrays.append((address, view))
                    device.ask(library.mg_mem_write(device.context, address, bytes(view), view.nbytes))
                    held.append(address)
                else:
                    held.append(_number(kind, count, value))
            pointers = (ctypes.c_void_p * max(len(held), 1))(*(ctypes.addressof(h) for h in held))
            sys.stdout.flush()
            status = library.mg_launch(device.context, self._handle, _dim(grid), _dim(block), shared, pointers)
            report = device.report()
            for window in _session._windows:
                window.extend(report)
            device.ask(status)
            for address, view in arrays:
                if not view.readonly:
                    view[:] = ctypes.string_at(address.value, view.nbytes)
            return report
        finally:
            for address, _ in arrays:
                library.mg_mem_free(device.context, address)


def _size(kind):
    return int(kind[1:]) // 8


def kernel(source, name=None, *, device=9.0, options=(), threads=None, timeout=None, check=True):
    """A kernel of a .cu or .ptx file, or of PTX text.

        saxpy = margay.kernel("saxpy.cu", "saxpy")
        report = saxpy.run(n // 256, 256, n, 2.0, x, y)

    name: as in C++ or in PTX; not needed where there is one kernel. device: a compute capability. options: more arguments for nvcc.
    threads: host threads that run blocks. timeout: seconds that a launch may take. check=False only counts.
    """
    cc = round(float(device) * 10)
    text = os.fspath(source)
    if "\n" in text:
        ptx, where = text, "the PTX"
    elif text.endswith(".cu"):
        ptx, where = _compile(text, cc, options), text
    else:
        ptx, where = pathlib.Path(text).read_text(encoding="utf-8"), text
    return Kernel(ptx, name, where, _Device(cc, threads, timeout, check))
