"""Peers of concat: torch.cat into memory of the caller's, what torch.compile makes of it, and a copy of as many bytes."""

import torch

import peer


def prepare(a):
    rows, *widths = a.size
    torch.manual_seed(a.seed)
    parts = [torch.rand(rows, w, device="cuda") for w in widths]
    want = torch.cat(parts, dim=1)
    y, bytes = torch.empty_like(want), 8 * want.numel()

    def figure(name, run, note):
        def timed():
            y.fill_(float("nan"))
            run()
            peer.figure(a, name, torch.equal(y, want), run, bytes=bytes, note=note)
        return timed

    if peer.wanted(a, "torch_cat"):
        yield figure("torch_cat", lambda: torch.cat(parts, dim=1, out=y), "torch.cat(dim=1) of the rows, into memory of the caller's")
    if peer.wanted(a, "torch_compile"):
        torch.compiler.reset()  # what it has made for another size would be made for any
        compiled = torch.compile(lambda *parts: torch.cat(parts, dim=1), mode="max-autotune-no-cudagraphs")
        yield lambda: peer.figure(a, "torch_compile", torch.equal(compiled(*parts), want), lambda: compiled(*parts), bytes=bytes,
                                  note="torch.compile(torch.cat(dim=1)), mode max-autotune without graphs; the result is allocated in each run")
    if peer.wanted(a, "torch_copy"):
        yield figure("torch_copy", lambda: y.copy_(want), "a copy of the joined tensor: as many bytes in order")


peer.serve(prepare)
