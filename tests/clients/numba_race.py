"""numba_race.py - a barrier is missing."""
import numpy as np
from numba import cuda, float32


@cuda.jit(lineinfo=True)
def turned(x):
    row = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    row[t] = x[t]
    x[t] = row[255 - t]  # @race


x = np.arange(256, dtype=np.float32)
turned[1, 256](x)
