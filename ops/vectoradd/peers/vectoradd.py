"""Peers of vectoradd: torch.add into memory of the caller's, and what torch.compile makes of x + y."""

import torch

import peer


def prepare(a):
    (n,) = a.size
    torch.manual_seed(a.seed)
    x, y = torch.rand(n, device="cuda"), torch.rand(n, device="cuda")
    z, want = torch.empty_like(x), x + y

    def figure(name, run, result, note=""):
        def timed():
            z.fill_(float("nan"))
            run()
            peer.figure(a, name, torch.equal(result(), want), run, bytes=12 * n, note=note)
        return timed

    if peer.wanted(a, "torch_add"):
        yield figure("torch_add", lambda: torch.add(x, y, out=z), lambda: z)
    if peer.wanted(a, "torch_compile"):
        torch.compiler.reset()  # what it has made for another size would be made for any
        compiled = torch.compile(lambda x, y: x + y, mode="max-autotune-no-cudagraphs")
        yield figure("torch_compile", lambda: compiled(x, y), lambda: compiled(x, y),
                     "torch.compile(x + y), mode max-autotune without graphs")


peer.serve(prepare)
