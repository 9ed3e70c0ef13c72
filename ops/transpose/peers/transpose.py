"""Peers of transpose: cublasSgeam, torch's copy of a transposed view, and what torch.compile makes of it."""

import ctypes as C
import glob
import sys

import torch

import peer


def cublas():
    """cuBLAS, or None without it."""
    found = [p for d in sys.path for p in glob.glob(d + "/nvidia/**/libcublas.so.*", recursive=True)]
    for path in found + ["libcublas.so.13", "libcublas.so.12"]:
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

    def figure(name, run, result, note=""):
        def timed():
            y.fill_(float("nan"))
            run()
            peer.figure(a, name, torch.equal(result(), want), run, bytes=8 * rows * columns, note=note)
        return timed

    if library is not None and peer.wanted(a, "cublas_sgeam"):
        yield figure("cublas_sgeam", geam(library, x, y), lambda: y)
    if peer.wanted(a, "torch_copy"):
        yield figure("torch_copy", lambda: y.copy_(x.t()), lambda: y)
    if peer.wanted(a, "torch_compile"):
        torch.compiler.reset()  # what it has made for another size would be made for any
        compiled = torch.compile(lambda x: x.t().contiguous(), mode="max-autotune-no-cudagraphs")
        yield figure("torch_compile", lambda: compiled(x), lambda: compiled(x),
                     "torch.compile(x.t().contiguous()), mode max-autotune without graphs")


peer.serve(prepare)
