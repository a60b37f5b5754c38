"""triton_kernels.py - kernels of Triton as its tutorials teach them, without PyTorch: memory is the driver's, the reference NumPy's."""
import ctypes

import numpy as np
import triton
import triton.language as tl

cuda = ctypes.CDLL("libcuda.so.1")


def ok(status):
    assert status == 0, status


context = ctypes.c_void_p()
ok(cuda.cuInit(0))
ok(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
ok(cuda.cuCtxSetCurrent(context))


class Array:
    """What Triton asks of an argument: where it is, and of what."""

    def __init__(self, a):
        self.shape, self.nbytes, self.kind = a.shape, a.nbytes, a.dtype
        self.dtype = {"float32": tl.float32, "float16": tl.float16}[a.dtype.name]
        at = ctypes.c_uint64()
        ok(cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(a.nbytes)))
        self.at = at.value
        ok(cuda.cuMemcpyHtoD_v2(ctypes.c_uint64(self.at), a.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(a.nbytes)))

    def data_ptr(self):
        return self.at

    def numpy(self):
        a = np.empty(self.shape, self.kind)
        ok(cuda.cuMemcpyDtoH_v2(a.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(self.at), ctypes.c_size_t(a.nbytes)))
        return a


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(x + i, inside) + tl.load(y + i, inside), inside)


@triton.jit
def softmax(out, x, stride, n, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + column, column < n, other=-float("inf"))
    v = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * stride + column, v / tl.sum(v, 0), column < n)


@triton.jit
def normalise(x, weight, bias, out, n, eps, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    inside = column < n
    v = tl.load(x + row * n + column, inside, other=0.0)
    d = tl.where(inside, v - tl.sum(v, 0) / n, 0.0)
    y = d / tl.sqrt(tl.sum(d * d, 0) / n + eps)
    tl.store(out + row * n + column, y * tl.load(weight + column, inside) + tl.load(bias + column, inside), inside)


@triton.jit
def multiply(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    sum = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        sum = tl.dot(tl.load(a + m[:, None] * K + (at + k)[None, :]), tl.load(b + (at + k)[:, None] * N + n[None, :]), sum)
    tl.store(c + m[:, None] * N + n[None, :], sum)


rng = np.random.default_rng(1)
x, y = rng.random(5000, np.float32), rng.random(5000, np.float32)
out = Array(np.zeros(5000, np.float32))
add[(triton.cdiv(5000, 1024),)](Array(x), Array(y), out, 5000, BLOCK=1024)
assert (out.numpy() == x + y).all()

s, weight, bias = rng.random((64, 300), np.float32), rng.random(300, np.float32), rng.random(300, np.float32)
rows, out = Array(s), Array(np.zeros_like(s))
softmax[(64,)](out, rows, 300, 300, BLOCK=512)
e = np.exp(s - s.max(1, keepdims=True))
assert np.abs(out.numpy() - e / e.sum(1, keepdims=True)).max() < 1e-7
normalise[(64,)](rows, Array(weight), Array(bias), out, 300, 1e-5, BLOCK=512)
right = (s - s.mean(1, keepdims=True)) / np.sqrt(s.var(1, keepdims=True) + 1e-5) * weight + bias
assert np.abs(out.numpy() - right).max() < 1e-5

for kind, most in ((np.float16, 1e-3), (np.float32, 0.1)):  # wgmma of f16, and of tf32
    a, b = rng.random((128, 128)).astype(kind), rng.random((128, 128)).astype(kind)
    c = Array(np.zeros((128, 128), np.float32))
    multiply[(2, 2)](Array(a), Array(b), c, 128, 128, 128, BM=64, BN=64, BK=32, num_warps=4)
    assert np.abs(c.numpy() - a.astype(np.float64) @ b.astype(np.float64)).max() < most, kind
print("ok")
