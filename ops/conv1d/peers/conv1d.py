"""Peers of conv1d: y[i] = sum of x[i + j - k // 2] mask[j], float32, one channel.

Timed beside ours: torch (eager), torch.compile, two Triton kernels: triton adds tap by tap, triton_toeplitz multiplies by a
band matrix on tensor cores with TF32 three times, which is as exact as float32.
Tried and lost, run by name alone: torch_fft (torch.fft.rfft and irfft), torch_mv (a strided view times the taps).
On an H200, 2^26 elements and 9 taps, us: triton_toeplitz 218.7, triton 323, torch_compile 819, torch 956 with a pad of its own,
torch_mv 4878, torch_fft 5194 of the next power of two.
"""

import torch
import triton
import triton.language as tl

import peer


@triton.autotune([triton.Config({"BLOCK": block}, num_warps=warps) for block in (1024, 2048, 4096) for warps in (4, 8)], key=["n", "K"])
@triton.jit
def taps(x, mask, y, n, left, K: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    if K <= 16:
        for j in tl.static_range(K):
            at = i + (j - left)
            total += tl.load(x + at, mask=(at >= 0) & (at < n), other=0.0) * tl.load(mask + j)
    else:  # unrolled, many taps take minutes to compile
        for j in range(K):
            at = i + (j - left)
            total += tl.load(x + at, mask=(at >= 0) & (at < n), other=0.0) * tl.load(mask + j)
    tl.store(y + i, total, mask=i < n)


@triton.autotune([triton.Config({"ROWS": rows, "WIDTH": width}, num_warps=warps)
                  for rows, width, warps in ((64, 32, 4), (64, 32, 8), (128, 16, 8), (128, 32, 8), (64, 64, 8), (128, 64, 8))], key=["n", "K"])
@triton.jit
def toeplitz(x, mask, y, n, left, K: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """WIDTH neighbours are a row of y: the row of x around them times a band of taps."""
    STEP: tl.constexpr = 32
    i = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)) * WIDTH
    j = tl.arange(0, WIDTH)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for first in tl.static_range(0, WIDTH + K - 1, STEP):
        c = first + tl.arange(0, STEP)
        at = i[:, None] + c[None, :] - left
        a = tl.load(x + at, mask=(at >= 0) & (at < n), other=0.0)
        tap = c[:, None] - j[None, :]
        b = tl.load(mask + tap, mask=(tap >= 0) & (tap < K), other=0.0)
        total = tl.dot(a, b, total, input_precision="tf32x3")
    at = i[:, None] + j[None, :]
    tl.store(y + at, total, mask=at < n)


def prepare(a):
    n, k = a.size
    torch.manual_seed(a.seed)
    torch.backends.cudnn.benchmark, torch.backends.cudnn.allow_tf32 = True, False
    x, mask = torch.rand(1, 1, n, device="cuda"), torch.rand(1, 1, k, device="cuda")
    if a.operator == "convolution1d":
        mask = mask.flip(2)  # torch correlates
    left = k // 2
    y = torch.empty_like(x)

    def eager(x, mask):
        if k % 2:
            return torch.nn.functional.conv1d(x, mask, padding=left)
        return torch.nn.functional.conv1d(torch.nn.functional.pad(x, (left, k - 1 - left)), mask)

    length = n + k - 1  # of the FFT: the next multiple of 2^12 whose other factors are 2, 3, 5 and 7
    length = next(4096 * m for m in range(-(-length // 4096), length) if pow(210, 64, m) == 0)

    def fft():
        product = torch.fft.rfft(x[0, 0], length) * torch.fft.rfft(mask[0, 0].flip(0), length)
        return torch.fft.irfft(product, length)[k - 1 - left : k - 1 - left + n].view(1, 1, n)

    def mv():
        return torch.mv(torch.nn.functional.pad(x[0, 0], (left, k - 1 - left)).unfold(0, k, 1), mask[0, 0]).view(1, 1, n)

    def by_taps():
        taps[lambda c: (triton.cdiv(n, c["BLOCK"]),)](x, mask, y, n, left, k)
        return y

    def by_toeplitz():
        toeplitz[lambda c: (triton.cdiv(n, c["ROWS"] * c["WIDTH"]),)](x, mask, y, n, left, k)
        return y

    want = eager(x.double(), mask.double()).float()

    def figure(name, run, note, library=None):
        def timed():
            y.fill_(float("nan"))
            right = torch.allclose(run(), want, rtol=1e-4, atol=1e-6)
            peer.figure(a, name, right, run, bytes=4 * (2 * n + k), flops=2 * n * k, note=note, library=library)
        return timed

    if peer.wanted(a, "torch"):
        yield figure("torch", lambda: eager(x, mask), "torch.nn.functional.conv1d, float32 without TF32, cudnn.benchmark")
    if peer.wanted(a, "torch_compile"):
        compiled = peer.compiled(eager)
        yield figure("torch_compile", lambda: compiled(x, mask), "torch.compile of the same, mode max-autotune without graphs")
    if peer.wanted(a, "triton"):
        yield figure("triton", by_taps, "a block of outputs, tap by tap, autotuned", f"Triton {triton.__version__}")
    if peer.wanted(a, "triton_toeplitz"):
        yield figure("triton_toeplitz", by_toeplitz, "a band matrix by tl.dot, tf32x3, autotuned", f"Triton {triton.__version__}")
    if peer.tried(a, "torch_fft"):
        yield figure("torch_fft", fft, "torch.fft.rfft, a product, torch.fft.irfft")
    if peer.tried(a, "torch_mv"):
        yield figure("torch_mv", mv, "torch.mv of a strided view")


peer.serve(prepare)
