"""Peers of vectorcopy: Tensor.copy_ into memory of the caller's, and what torch.compile makes of a clone."""

import torch

import peer


def prepare(a):
    (n,) = a.size
    torch.manual_seed(a.seed)
    x = torch.rand(n, device="cuda")
    y = torch.empty_like(x)

    def figure(name, run, result, note=""):
        def timed():
            y.fill_(float("nan"))
            run()
            peer.figure(a, name, torch.equal(result(), x), run, bytes=8 * n, note=note)
        return timed

    if peer.wanted(a, "torch_copy"):
        yield figure("torch_copy", lambda: y.copy_(x), lambda: y)
    if peer.wanted(a, "torch_compile"):
        torch.compiler.reset()  # what it has made for another size would be made for any
        compiled = torch.compile(lambda x: x.clone(), mode="max-autotune-no-cudagraphs")
        yield figure("torch_compile", lambda: compiled(x), lambda: compiled(x),
                     "torch.compile(x.clone()), mode max-autotune without graphs")


peer.serve(prepare)
