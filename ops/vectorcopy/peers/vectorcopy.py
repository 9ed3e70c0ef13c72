"""Peers of vectorcopy: y = x, float32.

Timed beside ours: Tensor.copy_ into memory of the caller's (cudaMemcpyAsync), torch.compile of a clone, and Triton.
Tried and lost: none. cupy.copyto is the same cudaMemcpyAsync.
"""

import torch
import triton
import triton.language as tl

import peer


@triton.autotune([triton.Config({"BLOCK": block}, num_warps=warps) for block in (512, 1024, 2048, 4096, 8192) for warps in (4, 8)], key=["n"])
@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)


def prepare(a):
    (n,) = a.size
    torch.manual_seed(a.seed)
    x = torch.rand(n, device="cuda")
    y = torch.empty_like(x)

    def by_triton():
        copy[lambda c: (triton.cdiv(n, c["BLOCK"]),)](x, y, n)

    def figure(name, run, result, note="", library=None):
        def timed():
            y.fill_(float("nan"))
            run()
            peer.figure(a, name, torch.equal(result(), x), run, bytes=8 * n, note=note, library=library)
        return timed

    if peer.wanted(a, "torch_copy"):
        yield figure("torch_copy", lambda: y.copy_(x), lambda: y)
    if peer.wanted(a, "torch_compile"):
        compiled = peer.compiled(lambda x: x.clone())
        yield figure("torch_compile", lambda: compiled(x), lambda: compiled(x),
                     "torch.compile(x.clone()), mode max-autotune without graphs")
    if peer.wanted(a, "triton"):
        yield figure("triton", by_triton, lambda: y, "a block of elements, autotuned", f"Triton {triton.__version__}")


peer.serve(prepare)
