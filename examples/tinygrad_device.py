#!/usr/bin/env python3
"""tinygrad_device.py - the simulator as a device of tinygrad, whose PTX kernels then run on a machine without a GPU.

Run:  python3 tinygrad_device.py [libmargay.so]        (tinygrad 0.14 and numpy: pip install tinygrad numpy)

`register` makes the device known as "MARGAY"; tensors made with device="MARGAY" are computed by the kernels that
tinygrad writes for an sm_90, but for tensor cores. Then a matrix product, a softmax and a convolution with its gradient
are compared with numpy or with tinygrad's own CPU device. Exits 0 if they agree, 77 if tinygrad is not installed.
"""
import ctypes
import os
import sys
import types

import embed

os.environ.setdefault("PARALLEL", "0")  # else kernels are written in other processes, which do not know this device
try:
    import numpy
    from tinygrad import Tensor
    from tinygrad.device import Allocator, Compiled
    from tinygrad.device import Program as TinyProgram
    from tinygrad.helpers import mv_address
    from tinygrad.renderer import Renderer
    from tinygrad.renderer.ptx import PTXRenderer
    from tinygrad.runtime.support.compiler_cuda import PTXCompiler
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)


class MargayRenderer(PTXRenderer):
    def __init__(self, target):
        Renderer.__init__(self, target)
        self.compiler, self.tensor_cores = PTXCompiler(target.arch), []


class MargayProgram(TinyProgram):
    def __init__(self, dev, obj, smem=0):
        self.run, self.shared = embed.Program(dev.gpu, obj.lib.rstrip(b"\0").decode(), obj.name), smem

    def __call__(self, *bufs, global_size=(1, 1, 1), local_size=(1, 1, 1), vals=(), wait=False, **rest):
        self.run(*bufs, values=[v & 0xFFFFFFFF for v in vals], grid=global_size, block=local_size, shared=self.shared)
        return 1e-3 if wait else None  # the time is the simulator's, not a device's: there is nothing to tell


class MargayAllocator(Allocator):
    def _alloc(self, size, options):
        return self.dev.gpu.alloc(size)

    def _free(self, opaque, options):
        self.dev.gpu.free(opaque)

    def _copyin(self, dest, src):
        ctypes.memmove(dest, mv_address(src), len(src))

    def _copyout(self, dest, src):
        ctypes.memmove(mv_address(dest), src, len(dest))

    def _offset(self, buf, size, offset):
        return buf + offset


def register(library):
    class MARGAYDevice(Compiled):
        def __init__(self, device):
            self.gpu = embed.Device(library)
            super().__init__(device, MargayAllocator(self), [MargayRenderer], MargayProgram, arch="sm_90")

    module = types.ModuleType("tinygrad.runtime.ops_margay")  # where tinygrad looks for a device of this name
    module.MARGAYDevice, MARGAYDevice.__module__ = MARGAYDevice, module.__name__
    sys.modules[module.__name__] = module


def conv_gradient(image, weights):
    weights.requires_grad = True
    image.conv2d(weights, padding=1).relu().max_pool2d(2).sum().backward()
    return weights.grad


def main():
    register(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("MARGAY_LIBRARY", "libmargay.so.0"))
    random = numpy.random.default_rng(1)
    a, b = (random.standard_normal((96, 80)).astype(numpy.float32) for _ in range(2))
    image, weights = (random.standard_normal(s).astype(numpy.float32) for s in ((2, 3, 16, 16), (8, 3, 3, 3)))
    x, y = Tensor(a, device="MARGAY"), Tensor(b, device="MARGAY")
    powers = numpy.exp(a - a.max(axis=1, keepdims=True))
    pairs = {
        "product": ((x @ y.T).numpy(), a @ b.T),
        "softmax": (x.softmax().numpy(), powers / powers.sum(axis=1, keepdims=True)),
        "gradient": tuple(conv_gradient(*(Tensor(t, device=d) for t in (image, weights))).numpy()
                          for d in ("MARGAY", "CPU")),
    }
    good = True
    for name, (ours, theirs) in pairs.items():
        same = numpy.allclose(ours, theirs, rtol=1e-3, atol=1e-3)
        print(f"{name} {'x'.join(map(str, ours.shape))}: {'ok' if same else 'wrong'}")
        good = good and same
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
