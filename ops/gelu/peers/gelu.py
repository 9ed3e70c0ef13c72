"""Peers of gelu and gelu_erf: float16, in the form of the operator.

Timed beside ours: torch.nn.functional.gelu, torch.compile, and Triton.
Tried and lost: none. cuBLASLt has GELU as the epilogue of a product alone; cuDNN has it in graphs of its own interface, which
torch does not reach; cupy has none.
"""

import torch
import triton
import triton.language as tl

import peer


@triton.autotune([triton.Config({"BLOCK": block}, num_warps=warps) for block in (512, 1024, 2048, 4096, 8192) for warps in (4, 8)], key=["n", "ERF"])
@triton.jit
def gelu_blocks(x, y, n, ERF: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n).to(tl.float32)
    if ERF:
        result = 0.5 * v * (1 + tl.erf(v * 0.7071067811865476))
    else:  # (1 + tanh(z)) / 2 is the sigmoid of 2 z
        result = v * tl.sigmoid(1.5957691216057308 * (v + 0.044715 * v * v * v))
    tl.store(y + at, result.to(tl.float16), mask=at < n)


def prepare(a):
    (n,) = a.size
    torch.manual_seed(a.seed)
    x = torch.randn(n, device="cuda", dtype=torch.float16)
    y = torch.empty_like(x)
    form = "tanh" if a.operator == "gelu" else "none"
    want = torch.nn.functional.gelu(x.double(), approximate=form)

    def figure(name, run, note, library=None):
        def timed():
            y.fill_(float("nan"))
            right = torch.allclose(run().double(), want, rtol=2**-10, atol=2**-12)
            peer.figure(a, name, right, run, bytes=4 * n, note=note, library=library)
        return timed

    def gelu(x):
        return torch.nn.functional.gelu(x, approximate=form)

    def by_triton():
        gelu_blocks[lambda c: (triton.cdiv(n, c["BLOCK"]),)](x, y, n, form == "none")
        return y

    if peer.wanted(a, "torch_gelu"):
        yield figure("torch_gelu", lambda: gelu(x), f"gelu(x, approximate='{form}'); the result is allocated in each run")
    if peer.wanted(a, "torch_compile"):
        compiled = peer.compiled(gelu)
        yield figure("torch_compile", lambda: compiled(x), f"torch.compile(gelu(x, approximate='{form}')), mode max-autotune without graphs")
    if peer.wanted(a, "triton"):
        yield figure("triton", by_triton, "a block of elements, autotuned", f"Triton {triton.__version__}")


peer.serve(prepare)
