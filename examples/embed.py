#!/usr/bin/env python3
"""embed.py - the simulator inside a Python program: PTX text in, results and counters out. Nothing but ctypes is needed.

Run:  python3 examples/embed.py [libmargay.so]   (default: that of build/ here, else the installed one; MARGAY_LIBRARY names
another)

What is here is all that a code generator needs for a device without a GPU: memory by address, a program made of PTX
text and the name of its kernel, and launches with pointers and numbers as arguments. The kernel adds two vectors; its
last launch reaches beyond them, to show what a mistake looks like. Exits 0 if all is as it should be.
"""
import array
import ctypes
import json
import os
import sys

PTX = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry add(.param .u64 z, .param .u64 x, .param .u64 y, .param .u32 n)
{
    .reg .pred %p1;
    .reg .b32 %r<5>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<8>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    ld.param.u32 %r4, [n];
    setp.ge.u32 %p1, %r1, %r4;
    @%p1 bra done;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u64 %rd3, [z];
    mul.wide.u32 %rd4, %r1, 4;
    add.u64 %rd5, %rd1, %rd4;
    add.u64 %rd6, %rd2, %rd4;
    add.u64 %rd7, %rd3, %rd4;
    ld.global.f32 %f1, [%rd5];
    ld.global.f32 %f2, [%rd6];
    add.rn.f32 %f3, %f1, %f2;
    st.global.f32 [%rd7], %f3;
done:
    ret;
}
"""


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32)]


class Options(ctypes.Structure):
    _fields_ = [("device_cc", ctypes.c_uint), ("threads", ctypes.c_uint), ("timeout_ms", ctypes.c_uint),
                ("profile", ctypes.c_int)]


class Diag(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("line", ctypes.c_uint), ("column", ctypes.c_uint),
                ("file", ctypes.c_char * 256), ("message", ctypes.c_char * 512), ("excerpt", ctypes.c_char * 160),
                ("hint", ctypes.c_char * 256)]


class Device:
    """One simulated GPU. What is allocated and loaded goes when it is closed."""

    def __init__(self, library, **options):
        self.lib = ctypes.CDLL(library)
        self.lib.mg_last_error.restype = ctypes.POINTER(Diag)
        self.lib.mg_status_text.restype = ctypes.c_char_p
        self.context = ctypes.c_void_p()
        self.check(self.lib.mg_context_create(ctypes.byref(Options(**options)), ctypes.byref(self.context)))

    def check(self, status):
        if status:
            record = self.lib.mg_last_error(self.context)
            text = record.contents.message if record else self.lib.mg_status_text(status)
            raise RuntimeError(text.decode())

    def alloc(self, size):
        address = ctypes.c_uint64()
        self.check(self.lib.mg_mem_alloc(self.context, ctypes.c_size_t(size), ctypes.byref(address)))
        return address.value

    def free(self, address):
        self.check(self.lib.mg_mem_free(self.context, ctypes.c_uint64(address)))

    def copy_in(self, address, data):  # a device address is a host address, too
        ctypes.memmove(address, data, len(data))

    def copy_out(self, address, size):
        return ctypes.string_at(address, size)

    def report(self):
        """What the launches since the last report did, as docs/report.md describes it."""
        text = ctypes.c_char_p()
        self.check(self.lib.mg_report_json(self.context, ctypes.byref(text)))
        report = json.loads(text.value)
        ctypes.CDLL(None).free(text)
        return report

    def close(self):
        self.lib.mg_context_destroy(self.context)


class Program:
    """A kernel of some PTX text. Call it with device addresses and numbers (int: 32 bits), in the order of its parameters."""

    def __init__(self, device, ptx, name):
        self.device, module, self.kernel = device, ctypes.c_void_p(), ctypes.c_void_p()
        text = ptx.encode()
        device.check(device.lib.mg_module_load(device.context, text, ctypes.c_size_t(len(text)), ctypes.byref(module)))
        device.check(device.lib.mg_kernel_find(module, name.encode(), ctypes.byref(self.kernel)))

    def __call__(self, *buffers, values=(), grid=(1, 1, 1), block=(1, 1, 1), shared=0):
        held = [ctypes.c_uint64(b) for b in buffers]
        held += [ctypes.c_float(v) if isinstance(v, float) else ctypes.c_uint32(v) for v in values]
        arguments = (ctypes.c_void_p * len(held))(*(ctypes.addressof(h) for h in held))
        self.device.check(self.device.lib.mg_launch(self.device.context, self.kernel, Dim3(*grid), Dim3(*block),
                                                    ctypes.c_uint32(shared), arguments))


def find_library():
    if len(sys.argv) > 1:
        return sys.argv[1]
    built = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build", "libmargay.so.0")
    return os.environ.get("MARGAY_LIBRARY") or (built if os.path.exists(built) else "libmargay.so.0")


def main():
    n = 1000
    try:
        device = Device(find_library(), profile=1)
    except OSError as error:
        sys.exit(f"{error}\nBuild it with `make`, install it with `make install`, or name it: embed.py path/to/libmargay.so.0")
    x, y, z = (device.alloc(4 * n) for _ in range(3))
    device.copy_in(x, array.array("f", range(n)).tobytes())
    device.copy_in(y, array.array("f", (0.5 * i for i in range(n))).tobytes())
    add = Program(device, PTX, "add")
    add(z, x, y, values=(n,), grid=((n + 255) // 256, 1, 1), block=(256, 1, 1))
    result = array.array("f", device.copy_out(z, 4 * n))
    good = all(result[i] == 1.5 * i for i in range(n))
    print("add:", "ok" if good else "wrong")

    launch = device.report()["launches"][0]
    moved, ideal = (launch["metrics"]["memory_l2_theoretical_sectors_global" + s] for s in ("", "_ideal"))
    print(f"{launch['kernel']}: {moved} sectors of global memory, {ideal} at best")
    try:
        add(z, x, y, values=(n + 64,), grid=(5, 1, 1), block=(256, 1, 1))
        good = False
    except RuntimeError as error:
        print("beyond the end:", error)
    device.close()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
