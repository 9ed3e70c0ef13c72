"""Peers of pooling: torch, and what torch.compile makes of it. Written without a GPU and not run yet."""

import torch

import peer


def prepare(a):
    planes, h, w = a.size
    torch.manual_seed(a.seed)
    x = torch.randn(1, planes, h, w, device="cuda")
    places = planes * ((h - 1) // 2 + 1) * ((w - 1) // 2 + 1)  # windows of 3 x 3 in steps of 2, padded by 1
    if a.operator == "maxpool":
        eager, bytes = lambda x: torch.nn.functional.max_pool2d(x, 3, 2, 1, return_indices=True), 4 * x.numel() + 8 * places  # torch's indices are int64
    else:
        eager, bytes = lambda x: (torch.nn.functional.avg_pool2d(x, 3, 2, 1),), 4 * (x.numel() + places)
    want = [t.to(torch.float64) for t in eager(x.double())]

    def figure(name, run, note):
        def timed():
            right = all(torch.allclose(t.double(), w, rtol=1e-5, atol=1e-6) for t, w in zip(run(), want))
            peer.figure(a, name, right, run, bytes=bytes, note=note)
        return timed

    if peer.wanted(a, "torch"):
        yield figure("torch", lambda: eager(x), "torch.nn.functional.max_pool2d with indices of int64, or avg_pool2d")
    if peer.wanted(a, "torch_compile"):
        torch.compiler.reset()  # what it has made for another size would be made for any
        compiled = torch.compile(eager, mode="max-autotune-no-cudagraphs")
        yield figure("torch_compile", lambda: compiled(x), "torch.compile of the same, mode max-autotune without graphs")


peer.serve(prepare)
