#!/usr/bin/env python3
"""operations.py LIBRARY - tinygrad's operations, their kernels written as PTX and run by `ptx_run` of libmargay, against
tinygrad's own CPU device: every cast between its types, operations of one and two operands in every type, reductions,
movements, products with and without tensor cores, convolutions, normalisations, sorting. Needs tinygrad and numpy.

The device here is what tinygrad's own mock of CUDA is: memory is the process's, a kernel is a text, an argument is a value.
"""
import ctypes
import itertools
import os
import sys
import types

os.environ.setdefault("PARALLEL", "0")  # kernels are written in this process, which knows the device
os.environ.setdefault("CACHELEVEL", "0")
import numpy
from tinygrad import Tensor, dtypes
from tinygrad.device import Allocator, Compiled
from tinygrad.device import Program as TinyProgram
from tinygrad.helpers import mv_address
from tinygrad.renderer import Renderer
from tinygrad.renderer.ptx import PTXRenderer
from tinygrad.runtime.support.compiler_cuda import PTXCompiler

ARCH = os.environ.get("ARCH", "sm_90")
library = ctypes.CDLL(sys.argv[1])
library.ptx_run.restype = None
kernels = set()


class MargayRenderer(PTXRenderer):
    def __init__(self, target):
        Renderer.__init__(self, target)
        self.compiler = PTXCompiler(target.arch)
        self.tensor_cores = PTXRenderer.tc_sm80 if int(ARCH[3:]) >= 80 else []


class MargayProgram(TinyProgram):
    def __init__(self, dev, obj, smem=0):
        self.text, self.shared = obj.lib.rstrip(b"\0"), smem
        kernels.add(self.text)

    def __call__(self, *bufs, global_size=(1, 1, 1), local_size=(1, 1, 1), vals=(), wait=False, **rest):
        values = [ctypes.addressof(b) for b in bufs] + [v & 0xFFFFFFFFFFFFFFFF for v in vals]
        args = (ctypes.c_void_p * max(1, len(values)))(*values)
        library.ptx_run(self.text, len(values), args, *local_size, *global_size, self.shared)
        return 1e-3 if wait else None


class MargayAllocator(Allocator):
    def _alloc(self, size, options):
        raw = (ctypes.c_uint8 * (size + 256))()
        buffer = (ctypes.c_uint8 * size).from_buffer(raw, -ctypes.addressof(raw) % 256)
        return buffer

    def _free(self, opaque, options):
        pass

    def _copyin(self, dest, src):
        ctypes.memmove(ctypes.addressof(dest), mv_address(src), len(src))

    def _copyout(self, dest, src):
        ctypes.memmove(mv_address(dest), ctypes.addressof(src), len(dest))

    def _offset(self, buf, size, offset):
        return (ctypes.c_uint8 * size).from_address(ctypes.addressof(buf) + offset)


class MARGAYDevice(Compiled):
    def __init__(self, device):
        super().__init__(device, MargayAllocator(self), [MargayRenderer], MargayProgram, arch=ARCH)


module = types.ModuleType("tinygrad.runtime.ops_margay")  # where tinygrad looks for a device of this name
module.MARGAYDevice, MARGAYDevice.__module__ = MARGAYDevice, module.__name__
sys.modules[module.__name__] = module

FLOATS = [dtypes.float32, dtypes.float16, dtypes.float64]
INTS = [dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64]
# tinygrad writes the others with approximations that PTX does not have for f64 (ex2.approx.f64, rcp.approx.f64): no
# assembler takes them.
DOUBLES = {"neg", "abs", "relu", "square", "sign", "floor", "ceil", "trunc", "round", "leaky_relu"}
SHAPES = [(7,), (5, 33), (2, 3, 64)]
random = numpy.random.default_rng(1)


def values(shape, dtype, low=-3.0, high=3.0):
    if dtype == dtypes.bool:
        return random.integers(0, 2, shape).astype(bool)
    if dtypes.is_float(dtype):
        return random.uniform(low, high, shape).astype({4: "f4", 2: "f2", 8: "f8"}[dtype.itemsize])
    name = ("u" if dtypes.is_unsigned(dtype) else "") + "int%d" % (8 * dtype.itemsize)
    return random.integers(0 if dtypes.is_unsigned(dtype) else -90, 90, shape).astype(name)


def cases():
    """(name, function of tensors, numpy arrays)"""
    one = ["neg", "abs", "exp", "exp2", "sin", "cos", "tanh", "sigmoid", "relu", "gelu", "silu", "square", "sign", "floor", "ceil",
           "trunc", "round", "softplus", "elu", "leaky_relu", "hardswish", "mish", "celu", "softsign", "relu6", "quick_gelu"]
    positive = ["sqrt", "rsqrt", "log", "log2", "reciprocal"]
    for name, dtype in itertools.product(one + positive, FLOATS):
        if dtype == dtypes.float64 and name not in DOUBLES:
            continue
        shape = SHAPES[len(name) % 3]
        low = 0.1 if name in positive else -3.0
        yield f"{name} {dtype} {shape}", lambda t, n=name: getattr(t, n)(), [values(shape, dtype, low)]
    two = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "max": lambda a, b: a.maximum(b),
           "min": lambda a, b: a.minimum(b), "less": lambda a, b: a < b, "equal": lambda a, b: a == b,
           "where": lambda a, b: (a < b).where(a, b)}
    for (name, fn), dtype in itertools.product(two.items(), FLOATS + INTS):
        shape = SHAPES[(len(name) + dtype.itemsize) % 3]
        yield f"{name} {dtype} {shape}", fn, [values(shape, dtype), values(shape, dtype)]
    whole = {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
             "quotient": lambda a, b: a // (b.abs() + 1 if not dtypes.is_unsigned(b.dtype) else b + 1),
             "remainder": lambda a, b: a % (b.abs() + 1 if not dtypes.is_unsigned(b.dtype) else b + 1)}
    for (name, fn), dtype in itertools.product(whole.items(), INTS):
        yield f"{name} {dtype}", fn, [values((5, 33), dtype), values((5, 33), dtype)]
    for dtype in (dtypes.uint32, dtypes.uint64, dtypes.uint8, dtypes.int32):
        yield f"shifts {dtype}", lambda a: (a << 3) + (a >> 2), [abs(values((65,), dtype))]
    for name, dtype in itertools.product(["division", "power"], FLOATS[:2]):
        fn = {"division": lambda a, b: a / b, "power": lambda a, b: a ** b}[name]
        yield f"{name} {dtype}", fn, [values((5, 33), dtype, 0.5), values((5, 33), dtype, 0.5, 2)]
    everything = FLOATS + INTS + [dtypes.bool]
    for source, target in itertools.product(everything, everything):
        low = 0.0 if dtypes.is_float(source) and dtypes.is_unsigned(target) else -90.0
        data = values((33,), source, low, 90.0)
        if dtypes.is_unsigned(target) and not dtypes.is_float(source):
            data = abs(data) if data.dtype.kind == "i" else data
        yield f"cast {source} to {target}", lambda a, t=target: a.cast(t), [data]
    reduce = ["sum", "mean", "max", "min", "std", "var", "softmax", "log_softmax", "logsumexp", "cumsum", "argmax", "argmin"]
    for name, (shape, axis) in itertools.product(reduce, [((7,), 0), ((5, 33), 1), ((64, 17), 0), ((3, 4, 129), 2)]):
        yield f"{name} {shape} {axis}", lambda a, n=name, x=axis: getattr(a, n)(axis=x), [values(shape, dtypes.float32)]
    for dtype in INTS + FLOATS:
        yield f"sum {dtype}", lambda a: a.sum(), [values((999,), dtype, 0, 1)]
        yield f"max {dtype}", lambda a: a.max(axis=0), [values((37, 5), dtype)]
    for name in ("any", "all"):
        yield name, lambda a, n=name: getattr(a, n)(axis=1), [values((9, 5), dtypes.bool)]
    move = {"transpose": lambda a: a.permute(2, 0, 1).contiguous(), "flip": lambda a: a.flip((0, 2)) + 0,
            "pad": lambda a: a.pad(((1, 2), (0, 3), (2, 0))) * 2, "shrink": lambda a: a[1:, ::2, 3:9] + 1,
            "cat": lambda a: a.cat(a * 2, dim=1), "stack": lambda a: Tensor.stack(a, a + 1), "tril": lambda a: a.tril(),
            "expand": lambda a: a.unsqueeze(1).expand(4, 3, 6, 10) + 0, "roll": lambda a: a.roll(2, 1),
            "repeat": lambda a: a.repeat(2, 1, 2), "sort": lambda a: a.sort(dim=2)[0], "topk": lambda a: a.topk(3, dim=2)[0],
            "gather": lambda a: a.gather(2, (a.abs() * 3).cast(dtypes.int32).clip(0, 9)), "diagonal": lambda a: a[0, :6, :6].diagonal()}
    for (name, fn), dtype in itertools.product(move.items(), [dtypes.float32, dtypes.float16, dtypes.int32]):
        if dtype == dtypes.float32 or name not in ("gather", "sort", "topk"):
            yield f"{name} {dtype}", fn, [values((4, 6, 10), dtype)]
    for dtype, (m, k, n) in itertools.product(FLOATS, [(1, 5, 7), (16, 16, 16), (33, 17, 9), (64, 64, 64), (128, 32, 48)]):
        yield f"product {dtype} {m}x{k}x{n}", lambda a, b: a @ b, [values((m, k), dtype, -1, 1), values((k, n), dtype, -1, 1)]
    yield "product f16 to f32", lambda a, b: a.matmul(b, dtype=dtypes.float32), [values((64, 64), dtypes.float16, -1, 1)] * 2
    yield "batched product", lambda a, b: a @ b, [values((3, 9, 8), dtypes.float32), values((3, 8, 5), dtypes.float32)]
    for stride, padding, groups in [(1, 0, 1), (2, 1, 1), (1, 1, 4), (3, 2, 2)]:
        yield (f"convolution {stride} {padding} {groups}",
               lambda x, w, s=stride, p=padding, g=groups: x.conv2d(w, stride=s, padding=p, groups=g),
               [values((2, 4, 13, 11), dtypes.float32), values((8, 4 // groups, 3, 3), dtypes.float32)])
    image = values((2, 4, 12, 12), dtypes.float32)
    yield "transposed convolution", lambda x, w: x.conv_transpose2d(w, stride=2), [image, values((4, 3, 3, 3), dtypes.float32)]
    for name in ("max_pool2d", "avg_pool2d"):
        yield name, lambda x, n=name: getattr(x, n)((3, 3), stride=2), [image]
    yield "layer norm", lambda x: x.layernorm(), [image]
    yield "batch norm", lambda x: x.batchnorm(None, None, x.mean((0, 2, 3)), (x.var((0, 2, 3)) + 1e-5).rsqrt()), [image]
    yield "interpolate", lambda x: x.interpolate((24, 17), mode="linear"), [image]
    yield "attention", lambda q: q.scaled_dot_product_attention(q, q, is_causal=True), [values((2, 4, 33, 16), dtypes.float32)]
    yield "cross entropy", lambda x: x.cross_entropy(Tensor([1, 2, 0, 3, 1, 2], device=x.device)), [values((6, 5), dtypes.float32)]
    yield "gradient of a product", lambda a, b: gradient(lambda: (a @ b).relu().sum(), a), [values((20, 30), dtypes.float32)] * 1 + [values((30, 9), dtypes.float32)]
    yield "gradient of a convolution", lambda x, w: gradient(lambda: x.conv2d(w).square().mean(), w), [image, values((5, 4, 3, 3), dtypes.float32)]


def gradient(loss, of):
    of.requires_grad = True
    loss().backward()
    return of.grad


def main():
    done, wrong = 0, []
    for name, fn, arrays in cases():
        try:
            ours, theirs = (fn(*[Tensor(a, device=d) for a in arrays]).numpy() for d in ("MARGAY", "CPU"))
        except Exception as why:  # what tinygrad itself cannot do is not ours: it says the same for its own device
            wrong.append(f"{name}: {type(why).__name__}: {why}")
            continue
        half = ours.dtype == numpy.float16 or any(a.dtype == numpy.float16 for a in arrays)
        tf32 = name.startswith("product") or "gradient" in name  # tensor cores round f32 to TF32 first
        near = dict(rtol=2e-2, atol=2e-2) if half or tf32 else dict(rtol=2e-3, atol=1e-3)
        exact = ours.dtype.kind in "iub"
        same = ours.dtype == theirs.dtype and ours.shape == theirs.shape and (
            numpy.array_equal(ours, theirs) if exact else numpy.allclose(ours, theirs, equal_nan=True, **near))
        done += 1
        if not same:
            wrong.append(f"{name}: differs: {ours.ravel()[:4]} and {theirs.ravel()[:4]}")
    for line in wrong[:40]:
        print(line)
    print(f"{done} operations by {len(kernels)} kernels for {ARCH}, {len(wrong)} wrong")
    return 1 if wrong or done < 300 else 0


if __name__ == "__main__":
    sys.exit(main())
