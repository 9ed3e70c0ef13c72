"""Peers of softmax, its logarithm and its masked form, over the rows of a matrix, float32.

Timed beside ours: cuDNN (cudnnSoftmaxForward, not masked), torch, torch.compile, and Triton: triton keeps a row on chip,
triton_loops reads it twice, with a running maximum.
Tried and lost: none. CUB, Thrust and cupy have no softmax. On an H200, 8192 x 8192 and 128 x 131 072, us: torch_compile 130.4 and
70.7, triton 131.9 and 180, cudnn 132.2 and 342, triton_loops 139 and 62.3, torch 276 and 82.2.
"""

import ctypes as C

import torch
import triton
import triton.language as tl

import peer


# FORM is 0 for softmax, 1 for its logarithm, 2 for the masked one: of what mask does not keep, the result is 0.
@triton.autotune([triton.Config({}, num_warps=warps) for warps in (4, 8, 16, 32)], key=["columns", "FORM"],
                 prune_configs_by={"early_config_prune": lambda configs, named, **_: [c for c in configs if named["BLOCK"] <= 4096 * c.num_warps]})
@triton.jit
def whole_rows(x, mask, y, columns, FORM: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * columns + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < columns
    kept = inside
    if FORM == 2:
        kept = inside & (tl.load(mask + at, mask=inside, other=0) != 0)
    v = tl.load(x + at, mask=kept, other=-float("inf"))
    v -= tl.max(v, 0)
    e = tl.exp(v)
    result = v - tl.log(tl.sum(e, 0)) if FORM == 1 else e / tl.sum(e, 0)
    tl.store(y + at, result, mask=inside)


@triton.autotune([triton.Config({"BLOCK": block}, num_warps=warps) for block in (2048, 4096, 8192) for warps in (8, 16)], key=["columns", "FORM"])
@triton.jit
def rows_in_loops(x, mask, y, columns, FORM: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    most = tl.full((BLOCK,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        kept = at < columns
        if FORM == 2:
            kept &= tl.load(mask + row + at, mask=kept, other=0) != 0
        v = tl.load(x + row + at, mask=kept, other=-float("inf"), eviction_policy="evict_last")
        now = tl.maximum(most, v)
        shift = tl.where(now == -float("inf"), 0.0, now)
        total = total * tl.exp(most - shift) + tl.exp(v - shift)
        most = now
    top = tl.max(most, 0)
    total = tl.sum(total * tl.exp(most - top), 0)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        inside = at < columns
        kept = inside
        if FORM == 2:
            kept &= tl.load(mask + row + at, mask=inside, other=0) != 0
        v = tl.load(x + row + at, mask=kept, other=-float("inf"), eviction_policy="evict_first") - top
        tl.store(y + row + at, v - tl.log(total) if FORM == 1 else tl.exp(v) / total, mask=inside)


class Cudnn:
    """cudnnSoftmaxForward over the rows of a matrix. Calls that fail raise what they return."""

    def __init__(self, dll):
        self.dll, self.handle = dll, C.c_void_p()
        self.call("cudnnCreate", C.byref(self.handle))

    def call(self, name, *arguments):
        status = getattr(self.dll, name)(*arguments)
        if status:
            raise RuntimeError(f"cuDNN: {name}: status {status}")

    def softmax(self, x, y, algorithm):
        """y = softmax(x): an image of `columns` channels for each row, normalised as an instance."""
        rows, columns = x.shape
        descriptor = C.c_void_p()
        self.call("cudnnCreateTensorDescriptor", C.byref(descriptor))
        self.call("cudnnSetTensor4dDescriptor", descriptor, 0, 0, rows, columns, 1, 1)  # NCHW, float
        one, zero = C.c_float(1), C.c_float(0)

        def run():
            self.call("cudnnSetStream", self.handle, C.c_void_p(torch.cuda.current_stream().cuda_stream))
            self.call("cudnnSoftmaxForward", self.handle, algorithm, 0, C.byref(one), descriptor, C.c_void_p(x.data_ptr()),
                      C.byref(zero), descriptor, C.c_void_p(y.data_ptr()))

        return run

    def version(self):
        self.dll.cudnnGetVersion.restype = C.c_size_t
        return f"cuDNN {self.dll.cudnnGetVersion()}"


def cudnn():
    """cuDNN, or None without it."""
    for path in (peer.file_of("cudnn"), "libcudnn.so.9"):
        try:
            return Cudnn(C.CDLL(path))
        except OSError:
            pass
    return None


def prepare(a):
    rows, columns = a.size
    torch.manual_seed(a.seed)
    x = torch.randn(rows, columns, device="cuda")
    mask = torch.rand(rows, columns, device="cuda") < 0.5
    eager, bytes_moved = {
        "softmax": (lambda x: torch.softmax(x, 1), 8),
        "log_softmax": (lambda x: torch.log_softmax(x, 1), 8),
        "masked_softmax": (lambda x: torch.softmax(x.masked_fill(~mask, float("-inf")), 1), 9),
    }[a.operator]
    want = eager(x.double()).float()
    y = torch.empty_like(x)

    def figure(name, run, result, library=None, note=""):
        def timed():
            y.fill_(float("nan"))
            run()
            right = torch.allclose(result(), want, rtol=1e-4, atol=1e-6, equal_nan=True)
            peer.figure(a, name, right, run, bytes=bytes_moved * rows * columns, library=library, note=note)
        return timed

    library = cudnn() if a.operator != "masked_softmax" else None  # cuDNN has no mask
    if library is not None and peer.wanted(a, "cudnn"):
        algorithm = 2 if a.operator == "log_softmax" else 1  # the log, the accurate one
        yield figure("cudnn", library.softmax(x, y, algorithm), lambda: y, library.version())
    if peer.wanted(a, "torch"):
        yield figure("torch", lambda: eager(x), lambda: eager(x))
    if peer.wanted(a, "torch_compile"):
        compiled = peer.compiled(eager)
        yield figure("torch_compile", lambda: compiled(x), lambda: compiled(x), note="torch.compile, mode max-autotune without graphs")
    form, by = {"softmax": 0, "log_softmax": 1, "masked_softmax": 2}[a.operator], f"Triton {triton.__version__}"
    bits, block = mask.view(torch.uint8), triton.next_power_of_2(columns)
    if block <= 1 << 17 and peer.wanted(a, "triton"):
        yield figure("triton", lambda: whole_rows[(rows,)](x, bits, y, columns, form, block), lambda: y, by, "a row on chip, autotuned")
    if peer.wanted(a, "triton_loops"):
        yield figure("triton_loops", lambda: rows_in_loops[(rows,)](x, bits, y, columns, form), lambda: y, by, "a row in blocks, read twice, autotuned")


peer.serve(prepare)
