"""Peers of reduce: torch.sum, and what torch.compile makes of it."""

import torch

import peer


def prepare(a):
    n = a.size[0]
    torch.manual_seed(a.seed)
    x = torch.rand(n, device="cuda")
    want = x.double().sum().item()

    def right(y):
        return abs(y.item() - want) <= 1e-5 * want

    y = torch.empty((), device="cuda")
    torch.sum(x, 0, out=y)
    if peer.wanted(a, "torch_sum"):
        yield lambda: peer.figure(a, "torch_sum", right(y), lambda: torch.sum(x, 0, out=y), bytes=4 * n)
    if not peer.wanted(a, "torch_compile"):
        return
    torch.compiler.reset()  # what it has made for another size would be made for any
    compiled = torch.compile(lambda x: torch.sum(x), mode="max-autotune-no-cudagraphs")
    yield lambda: peer.figure(a, "torch_compile", right(compiled(x)), lambda: compiled(x), bytes=4 * n,
                              note="torch.compile(torch.sum), mode max-autotune without graphs")


peer.serve(prepare)
