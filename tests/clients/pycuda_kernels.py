"""pycuda_kernels.py - PyCUDA: a module of source, in and out parameters, arrays, and its own elementwise and reduction kernels."""
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("__global__ void twice(float *x) { x[threadIdx.x] *= 2; }")
x = np.arange(64, dtype=np.float32)
module.get_function("twice")(cuda.InOut(x), block=(64, 1, 1), grid=(1, 1))
assert (x == 2 * np.arange(64)).all()
a = gpuarray.to_gpu(x)
assert ((2 * a + 1).get() == 2 * x + 1).all()
assert gpuarray.sum(a).get() == x.sum()
print("ok")
