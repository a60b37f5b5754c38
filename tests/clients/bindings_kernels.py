"""bindings_kernels.py - cuda-python: cuda.core over NVRTC, and the driver's own calls by cuda.bindings."""
import ctypes

import numpy as np
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

SOURCE = """template <class T> __global__ void square(T *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = x[i] * x[i];
}"""
device = Device()
device.set_current()
stream = device.create_stream()
x = np.arange(100, dtype=np.float32)
buffer = device.allocate(x.nbytes, stream=stream)
stream.sync()


def ok(result):
    assert result[0] == driver.CUresult.CUDA_SUCCESS, result
    return result[1] if len(result) == 2 else result[1:]


for target in ("ptx", "cubin"):
    program = Program(SOURCE, code_type="c++", options=ProgramOptions(std="c++17", arch="sm_90"))
    kernel = program.compile(target, name_expressions=("square<float>",)).get_kernel("square<float>")
    ok(driver.cuMemcpyHtoD(int(buffer.handle), x.ctypes.data, x.nbytes))
    launch(stream, LaunchConfig(grid=1, block=128), kernel, buffer, np.int32(x.size))
    stream.sync()
    y = np.empty_like(x)
    ok(driver.cuMemcpyDtoH(y.ctypes.data, int(buffer.handle), x.nbytes))
    assert (y == x * x).all()
major = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
assert ok(driver.cuDeviceGetAttribute(major, ok(driver.cuDeviceGet(0)))) == 9
result, = driver.cuMemFree(ctypes.c_uint64(12345).value)
assert result == driver.CUresult.CUDA_ERROR_INVALID_VALUE, result
print("ok")
