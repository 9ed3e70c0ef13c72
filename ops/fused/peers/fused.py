"""Peers of fused and fused_half: y = (x + bias) * mask * 0.5 + add.

Timed beside ours: torch.compile of the formula, Triton, and torch operation by operation.
Tried and lost, run by name alone: cupy_fuse (cupy.fuse of the formula).
"""

import torch
import triton
import triton.language as tl

import peer


@triton.autotune([triton.Config({"BLOCK": block}, num_warps=warps) for block in (512, 1024, 2048, 4096) for warps in (4, 8)], key=["n", "columns"])
@triton.jit
def blocks(x, bias, mask, add, y, n, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.load(mask + at, mask=at < n, other=0) != 0
    v = tl.load(x + at, mask=at < n).to(tl.float32) + tl.load(bias + at % columns, mask=at < n).to(tl.float32)
    v = tl.where(kept, v, 0.0) * 0.5 + tl.load(add + at, mask=at < n).to(tl.float32)
    tl.store(y + at, v.to(y.dtype.element_ty), mask=at < n)


def formula(x, bias, mask, add):
    return (x + bias) * mask * 0.5 + add


def prepare(a):
    rows, columns = a.size
    n = rows * columns
    torch.manual_seed(a.seed)
    kind = torch.float32 if a.operator == "fused" else torch.float16
    x, add = (torch.rand(rows, columns, device="cuda", dtype=kind) for _ in range(2))
    bias = torch.rand(columns, device="cuda", dtype=kind)
    mask = torch.rand(rows, columns, device="cuda") < 0.5  # one byte each, 0 or 1
    y = torch.empty_like(x)
    bytes = n * (3 * x.element_size() + 1) + columns * x.element_size()

    def by_triton():
        blocks[lambda c: (triton.cdiv(n, c["BLOCK"]),)](x, bias, mask.view(torch.uint8), add, y, n, columns)
        return y

    def right(got):  # in slices: in float64 the whole would not fit
        return all(torch.allclose(got[r:r + 4096].double(), formula(x[r:r + 4096].double(), bias.double(), mask[r:r + 4096], add[r:r + 4096].double()),
                                  rtol=0, atol=1e-6 if kind == torch.float32 else 2**-8) for r in range(0, rows, 4096))

    def figure(name, run, note, library=None):
        return lambda: peer.figure(a, name, right(run()), run, bytes=bytes, note=note, library=library)

    if peer.wanted(a, "torch_eager"):
        yield figure("torch_eager", lambda: formula(x, bias, mask, add), "(x + bias) * mask * 0.5 + add, a kernel for each operation; results are allocated in each run")
    if peer.wanted(a, "torch_compile"):
        compiled = peer.compiled(formula)
        yield figure("torch_compile", lambda: compiled(x, bias, mask, add), "torch.compile of the formula, mode max-autotune without graphs; the result is allocated in each run")
    if peer.wanted(a, "triton"):
        yield figure("triton", by_triton, "a block of elements, autotuned", f"Triton {triton.__version__}")
    if peer.tried(a, "cupy_fuse"):
        import cupy
        fused = cupy.fuse(lambda x, bias, mask, add: (x + bias) * mask * x.dtype.type(0.5) + add)
        of = [cupy.from_dlpack(t) for t in (x, bias, mask.view(torch.uint8), add)]
        of[2] = of[2].view(cupy.bool_)
        yield figure("cupy_fuse", peer.by_cupy(lambda: torch.from_dlpack(fused(*of))), "cupy.fuse of the formula; the result is allocated in each run", f"cupy {cupy.__version__}")


peer.serve(prepare)
