"""Peers of softmax, its logarithm and its masked form: cuDNN, torch, and what torch.compile makes of it."""

import ctypes as C
import glob
import sys

import torch

import peer


class Cudnn:
    """cudnnSoftmaxForward over the rows of a matrix. Calls that fail raise what they return."""

    def __init__(self, dll):
        self.dll, self.handle = dll, C.c_void_p()
        self.call("cudnnCreate", C.byref(self.handle))

    def call(self, name, *arguments):
        status = getattr(self.dll, name)(*arguments)
        if status:
            raise RuntimeError(f"cuDNN: {name}: status {status}")

    def softmax(self, x, y, algorithm):
        """y = softmax(x): an image of `columns` channels for each row, normalised as an instance."""
        rows, columns = x.shape
        descriptor = C.c_void_p()
        self.call("cudnnCreateTensorDescriptor", C.byref(descriptor))
        self.call("cudnnSetTensor4dDescriptor", descriptor, 0, 0, rows, columns, 1, 1)  # NCHW, float
        one, zero = C.c_float(1), C.c_float(0)

        def run():
            self.call("cudnnSetStream", self.handle, C.c_void_p(torch.cuda.current_stream().cuda_stream))
            self.call("cudnnSoftmaxForward", self.handle, algorithm, 0, C.byref(one), descriptor, C.c_void_p(x.data_ptr()),
                      C.byref(zero), descriptor, C.c_void_p(y.data_ptr()))

        return run

    def version(self):
        self.dll.cudnnGetVersion.restype = C.c_size_t
        return f"cuDNN {self.dll.cudnnGetVersion()}"


def cudnn():
    """cuDNN, or None without it."""
    found = [p for d in sys.path for p in glob.glob(d + "/nvidia/**/libcudnn.so.*", recursive=True)]
    for path in found + ["libcudnn.so.9"]:
        try:
            return Cudnn(C.CDLL(path))
        except OSError:
            pass
    return None


def prepare(a):
    rows, columns = a.size
    torch.manual_seed(a.seed)
    x = torch.randn(rows, columns, device="cuda")
    mask = torch.rand(rows, columns, device="cuda") < 0.5
    eager, bytes_moved = {
        "softmax": (lambda x: torch.softmax(x, 1), 8),
        "log_softmax": (lambda x: torch.log_softmax(x, 1), 8),
        "masked_softmax": (lambda x: torch.softmax(x.masked_fill(~mask, float("-inf")), 1), 9),
    }[a.operator]
    want = eager(x.double()).float()
    y = torch.empty_like(x)

    def figure(name, run, result, library=None, note=""):
        def timed():
            y.fill_(float("nan"))
            run()
            right = torch.allclose(result(), want, rtol=1e-4, atol=1e-6, equal_nan=True)
            peer.figure(a, name, right, run, bytes=bytes_moved * rows * columns, library=library, note=note)
        return timed

    library = cudnn() if a.operator != "masked_softmax" else None  # cuDNN has no mask
    if library is not None and peer.wanted(a, "cudnn"):
        algorithm = 2 if a.operator == "log_softmax" else 1  # the log, the accurate one
        yield figure("cudnn", library.softmax(x, y, algorithm), lambda: y, library.version())
    if peer.wanted(a, "torch"):
        yield figure("torch", lambda: eager(x), lambda: eager(x))
    if peer.wanted(a, "torch_compile"):
        torch.compiler.reset()  # what it has made for another size would be made for any
        compiled = torch.compile(eager, mode="max-autotune-no-cudagraphs")
        yield figure("torch_compile", lambda: compiled(x), lambda: compiled(x), note="torch.compile, mode max-autotune without graphs")


peer.serve(prepare)
