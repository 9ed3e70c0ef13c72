"""Peers of convolutions of images and volumes, in the layout and type of the operator.

Timed beside ours: cuDNN through torch.nn.functional, whose search of algorithms times each; cuDNN's convolution with bias and
ReLU in one call (torch.ops.aten.cudnn_convolution_relu), where the operator has them; and torch.compile.
Tried and lost, run by name alone: torch_unfold (im2col and a product), torch_fft (products of spectra, images without bias).
"""

import torch

import peer


def prepare(a):
    deep = a.operator.startswith("conv3d")
    kind_of = a.operator.partition("_")[2]  # fp16, bf16 or tf32: channels innermost, bias and ReLU
    if deep:
        n, c, d, h, w, k, t, r, s = a.size
        images, filters = (n, c, d, h, w), (k, c, t, r, s)
    else:
        n, c, h, w, k, r, s = a.size
        images, filters = (n, c, h, w), (k, c, r, s)
    torch.manual_seed(a.seed)
    torch.backends.cudnn.benchmark = True  # the fastest of cuDNN's algorithms, by their times
    torch.backends.cudnn.allow_tf32 = kind_of == "tf32"
    kind = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(kind_of, torch.float32)
    fused = kind_of in ("bias_relu", "fp16", "bf16", "tf32")
    last = kind_of in ("nhwc", "fp16", "bf16", "tf32")
    x, weights = torch.rand(images, device="cuda").to(kind), torch.rand(filters, device="cuda").to(kind)
    if last:
        order = torch.channels_last_3d if deep else torch.channels_last
        x, weights = x.to(memory_format=order), weights.to(memory_format=order)
    bias = (-torch.rand(k, device="cuda") * weights[0].numel() / 2).to(kind) if fused else None

    def eager(x, weights, bias):
        y = (torch.nn.functional.conv3d if deep else torch.nn.functional.conv2d)(x, weights, bias, padding=1)
        return torch.relu(y) if fused else y

    want = eager(x.double(), weights.double(), None if bias is None else bias.double())
    size = weights[0].numel() * 0.25  # about a sum of |terms|
    tolerance = {torch.float16: 2**-9, torch.bfloat16: 2**-6}.get(kind, 2**-9 if kind_of == "tf32" else 1e-4) * size

    def figure(name, run, note):
        def timed():
            right = bool((run().double() - want).abs().max() <= tolerance)
            peer.figure(a, name, right, run, flops=2 * want.numel() * weights[0].numel(), library=f"cuDNN {torch.backends.cudnn.version()}", note=note)
        return timed

    def fused_call():
        ones = [1] * (len(images) - 2)
        return torch.ops.aten.cudnn_convolution_relu(x, weights, bias, ones, ones, ones, 1)

    def unfold():
        columns = torch.nn.functional.unfold(x, filters[2:], padding=1)
        y = torch.matmul(weights.reshape(k, -1), columns).view(want.shape)
        return torch.relu(y + bias.view(1, k, 1, 1)) if fused else y

    def fft():
        shape = (h + r - 1, w + s - 1)
        spectra = torch.einsum("nchw,kchw->nkhw", torch.fft.rfft2(x, shape), torch.fft.rfft2(weights.flip(2, 3), shape))
        return torch.fft.irfft2(spectra, shape)[:, :, 1 : 1 + h, 1 : 1 + w]

    if peer.wanted(a, "cudnn"):
        yield figure("cudnn", lambda: eager(x, weights, bias), "torch.nn.functional, cudnn.benchmark; bias and ReLU where the operator has them, ReLU a kernel of its own")
    if peer.wanted(a, "torch_compile"):
        compiled = peer.compiled(eager)
        yield figure("torch_compile", lambda: compiled(x, weights, bias), "torch.compile of the same, mode max-autotune without graphs")
    if fused and peer.wanted(a, "cudnn_fused"):
        yield figure("cudnn_fused", fused_call, "torch.ops.aten.cudnn_convolution_relu: bias and ReLU in cuDNN's call")
    if not deep and peer.tried(a, "torch_unfold"):
        yield figure("torch_unfold", unfold, "torch.nn.functional.unfold, then torch.matmul")
    if not deep and not fused and not last and peer.tried(a, "torch_fft"):
        yield figure("torch_fft", fft, "torch.fft.rfft2, products, torch.fft.irfft2")


peer.serve(prepare)
