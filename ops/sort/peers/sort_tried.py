"""Peers of sort in Python, all of which were tried and lost to CUB's radix sort of sort.cu, and run by name alone:
torch_sort (torch.sort of int32, which also writes int64 places) and cupy_sort (cupy.sort, which calls Thrust). thrust::sort is
CUB's radix sort, with an allocation and a wait in each call. Triton has tl.sort within a block alone.
"""

import torch

import peer


def prepare(a):
    (n,) = a.size
    if a.operator not in ("sort", "sort_i32"):
        return
    torch.manual_seed(a.seed)
    x = torch.randint(1 << 31, (n,), device="cuda").int()
    want = torch.sort(x).values

    def figure(name, run, note, library=None):
        def timed():
            peer.figure(a, name, torch.equal(run(), want), run, bytes=8 * n, note=note, library=library)
        return timed

    if peer.tried(a, "torch_sort"):
        yield figure("torch_sort", lambda: torch.sort(x).values, "torch.sort, with places of int64")
    if peer.tried(a, "cupy_sort"):
        import cupy
        u = cupy.from_dlpack(x)
        yield figure("cupy_sort", peer.by_cupy(lambda: torch.from_dlpack(cupy.sort(u))), "cupy.sort", f"cupy {cupy.__version__}")


peer.serve(prepare)
