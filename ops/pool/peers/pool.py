"""Peers of pooling: windows of 3 x 3 in steps of 2, padded by 1, of planes (NCHW), float32. A maximum comes with its place; of
channels innermost (NHWC, maxpool_nhwc) it comes without.

Timed beside ours: torch, torch.compile, and Triton, whose places are int32 as ours are. Channels innermost are torch's
channels_last, of which torch.compile took 34.1 us on an H200 at 32 x 64 x 112 x 112.
Tried and lost: none. cuDNN's pooling returns no places. On an H200, 2048 x 112 x 112, us: triton
50.6, torch_compile 58, torch 102.
"""

import torch
import triton
import triton.language as tl

import peer


@triton.autotune([triton.Config({"BLOCK": block}, num_warps=warps) for block in (128, 256, 512, 1024) for warps in (4, 8)],
                 key=["h", "w", "MAXIMUM"])
@triton.jit
def windows(x, y, index, h, w, oh, ow, MAXIMUM: tl.constexpr, BLOCK: tl.constexpr):
    plane, at = tl.program_id(1).to(tl.int64), tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row, column = at // ow * 2 - 1, at % ow * 2 - 1
    best, place = tl.full((BLOCK,), -float("inf"), tl.float32), tl.zeros((BLOCK,), tl.int32)
    total = tl.zeros((BLOCK,), tl.float32)
    for i in tl.static_range(3):
        for j in tl.static_range(3):
            r, c = row + i, column + j
            inside = (r >= 0) & (r < h) & (c >= 0) & (c < w) & (at < oh * ow)
            v = tl.load(x + plane * h * w + r * w + c, mask=inside, other=-float("inf") if MAXIMUM else 0.0)
            if MAXIMUM:
                take = inside & ((v > best) | (v != v))
                best, place = tl.where(take, v, best), tl.where(take, r * w + c, place)
            else:
                total += v
    tl.store(y + plane * oh * ow + at, best if MAXIMUM else total / 9, mask=at < oh * ow)
    if MAXIMUM:
        tl.store(index + plane * oh * ow + at, place, mask=at < oh * ow)


@triton.autotune([triton.Config({"BLOCK": block}, num_warps=warps) for block in (256, 512, 1024, 2048) for warps in (4, 8)], key=["h", "w", "c"])
@triton.jit
def innermost(x, y, n, h, w, c, oh, ow, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    channel, column, row, image = at % c, at // c % ow * 2 - 1, at // c // ow % oh * 2 - 1, (at // c // ow // oh).to(tl.int64)
    best = tl.full((BLOCK,), -float("inf"), tl.float32)
    for i in tl.static_range(3):
        for j in tl.static_range(3):
            r, k = row + i, column + j
            inside = (r >= 0) & (r < h) & (k >= 0) & (k < w) & (at < n)
            v = tl.load(x + image * h * w * c + (r * w + k) * c + channel, mask=inside, other=-float("inf"))
            best = tl.where(inside & ((v > best) | (v != v)), v, best)
    tl.store(y + at, best, mask=at < n)


def prepare_innermost(a):
    images, h, w, channels = a.size
    torch.manual_seed(a.seed)
    x = torch.randn(images, channels, h, w, device="cuda").to(memory_format=torch.channels_last)
    eager = lambda x: torch.nn.functional.max_pool2d(x, 3, 2, 1)
    want = eager(x.double())
    y = torch.empty_like(want, dtype=torch.float32, memory_format=torch.channels_last)

    def by_triton():
        innermost[lambda c: (triton.cdiv(y.numel(), c["BLOCK"]),)](x, y, y.numel(), h, w, channels, *y.shape[2:])
        return y

    def figure(name, run, note, library=None):
        def timed():
            y.fill_(float("nan"))
            peer.figure(a, name, torch.equal(run().double(), want), run, bytes=4 * (x.numel() + y.numel()), note=note, library=library)
        return timed

    if peer.wanted(a, "torch"):
        yield figure("torch", lambda: eager(x), "torch.nn.functional.max_pool2d, channels last")
    if peer.wanted(a, "torch_compile"):
        compiled = peer.compiled(eager)
        yield figure("torch_compile", lambda: compiled(x), "torch.compile of the same, mode max-autotune without graphs")
    if y.numel() < 1 << 31 and peer.wanted(a, "triton"):
        yield figure("triton", by_triton, "a block of windows, neighbouring channels in neighbouring lanes, autotuned", f"Triton {triton.__version__}")


def prepare(a):
    if a.operator == "maxpool_nhwc":
        yield from prepare_innermost(a)
        return
    planes, h, w = a.size
    oh, ow = (h - 1) // 2 + 1, (w - 1) // 2 + 1
    torch.manual_seed(a.seed)
    x = torch.randn(1, planes, h, w, device="cuda")
    y, index = torch.empty(1, planes, oh, ow, device="cuda"), torch.empty(1, planes, oh, ow, dtype=torch.int32, device="cuda")
    maximum = a.operator == "maxpool"
    if maximum:
        eager, bytes = lambda x: torch.nn.functional.max_pool2d(x, 3, 2, 1, return_indices=True), 4 * x.numel() + 8 * y.numel()  # torch's indices are int64
    else:
        eager, bytes = lambda x: (torch.nn.functional.avg_pool2d(x, 3, 2, 1),), 4 * (x.numel() + y.numel())
    want = [t.to(torch.float64) for t in eager(x.double())]

    def by_triton():
        windows[lambda c: (triton.cdiv(oh * ow, c["BLOCK"]), planes)](x, y, index, h, w, oh, ow, maximum)
        return (y, index) if maximum else (y,)

    def figure(name, run, note, library=None):
        def timed():
            y.fill_(float("nan"))
            right = all(torch.allclose(t.double(), w, rtol=1e-5, atol=1e-6) for t, w in zip(run(), want))
            peer.figure(a, name, right, run, bytes=bytes, note=note, library=library)
        return timed

    if peer.wanted(a, "torch"):
        yield figure("torch", lambda: eager(x), "torch.nn.functional.max_pool2d with indices of int64, or avg_pool2d")
    if peer.wanted(a, "torch_compile"):
        compiled = peer.compiled(eager)
        yield figure("torch_compile", lambda: compiled(x), "torch.compile of the same, mode max-autotune without graphs")
    if planes < 1 << 16 and peer.wanted(a, "triton"):
        yield figure("triton", by_triton, "a block of windows of a plane, autotuned", f"Triton {triton.__version__}")


peer.serve(prepare)
