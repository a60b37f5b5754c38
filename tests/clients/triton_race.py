"""triton_race.py - the programs of a grid add to one number, and not by tl.atomic_add."""
import ctypes

import triton
import triton.language as tl

cuda = ctypes.CDLL("libcuda.so.1")


class Numbers:
    dtype = tl.float32

    def __init__(self, n, bits):
        at = ctypes.c_uint64()
        assert cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(4 * n)) == 0
        assert cuda.cuMemsetD32_v2(at, bits, ctypes.c_size_t(n)) == 0
        self.data_ptr = lambda: at.value


@triton.jit
def total(x, out, BLOCK: tl.constexpr):
    v = tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    tl.store(out, tl.load(out) + tl.sum(v, 0))  # @race


context = ctypes.c_void_p()
assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert cuda.cuCtxSetCurrent(context) == 0
total[(4,)](Numbers(512, 0x3F800000), Numbers(1, 0), BLOCK=128)
