"""cupy_race.py - a barrier is missing. The line is the kernel's: CuPy compiles the text under a name that it makes up."""
import cupy as cp

turned = cp.RawKernel(r"""
extern "C" __global__ void turned(float *x)
{
    __shared__ float row[256];
    int t = threadIdx.x;
    row[t] = x[t];
    x[t] = row[255 - t];  // @race
}""", "turned", options=("--generate-line-info",))
x = cp.arange(256, dtype=cp.float32)
turned((1,), (256,), (x,))
