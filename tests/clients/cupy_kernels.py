"""cupy_kernels.py - CuPy: kernels as text, elementwise and reduction kernels, its own operations, cupyx; each against NumPy or SciPy.

Its wheel has a runtime in each of five modules, which Python opens when the program runs. `margay run` has CuPy reduce by kernels that
NVRTC compiles; its modules with machine code inside (thrust, cub: sorting, say) have PTX for compute capability 12.0 alone, so what
needs them runs where the device is one: with "newest" as an argument.
"""
import sys

import cupy as cp
import cupyx
import numpy as np
import scipy.ndimage
import scipy.signal
import scipy.special
from cupy.cuda import runtime, texture
from cupyx import jit
from cupyx.scipy import ndimage, signal, special

rng = np.random.default_rng(7)
x, y = rng.random((37, 53), dtype=np.float32), rng.random((37, 53), dtype=np.float32)
gx, gy = cp.asarray(x), cp.asarray(y)


def same(got, wanted, near=1e-5):
    got = cp.asnumpy(got)
    assert got.shape == np.shape(wanted), (got.shape, np.shape(wanted))
    assert np.allclose(got, wanted, rtol=near, atol=near), (got, wanted)


def sorting():
    for axis in (0, 1):
        same(cp.sort(gx, axis=axis), np.sort(x, axis=axis))
        same(cp.argsort(gx, axis=axis), np.argsort(x, axis=axis))
    same(cp.unique(gx.round(1)), np.unique(x.round(1)))
    same(cp.median(gx, axis=1), np.median(x, axis=1))
    whole = cp.asarray(rng.integers(0, 1 << 30, 5000))
    same(cp.sort(whole), np.sort(whole.get()))


def cub():
    from cupy._core import set_reduction_accelerators, set_routine_accelerators
    set_routine_accelerators(["cub"])
    set_reduction_accelerators(["cub"])
    same(gx.sum(), x.sum(), 1e-4)
    same(gx.sum(axis=1), x.sum(axis=1), 1e-4)
    same(cp.cumsum(gx), np.cumsum(x), 1e-3)


if sys.argv[1:] == ["newest"]:
    sorting()
    cub()
    print("ok")
    sys.exit()

turn = cp.RawKernel(r"""
extern "C" __global__ void turn(const float *a, float *b, int w, int h)
{
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < w && y < h)
        tile[threadIdx.y][threadIdx.x] = a[y * w + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < h && y < w)
        b[y * h + x] = tile[threadIdx.x][threadIdx.y];
}""", "turn")
turned = cp.zeros((53, 37), cp.float32)
turn((4, 3), (16, 16), (gx, turned, 53, 37))
same(turned, x.T)

module = cp.RawModule(code=r"""
template <class T> __global__ void twice(T *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 2;
}
__constant__ float table[4];
extern "C" __global__ void look_up(float *x)
{
    x[threadIdx.x] = table[threadIdx.x];
}""", options=("-std=c++17",), name_expressions=["twice<float>", "twice<double>"])
a = cp.arange(10, dtype=cp.float64)
module.get_function("twice<double>")((1,), (32,), (a, 10))
same(a, np.arange(10) * 2.0)
cp.ndarray(4, cp.float32, module.get_global("table"))[...] = cp.arange(4, dtype=cp.float32)
a = cp.zeros(4, cp.float32)
module.get_function("look_up")((1,), (4,), (a,))
same(a, np.arange(4))

same(cp.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared")(gx, gy), (x - y) ** 2)
same(cp.ElementwiseKernel("T x, raw T y", "T z", "z = x + y[_ind.size() - 1 - i]", "mirrored")(gx, gy),
     x + y.ravel()[::-1].reshape(x.shape))
length = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "length")
same(length(gx, axis=1), np.sqrt((x * x).sum(1)))
same(length(gx), np.sqrt((x * x).sum()), 1e-4)

for name in "add subtract multiply divide power maximum minimum arctan2 hypot fmod less equal logaddexp".split():
    same(getattr(cp, name)(gx, gy), getattr(np, name)(x, y))
for name in "sin cos tan exp log sqrt cbrt floor rint abs tanh sign isnan exp2 log1p expm1 square reciprocal negative".split():
    same(getattr(cp, name)(gx), getattr(np, name)(x), 1e-4)
for name in "sum prod max min mean std var argmax argmin any all nansum cumsum cumprod ptp".split():
    for axis in (None, 0, 1):
        same(getattr(cp, name)(gx, axis=axis), getattr(np, name)(x, axis=axis), 1e-3)
for name in "int8 int16 int32 int64 uint8 uint64 float16 float32 float64 complex64 complex128 bool".split():
    a = (rng.random(1000) * 50).astype(name)
    same(cp.asarray(a) + cp.asarray(a), a + a)
    same(cp.asarray(a).sum(), a.sum(), 1e-2)

same(gx @ gy.T, x @ y.T, 1e-4)
same((gx * 9).astype(int) @ (gy.T * 9).astype(int), (x * 9).astype(int) @ (y.T * 9).astype(int))
same(cp.einsum("ij,kj->ik", gx, gy), np.einsum("ij,kj->ik", x, y), 1e-4)
same(cp.where(gx > 0.5, gx, gy), np.where(x > 0.5, x, y))
same(gx[gx > 0.5], x[x > 0.5])
same(gx[cp.array([3, 1]), ::2], x[[3, 1], ::2])
same(cp.concatenate([gx, gy], 1), np.concatenate([x, y], 1))
same(cp.ascontiguousarray(gx.T), x.T)
same(cp.bincount((gx.ravel() * 9).astype(int)), np.bincount((x.ravel() * 9).astype(int)))
same(cp.histogram(gx, 10)[0], np.histogram(x, 10)[0])
same(cp.searchsorted(cp.arange(10) / 10.0, gx), np.searchsorted(np.arange(10) / 10.0, x))
same(cp.fft.fft2(gx), np.fft.fft2(x), 1e-2)
same(cp.fft.irfft(cp.fft.rfft(gx, axis=0), 37, axis=0), x, 1e-3)
assert 0.45 < float(cp.random.RandomState(3).rand(1000).mean()) < 0.55


@cp.fuse()
def fused(a, b):
    return cp.sqrt(a * a + b * b) + cp.sin(a)


same(fused(gx, gy), np.sqrt(x * x + y * y) + np.sin(x))


@jit.rawkernel()
def doubled(a, b, n):
    for i in range(jit.grid(1), n, jit.gridsize(1)):
        b[i] = a[i] * 2


a, b = cp.arange(100, dtype=cp.float32), cp.zeros(100, cp.float32)
doubled((2,), (32,), (a, b, cp.int32(100)))
same(b, np.arange(100) * 2)
a = cp.zeros(5, cp.float32)
cupyx.scatter_add(a, cp.array([1, 1, 3]), cp.array([1, 2, 3], cp.float32))
same(a, [0, 3, 0, 3, 0])
same(ndimage.gaussian_filter(gx, 2), scipy.ndimage.gaussian_filter(x, 2), 1e-4)
same(special.gamma(gx + 1), scipy.special.gamma(x + 1), 1e-4)
same(signal.convolve2d(gx, gy[:3, :3]), scipy.signal.convolve2d(x, y[:3, :3]), 1e-3)

stream = cp.cuda.Stream(non_blocking=True)
with stream:
    a = gx + 1
    event = stream.record()
event.synchronize()
same(a, x + 1)
a = cp.zeros(10, cp.float32)
with stream:
    stream.begin_capture()
    a += 1
    a *= 3
    graph = stream.end_capture()
    graph.launch()
    graph.launch()
    stream.synchronize()
same(a, np.full(10, 12.0))
cp.cuda.set_allocator(cp.cuda.MemoryAsyncPool().malloc)
same(cp.ones(100) + 1, np.full(100, 2.0))
cp.cuda.set_allocator(cp.get_default_memory_pool().malloc)

texels = texture.CUDAarray(texture.ChannelFormatDescriptor(32, 0, 0, 0, runtime.cudaChannelFormatKindFloat), 53, 37)
texels.copy_from(gx)
sampler = texture.TextureObject(
    texture.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=texels),
    texture.TextureDescriptor((runtime.cudaAddressModeClamp,) * 2, runtime.cudaFilterModePoint, runtime.cudaReadModeElementType))
fetch = cp.RawKernel(r"""
extern "C" __global__ void fetch(float *out, cudaTextureObject_t from, int width)
{
    out[blockIdx.x * width + threadIdx.x] = tex2D<float>(from, threadIdx.x, blockIdx.x);
}""", "fetch")
a = cp.zeros_like(gx)
fetch((37,), (53,), (a, sampler, 53))
same(a, x)

# What stays NVIDIA's machine code says so by its own status.
try:
    cp.linalg.solve(gx[:30, :30], gy[:30, 0])
    raise AssertionError("cuSOLVER ran")
except cp.cuda.cusolver.CUSOLVERError as error:  # NVIDIA's, or the one that says that it is not there
    assert "NOT_INITIALIZED" in str(error) or "NOT_SUPPORTED" in str(error), error
except (ImportError, RuntimeError) as error:  # where it is not installed
    print("cuSOLVER:", error)
print("ok")
