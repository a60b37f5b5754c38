"""torch_kernels.py - an extension of PyTorch: kernels behind a launcher, built by torch.utils.cpp_extension, over pinned tensors.

    torch_kernels.py [race]

PyTorch's own kernels are machine code alone, so tensors stay in host memory: pinned, which kernels reach by its address. The launchers
are plain C, so that building them does not take the minutes that PyTorch's headers do.
"""
import ctypes
import os
import pathlib
import sys

import torch
from torch.utils.cpp_extension import load

here = pathlib.Path(__file__).resolve().parent
build = os.environ["TORCH_EXTENSIONS_DIR"]
load("margay_extension", [str(here / "torch_kernels.cu")], extra_cuda_cflags=["-lineinfo", "-arch=sm_90"], build_directory=build,
     is_python_module=False)
library = ctypes.CDLL(f"{build}/margay_extension.so")


def pointer(tensor):
    assert tensor.is_contiguous() and tensor.is_pinned()
    return ctypes.c_void_p(tensor.data_ptr())


if sys.argv[1:] == ["race"]:
    x = torch.arange(256, dtype=torch.float32).pin_memory()
    assert library.turn(pointer(x)) == 0
    sys.exit()

torch.manual_seed(7)
x, y = (torch.randn(1000).pin_memory() for _ in range(2))
want = 2.5 * x + y
assert library.axpy(ctypes.c_float(2.5), pointer(x), pointer(y), 1000) == 0
assert torch.allclose(y, want, atol=1e-6)

rows = torch.randn(33, 200).pin_memory()
out = torch.empty(33, 200, pin_memory=True)
assert library.softmax(pointer(rows), pointer(out), 33, 200) == 0
assert torch.allclose(out, torch.softmax(rows, 1), atol=1e-6)

a, b, c = torch.randn(48, 64).pin_memory(), torch.randn(64, 32).pin_memory(), torch.empty(48, 32, pin_memory=True)
assert library.multiply(pointer(a), pointer(b), pointer(c), 48, 32, 64) == 0
assert torch.allclose(c, a @ b, atol=1e-4)

try:
    torch.ones(3, device="cuda")
    raise AssertionError("a kernel of PyTorch's own ran")
except RuntimeError as error:
    assert "no kernel image" in str(error), error
print("ok")
