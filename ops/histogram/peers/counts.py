"""Peers of histogram and histogram_u8 in Python: counts of values from 0 to bins - 1.

Timed beside ours, with CUB of histogram.cu and bytes.cu: torch.bincount, torch.histc (of int32, whose counts fit), and Triton:
tl.histogram of blocks up to 1024 bins, whose compiler takes minutes beyond, and atomics to memory for more.
Tried and lost, run by name alone: torch_scatter (scatter_add_ of ones), cupy_bincount. Thrust has no histogram; a sort and
upper bounds cost a sort, which is slower than all of these. On an H200, 2^28 values, us, of 256 and
65 536 bins: CUB 616 and 10 800, triton 798 and 2913, torch_histc 1265 and 2915, torch_bincount 2100 and 3460, cupy_bincount 3300
and 15 700, torch_scatter 69 200 and 3018.
"""

import torch
import triton
import triton.language as tl

import peer


@triton.autotune([triton.Config({"BLOCK": block, "TURNS": turns}, num_warps=warps) for block in (1024, 2048) for turns in (16, 64) for warps in (4, 8)],
                 key=["n", "BINS"], reset_to_zero=["counts"])
@triton.jit
def blocks(x, counts, n, BINS: tl.constexpr, BLOCK: tl.constexpr, TURNS: tl.constexpr):
    total = tl.zeros((BINS,), tl.int32)
    for t in range(TURNS):
        at = (tl.program_id(0) * TURNS + t) * BLOCK + tl.arange(0, BLOCK)
        total += tl.histogram(tl.load(x + at, mask=at < n, other=0).to(tl.int32), BINS, mask=at < n)
    tl.atomic_add(counts + tl.arange(0, BINS), total, sem="relaxed")


@triton.autotune([triton.Config({"BLOCK": block}, num_warps=warps) for block in (1024, 2048, 4096) for warps in (4, 8)], key=["n"], reset_to_zero=["counts"])
@triton.jit
def atomics(x, counts, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(counts + tl.load(x + at, mask=at < n, other=0).to(tl.int32), 1, mask=at < n, sem="relaxed")


def prepare(a):
    (n,) = a.size
    bins = int(a.set.get("bins", 256))
    torch.manual_seed(a.seed)
    kind = torch.uint8 if a.operator == "histogram_u8" else torch.int32
    x = torch.randint(bins, (n,), device="cuda", dtype=torch.int32).to(kind)
    want = sum(torch.bincount(part, minlength=bins) for part in x.split(1 << 24))
    counts = torch.empty(bins, dtype=torch.int32, device="cuda")

    def by_triton():
        counts.zero_()
        if bins <= 1024 and bins & (bins - 1) == 0:
            blocks[lambda c: (triton.cdiv(n, c["BLOCK"] * c["TURNS"]),)](x, counts, n, bins)
        else:
            atomics[lambda c: (triton.cdiv(n, c["BLOCK"]),)](x, counts, n)
        return counts

    def figure(name, run, note, library=None, waits=False):
        def timed():
            right = torch.equal(run().long(), want)
            peer.figure(a, name, right, run, bytes=x.element_size() * n, note=f"{note}, {bins} bins", library=library, waits=waits)
        return timed

    if peer.wanted(a, "torch_bincount"):
        yield figure("torch_bincount", lambda: torch.bincount(x, minlength=bins), "torch.bincount", waits=True)
    if kind == torch.int32 and peer.wanted(a, "torch_histc"):
        yield figure("torch_histc", lambda: torch.histc(x, bins, 0, bins), "torch.histc")
    if peer.wanted(a, "triton"):
        yield figure("triton", by_triton, "counts set to 0, then tl.histogram of blocks or atomics, autotuned", f"Triton {triton.__version__}")
    if peer.tried(a, "torch_scatter"):
        ones, wide = torch.ones(1, dtype=torch.int32, device="cuda").expand(n), x.long()  # which takes no int32
        yield figure("torch_scatter", lambda: torch.zeros_like(counts).scatter_add_(0, wide, ones), "scatter_add_ of ones by int64 values")
    if peer.tried(a, "cupy_bincount"):
        import cupy
        numbers = cupy.from_dlpack(x)
        yield figure("cupy_bincount", peer.by_cupy(lambda: torch.from_dlpack(cupy.bincount(numbers, minlength=bins))), "cupy.bincount", f"cupy {cupy.__version__}", waits=True)


peer.serve(prepare)
