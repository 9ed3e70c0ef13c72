"""Peers of cumsum: inclusive sums along each row of a matrix, float32.

Timed beside ours: torch.cumsum, torch.compile, and Triton: tl.cumsum of a row.
Tried and lost, run by name alone: cupy_cumsum (cupy.cumsum along the rows). CUB has no segmented scan; its scan by key needs
keys, which are twice the bytes. On an H200, 8192 x 8192, us: triton 131.8, torch_compile 138.3, torch 409, cupy_cumsum 1583.
"""

import torch
import triton
import triton.language as tl

import peer


@triton.autotune([triton.Config({}, num_warps=warps) for warps in (4, 8, 16, 32)], key=["columns"])
@triton.jit
def rows_of_sums(x, y, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * columns + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < columns
    tl.store(y + at, tl.cumsum(tl.load(x + at, mask=inside, other=0.0), 0), mask=inside)


def prepare(a):
    rows, columns = a.size
    torch.manual_seed(a.seed)
    x = torch.rand(rows, columns, device="cuda")
    y, block = torch.empty_like(x), triton.next_power_of_2(columns)
    want = x.double().cumsum(1)

    def by_triton():
        rows_of_sums[(rows,)](x, y, columns, block)
        return y

    def figure(name, run, note="", library=None):
        def timed():
            y.fill_(float("nan"))
            right = torch.allclose(run().double(), want, rtol=1e-3, atol=0)
            peer.figure(a, name, right, run, bytes=8 * rows * columns, note=note, library=library)
        return timed

    if peer.wanted(a, "torch"):
        yield figure("torch", lambda: torch.cumsum(x, 1))
    if peer.wanted(a, "torch_compile"):
        compiled = peer.compiled(lambda x: torch.cumsum(x, 1))
        yield figure("torch_compile", lambda: compiled(x), "torch.compile, mode max-autotune without graphs")
    if block <= 1 << 16 and peer.wanted(a, "triton"):
        yield figure("triton", by_triton, "tl.cumsum of a row, autotuned", f"Triton {triton.__version__}")
    if peer.tried(a, "cupy_cumsum"):
        import cupy
        u, v = cupy.from_dlpack(x), cupy.from_dlpack(y)
        yield figure("cupy_cumsum", peer.by_cupy(lambda: torch.from_dlpack(cupy.cumsum(u, axis=1, out=v))), "cupy.cumsum(axis=1)", f"cupy {cupy.__version__}")


peer.serve(prepare)
