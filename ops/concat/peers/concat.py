"""Peers of concat: the parts side by side in each row, float32.

Timed beside ours: torch.cat into memory of the caller's, torch.compile, Triton, and a copy of as many bytes (a limit, not the
operator).
Tried and lost, run by name alone: torch_slices (a strided copy_ of each part), cuda_memcpy2d (cudaMemcpy2DAsync of each part).
"""

import ctypes as C

import torch
import triton
import triton.language as tl

import peer


@triton.autotune([triton.Config({"BLOCK": block}, num_warps=warps) for block in (512, 1024, 2048, 4096) for warps in (4, 8)], key=["left", "right"])
@triton.jit
def rows_of_two(x, y, z, left, right, BLOCK: tl.constexpr):
    row, block = tl.program_id(1).to(tl.int64), tl.program_id(0)
    of_left = tl.cdiv(left, BLOCK)
    if block < of_left:
        at = block * BLOCK + tl.arange(0, BLOCK)
        tl.store(z + row * (left + right) + at, tl.load(x + row * left + at, mask=at < left), mask=at < left)
    else:
        at = (block - of_left) * BLOCK + tl.arange(0, BLOCK)
        tl.store(z + row * (left + right) + left + at, tl.load(y + row * right + at, mask=at < right), mask=at < right)


def prepare(a):
    rows, *widths = a.size
    torch.manual_seed(a.seed)
    parts = [torch.rand(rows, w, device="cuda") for w in widths]
    want = torch.cat(parts, dim=1)
    y, bytes = torch.empty_like(want), 8 * want.numel()

    def by_triton():
        rows_of_two[lambda c: (triton.cdiv(widths[0], c["BLOCK"]) + triton.cdiv(widths[1], c["BLOCK"]), rows)](*parts, y, *widths)

    def slices():
        at = 0
        for part, width in zip(parts, widths):
            y[:, at : at + width].copy_(part)
            at += width

    def memcpy2d():
        at, stream = 0, C.c_void_p(torch.cuda.current_stream().cuda_stream)
        for part, width in zip(parts, widths):
            to = C.c_void_p(y.data_ptr() + 4 * at)
            status = runtime.cudaMemcpy2DAsync(to, C.c_size_t(4 * want.shape[1]), C.c_void_p(part.data_ptr()), C.c_size_t(4 * width),
                                               C.c_size_t(4 * width), C.c_size_t(rows), 3, stream)  # 3: from device to device
            if status:
                raise RuntimeError(f"cudaMemcpy2DAsync: status {status}")
            at += width

    def figure(name, run, note, library=None):
        def timed():
            y.fill_(float("nan"))
            run()
            peer.figure(a, name, torch.equal(y, want), run, bytes=bytes, note=note, library=library)
        return timed

    if peer.wanted(a, "torch_cat"):
        yield figure("torch_cat", lambda: torch.cat(parts, dim=1, out=y), "torch.cat(dim=1) of the rows, into memory of the caller's")
    if peer.wanted(a, "torch_compile"):
        compiled = peer.compiled(lambda *parts: torch.cat(parts, dim=1))
        yield lambda: peer.figure(a, "torch_compile", torch.equal(compiled(*parts), want), lambda: compiled(*parts), bytes=bytes,
                                  note="torch.compile(torch.cat(dim=1)), mode max-autotune without graphs; the result is allocated in each run")
    if len(parts) == 2 and rows < 1 << 16 and peer.wanted(a, "triton"):
        yield figure("triton", by_triton, "a block of a part's row, autotuned", f"Triton {triton.__version__}")
    if peer.wanted(a, "limit_copy"):
        yield figure("limit_copy", lambda: y.copy_(want), "a copy of the joined tensor: as many bytes in order")
    if peer.tried(a, "torch_slices"):
        yield figure("torch_slices", slices, "y[:, ...].copy_(part) of each part")
    if peer.tried(a, "cuda_memcpy2d"):
        runtime = C.CDLL(peer.file_of("cudart"))
        yield figure("cuda_memcpy2d", memcpy2d, "cudaMemcpy2DAsync of each part", "CUDA's runtime")


peer.serve(prepare)
