"""Peers of copy_if in Python, all of which were tried and lost to CUB's DeviceSelect of copyif.cu, and run by name alone:
torch_masked_select and cupy_select (x[x > 0]). Both keep the order, allocate the result and wait for its length. Triton has no
scan between blocks, so that a kernel of one pass that keeps the order would need a look-back of its own.
"""

import torch

import peer


def prepare(a):
    (n,) = a.size
    keep = a.set.get("keep", 0.5)
    torch.manual_seed(a.seed)
    x = torch.rand(n, device="cuda") - (1 - keep)
    want = x[x > 0]

    def figure(name, run, note, library=None):
        def timed():
            peer.figure(a, name, torch.equal(run(), want), run, bytes=4 * (n + want.numel()) + 4, note=note, library=library, waits=True)
        return timed

    if peer.tried(a, "torch_masked_select"):
        yield figure("torch_masked_select", lambda: torch.masked_select(x, x > 0), "torch.masked_select(x, x > 0)")
    if peer.tried(a, "cupy_select"):
        import cupy
        u = cupy.from_dlpack(x)
        yield figure("cupy_select", peer.by_cupy(lambda: torch.from_dlpack(u[u > 0])), "x[x > 0] of cupy", f"cupy {cupy.__version__}")


peer.serve(prepare)
