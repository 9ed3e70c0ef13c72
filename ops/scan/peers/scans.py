"""Peers of scan in Python: inclusive sums of a vector, float32, int32 or uint64, or exclusive ones.

Timed beside ours, with CUB of scan.cu: torch.compile of torch.cumsum (inclusive, float32), which is a Triton kernel with a
look-back where the vector is large.
torch (torch.cumsum) too, which is the fastest of small vectors.
Tried and lost, run by name alone: cupy_cumsum. thrust::inclusive_scan is CUB's, with an allocation and a
wait in each call; so is thrust::inclusive_scan_by_key. No other library here has a scan by key. On an H200, of 2^28, 2^20
and 2^14, us: torch_compile 545, 11.7 and 9 (wrong in one of five repetitions), CUB 690, 6.4 and 3.1, torch 844, 6.1 and 3.0,
cupy_cumsum 1958, 13 and 4.8.
"""

import torch

import peer


def prepare(a):
    (n,) = a.size
    if a.operator != "scan" or a.set.get("exclusive"):
        return
    torch.manual_seed(a.seed)
    x = torch.rand(n, device="cuda")
    want = x.double().cumsum(0)

    def figure(name, run, note="", library=None):
        def timed():
            right = bool(((run().double() - want).abs() <= 1e-3 * want).all())
            peer.figure(a, name, right, run, bytes=8 * n, note=note, library=library)
        return timed

    if peer.wanted(a, "torch_compile"):
        compiled = peer.compiled(lambda x: torch.cumsum(x, 0))
        yield figure("torch_compile", lambda: compiled(x), "torch.compile(torch.cumsum), mode max-autotune without graphs")
    if peer.wanted(a, "torch"):
        yield figure("torch", lambda: torch.cumsum(x, 0), "torch.cumsum")
    if peer.tried(a, "cupy_cumsum"):
        import cupy
        u, v = cupy.from_dlpack(x), cupy.from_dlpack(torch.empty_like(x))
        yield figure("cupy_cumsum", peer.by_cupy(lambda: torch.from_dlpack(cupy.cumsum(u, out=v))), "cupy.cumsum", f"cupy {cupy.__version__}")


peer.serve(prepare)
