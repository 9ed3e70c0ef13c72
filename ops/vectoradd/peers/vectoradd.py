"""Peers of vectoradd: z = x + y, float32.

Timed beside ours: torch.add into memory of the caller's, torch.compile, and Triton.
Tried and lost, run by name alone: cupy_add (cupy.add into memory of the caller's). cuBLAS has y = a x + y alone, in place.
"""

import torch
import triton
import triton.language as tl

import peer


@triton.autotune([triton.Config({"BLOCK": block}, num_warps=warps) for block in (512, 1024, 2048, 4096, 8192) for warps in (4, 8)], key=["n"])
@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


def prepare(a):
    (n,) = a.size
    torch.manual_seed(a.seed)
    x, y = torch.rand(n, device="cuda"), torch.rand(n, device="cuda")
    z, want = torch.empty_like(x), x + y

    def by_triton():
        add[lambda c: (triton.cdiv(n, c["BLOCK"]),)](x, y, z, n)

    def figure(name, run, result, note="", library=None):
        def timed():
            z.fill_(float("nan"))
            run()
            peer.figure(a, name, torch.equal(result(), want), run, bytes=12 * n, note=note, library=library)
        return timed

    if peer.wanted(a, "torch_add"):
        yield figure("torch_add", lambda: torch.add(x, y, out=z), lambda: z)
    if peer.wanted(a, "torch_compile"):
        compiled = peer.compiled(lambda x, y: x + y)
        yield figure("torch_compile", lambda: compiled(x, y), lambda: compiled(x, y),
                     "torch.compile(x + y), mode max-autotune without graphs")
    if peer.wanted(a, "triton"):
        yield figure("triton", by_triton, lambda: z, "a block of elements, autotuned", f"Triton {triton.__version__}")
    if peer.tried(a, "cupy_add"):
        import cupy
        u, v, w = (cupy.from_dlpack(t) for t in (x, y, z))
        yield figure("cupy_add", peer.by_cupy(lambda: cupy.add(u, v, out=w)), lambda: z, "cupy.add(x, y, out=z)", f"cupy {cupy.__version__}")


peer.serve(prepare)
