"""Peers of gelu and gelu_erf: torch.nn.functional.gelu in the same form, as it is and compiled."""

import torch

import peer


def prepare(a):
    (n,) = a.size
    torch.manual_seed(a.seed)
    x = torch.randn(n, device="cuda", dtype=torch.float16)
    form = "tanh" if a.operator == "gelu" else "none"
    want = torch.nn.functional.gelu(x.double(), approximate=form)

    def figure(name, run, note):
        def timed():
            right = torch.allclose(run().double(), want, rtol=2**-10, atol=2**-12)
            peer.figure(a, name, right, run, bytes=4 * n, note=note)
        return timed

    def gelu(x):
        return torch.nn.functional.gelu(x, approximate=form)

    if peer.wanted(a, "torch_gelu"):
        yield figure("torch_gelu", lambda: gelu(x), f"gelu(x, approximate='{form}'); the result is allocated in each run")
    if peer.wanted(a, "torch_compile"):
        torch.compiler.reset()  # what it has made for another size would be made for any
        compiled = torch.compile(gelu, mode="max-autotune-no-cudagraphs")
        yield figure("torch_compile", lambda: compiled(x), f"torch.compile(gelu(x, approximate='{form}')), mode max-autotune without graphs")


peer.serve(prepare)
