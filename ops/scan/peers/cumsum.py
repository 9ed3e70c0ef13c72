"""Peers of cumsum: torch's, and what torch.compile makes of it."""

import torch

import peer


def prepare(a):
    rows, columns = a.size
    torch.manual_seed(a.seed)
    x = torch.rand(rows, columns, device="cuda")
    want = x.double().cumsum(1)

    def figure(name, run, note=""):
        def timed():
            right = torch.allclose(run().double(), want, rtol=1e-3, atol=0)
            peer.figure(a, name, right, run, bytes=8 * rows * columns, note=note)
        return timed

    if peer.wanted(a, "torch"):
        yield figure("torch", lambda: torch.cumsum(x, 1))
    if peer.wanted(a, "torch_compile"):
        torch.compiler.reset()  # what it has made for another size would be made for any
        compiled = torch.compile(lambda x: torch.cumsum(x, 1), mode="max-autotune-no-cudagraphs")
        yield figure("torch_compile", lambda: compiled(x), "torch.compile, mode max-autotune without graphs")


peer.serve(prepare)
