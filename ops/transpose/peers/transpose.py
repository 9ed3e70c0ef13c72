"""Peers of transpose: the transposed copy of a matrix, float32.

Timed beside ours: cublasSgeam, torch's copy of a transposed view, torch.compile, and Triton.
Tried and lost, run by name alone: cupy_transpose (cupy.copyto of a transposed view). On an H200, 4096 x 4096, us:
torch_compile 35.3, triton 35.9, cublas_sgeam 38.0, cupy_transpose 123, torch_copy 123.
"""

import ctypes as C

import torch
import triton
import triton.language as tl

import peer


@triton.autotune([triton.Config({"HEIGHT": height, "WIDTH": width}, num_warps=warps)
                  for height, width in ((32, 32), (64, 32), (32, 64), (64, 64), (128, 64), (64, 128)) for warps in (4, 8)], key=["rows", "columns"])
@triton.jit
def tiles(x, y, rows, columns, HEIGHT: tl.constexpr, WIDTH: tl.constexpr):
    r = tl.program_id(1).to(tl.int64) * HEIGHT + tl.arange(0, HEIGHT)
    c = tl.program_id(0).to(tl.int64) * WIDTH + tl.arange(0, WIDTH)
    tile = tl.load(x + r[:, None] * columns + c[None, :], mask=(r[:, None] < rows) & (c[None, :] < columns))
    tl.store(y + c[:, None] * rows + r[None, :], tl.trans(tile), mask=(c[:, None] < columns) & (r[None, :] < rows))


def cublas():
    """cuBLAS, or None without it."""
    for path in (peer.file_of("cublas"), "libcublas.so.13", "libcublas.so.12"):
        try:
            return C.CDLL(path)
        except OSError:
            pass
    return None


def geam(library, x, y):
    """b = a^T by cublasSgeam, which works column by column: its matrices are the transposed ones of ours."""
    rows, columns = x.shape
    one, zero = C.c_float(1), C.c_float(0)
    a, b = C.c_void_p(x.data_ptr()), C.c_void_p(y.data_ptr())

    def run():
        handle = C.c_void_p(torch.cuda.current_blas_handle())
        status = library.cublasSgeam(handle, 1, 0, rows, columns, C.byref(one), a, columns, C.byref(zero), b, rows, b, rows)
        if status:
            raise RuntimeError(f"cuBLAS: cublasSgeam: status {status}")

    return run


def prepare(a):
    rows, columns = a.size
    torch.manual_seed(a.seed)
    x = torch.rand(rows, columns, device="cuda")
    want = x.t().contiguous()
    y = torch.empty_like(want)
    library = cublas()

    def by_triton():
        tiles[lambda c: (triton.cdiv(columns, c["WIDTH"]), triton.cdiv(rows, c["HEIGHT"]))](x, y, rows, columns)

    def figure(name, run, result, note="", library=None):
        def timed():
            y.fill_(float("nan"))
            run()
            peer.figure(a, name, torch.equal(result(), want), run, bytes=8 * rows * columns, note=note, library=library)
        return timed

    if library is not None and peer.wanted(a, "cublas_sgeam"):
        yield figure("cublas_sgeam", geam(library, x, y), lambda: y)
    if peer.wanted(a, "torch_copy"):
        yield figure("torch_copy", lambda: y.copy_(x.t()), lambda: y)
    if peer.wanted(a, "torch_compile"):
        compiled = peer.compiled(lambda x: x.t().contiguous())
        yield figure("torch_compile", lambda: compiled(x), lambda: compiled(x),
                     "torch.compile(x.t().contiguous()), mode max-autotune without graphs")
    if peer.wanted(a, "triton"):
        yield figure("triton", by_triton, lambda: y, "a tile, by tl.trans, autotuned", f"Triton {triton.__version__}")
    if peer.tried(a, "cupy_transpose"):
        import cupy
        u, v = cupy.from_dlpack(x), cupy.from_dlpack(y)
        yield figure("cupy_transpose", peer.by_cupy(lambda: cupy.copyto(v, u.T)), lambda: y, "cupy.copyto(y, x.T)", f"cupy {cupy.__version__}")


peer.serve(prepare)
