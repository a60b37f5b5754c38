"""bindings_lines.py - two programs of one name, and a header: NVRTC's lines, which reports must not mix up."""
import ctypes

from cuda.bindings import driver, nvrtc


def ok(result):
    assert int(result[0]) == 0, result
    return result[1] if len(result) == 2 else result[1:]


def start():
    ok(driver.cuInit(0))
    ok(driver.cuCtxSetCurrent(ok(driver.cuDevicePrimaryCtxRetain(ok(driver.cuDeviceGet(0))))))
    return ok(driver.cuMemAlloc(4096))


memory = None


def run(entry, source, name, headers=(), names=()):
    program = ok(nvrtc.nvrtcCreateProgram(source, name, len(headers), list(headers), list(names)))
    ok(nvrtc.nvrtcCompileProgram(program, 1, [b"--generate-line-info"]))
    ptx = b" " * ok(nvrtc.nvrtcGetPTXSize(program))
    ok(nvrtc.nvrtcGetPTX(program, ptx))
    ok(nvrtc.nvrtcDestroyProgram(program))
    global memory
    memory = memory or start()  # NVRTC comes first
    kernel = ok(driver.cuModuleGetFunction(ok(driver.cuModuleLoadData(ptx)), entry))
    ok(driver.cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, 0, ((int(memory),), (ctypes.c_void_p,)), 0))
    ok(driver.cuCtxSynchronize())


def kernel(name, line):
    return b'extern "C" __global__ void %s(float *x)\n{\n    %s;\n}\n' % (name, line)


run(b"f", kernel(b"f", b"x[threadIdx.x] = 1"), b"")
run(b"g", kernel(b"g", b"x[threadIdx.x * 2] = 2"), b"")
run(b"f", kernel(b"f", b"x[threadIdx.x] = 1"), b"")
run(b"h", b'#include "part.cuh"\n' + kernel(b"h", b"part(x)"), b"k.cu",
    [b"__device__ void part(float *x)\n{\n    x[threadIdx.x * 4] = 3;\n}\n"], [b"part.cuh"])
