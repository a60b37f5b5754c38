"""numba_kernels.py - kernels of Numba: shared arrays, atomics, cooperative groups, reductions, ufuncs, debug code."""
import math

import numpy as np
from numba import cuda, float32, vectorize

rng = np.random.default_rng(7)
x = rng.random(1000, dtype=np.float32)


@cuda.jit
def total(x, out):
    part = cuda.shared.array(256, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    step = 128
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, part[0])


out = np.zeros(1, np.float32)
total[4, 256](x, out)
assert abs(out[0] - x.sum()) < 1e-2, (out, x.sum())


@cuda.reduce
def greatest(a, b):
    return a if a > b else b


assert greatest(x) == x.max()


@cuda.jit(debug=True, opt=False)
def sines(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = math.sin(x[i])


y = x.copy()
sines[4, 256](y)
assert np.abs(y - np.sin(x)).max() < 1e-6


@cuda.jit
def neighbours(x):
    grid, i = cuda.cg.this_grid(), cuda.grid(1)
    x[i] = i
    grid.sync()
    value = x[(i + 1) % x.size]
    grid.sync()
    x[i] += value


d = cuda.to_device(np.zeros(512))
neighbours[2, 256](d)
n = np.arange(512)
assert (d.copy_to_host() == n + (n + 1) % 512).all()


@cuda.jit
def histogram(values, bins):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(bins, values[i], 1)


values, bins = rng.integers(0, 16, 10000).astype(np.int32), np.zeros(16, np.int32)
histogram[40, 256](values, bins)
assert (bins == np.bincount(values, minlength=16)).all()


@vectorize(["float32(float32, float32)"], target="cuda")
def mad(a, b):
    return a * b + 1


assert np.allclose(mad(x, x), x * x + 1)
stream, event = cuda.stream(), cuda.event()
with stream.auto_synchronize():
    copy = cuda.to_device(x, stream=stream)
    event.record(stream)
event.synchronize()
assert (copy.copy_to_host() == x).all()
print("ok")
