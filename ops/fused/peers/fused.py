"""Peers of fused and fused_half: the formula in torch, operation by operation, and what torch.compile makes of it."""

import torch

import peer


def formula(x, bias, mask, add):
    return (x + bias) * mask * 0.5 + add


def prepare(a):
    rows, columns = a.size
    torch.manual_seed(a.seed)
    kind = torch.float32 if a.operator == "fused" else torch.float16
    x, add = (torch.rand(rows, columns, device="cuda", dtype=kind) for _ in range(2))
    bias = torch.rand(columns, device="cuda", dtype=kind)
    mask = torch.rand(rows, columns, device="cuda") < 0.5  # one byte each, 0 or 1
    bytes = rows * columns * (3 * x.element_size() + 1) + columns * x.element_size()

    def right(got):  # in slices: in float64 the whole would not fit
        return all(torch.allclose(got[r:r + 4096].double(), formula(x[r:r + 4096].double(), bias.double(), mask[r:r + 4096], add[r:r + 4096].double()),
                                  rtol=0, atol=1e-6 if kind == torch.float32 else 2**-8) for r in range(0, rows, 4096))

    def figure(name, run, note):
        return lambda: peer.figure(a, name, right(run()), run, bytes=bytes, note=note)

    if peer.wanted(a, "torch_eager"):
        yield figure("torch_eager", lambda: formula(x, bias, mask, add), "(x + bias) * mask * 0.5 + add, a kernel for each operation; results are allocated in each run")
    if peer.wanted(a, "torch_compile"):
        torch.compiler.reset()  # what it has made for another size would be made for any
        compiled = torch.compile(formula, mode="max-autotune-no-cudagraphs")
        yield figure("torch_compile", lambda: compiled(x, bias, mask, add), "torch.compile of the formula, mode max-autotune without graphs; the result is allocated in each run")


peer.serve(prepare)
