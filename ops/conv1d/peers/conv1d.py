"""Peers of conv1d: torch, which calls cuDNN or a kernel of its own, and what torch.compile makes of it. Written without a GPU and not run yet."""

import torch

import peer


def prepare(a):
    n, k = a.size
    torch.manual_seed(a.seed)
    torch.backends.cudnn.benchmark, torch.backends.cudnn.allow_tf32 = True, False
    x, mask = torch.rand(1, 1, n, device="cuda"), torch.rand(1, 1, k, device="cuda")
    if a.operator == "convolution1d":
        mask = mask.flip(2)  # torch correlates

    def eager(x, mask):
        return torch.nn.functional.conv1d(torch.nn.functional.pad(x, (k // 2, k - 1 - k // 2)), mask)

    want = eager(x.double(), mask.double()).float()

    def figure(name, run, note):
        def timed():
            right = torch.allclose(run(), want, rtol=1e-4, atol=1e-6)
            peer.figure(a, name, right, run, bytes=4 * (2 * n + k), flops=2 * n * k, note=note)
        return timed

    if peer.wanted(a, "torch"):
        yield figure("torch", lambda: eager(x, mask), "torch.nn.functional.conv1d, padded, float32 without TF32, cudnn.benchmark")
    if peer.wanted(a, "torch_compile"):
        torch.compiler.reset()  # what it has made for another size would be made for any
        compiled = torch.compile(eager, mode="max-autotune-no-cudagraphs")
        yield figure("torch_compile", lambda: compiled(x, mask), "torch.compile of the same, mode max-autotune without graphs")


peer.serve(prepare)
