"""Peers of the products D = A B, row-major. All add in float32 throughout.

Timed beside ours: cuBLAS by torch.matmul and, of float32, by itself with CUBLAS_PEDANTIC_MATH, batches at equal distances and by
pointers; the fastest of what cuBLASLt's heuristic proposes, with bias and ReLU in its epilogue; and torch.compile, which chooses
among cuBLAS and Triton products.
Tried and lost: none by hand. cupy.matmul calls cuBLAS; CUB and Thrust have no product.
"""

import collections
import statistics

import torch

import cublas
import peer

# The type of the factors, what rounding them or the result costs as a share of the sum of |terms|, how cuBLASLt is told to
# compute, and what the figure of cuBLAS is called.
Kind = collections.namedtuple("Kind", "type round compute name")
KINDS = {
    "gemm": Kind(torch.float32, 0, cublas.PEDANTIC, "cublas_sgemm"),
    "gemm_batched": Kind(torch.float32, 0, cublas.PEDANTIC, "cublas_sgemm_batched"),
    "gemm_bias_relu": Kind(torch.float32, 0, cublas.PEDANTIC, "torch_addmm_relu"),
    "gemm_tf32": Kind(torch.float32, 2.0**-9, cublas.TF32, "cublas_tf32"),
    "gemm_bf16": Kind(torch.bfloat16, 2.0**-8, cublas.FLOAT32, "cublas_bf16"),
    "gemm_fp16": Kind(torch.float16, 2.0**-11, cublas.FLOAT32, "cublas_fp16"),
}
TENSOR_ROUNDINGS = 16  # what tensor cores cut off: ops/gemm_tensor.go


def fastest(plans):
    """The fastest of some functions, by a few runs of each."""
    few = peer.arguments()
    few.repeats = 5
    times = [statistics.median(peer.times(few, run)) for run in plans]
    return plans[times.index(min(times))]


def prepare(a):
    kind = KINDS[a.operator]
    *batch, m, n, k = a.size
    matmul = torch.backends.cuda.matmul
    matmul.allow_tf32 = kind.compute == cublas.TF32
    matmul.allow_fp16_reduced_precision_reduction = matmul.allow_bf16_reduced_precision_reduction = False
    torch.manual_seed(a.seed)
    x, y = (torch.rand(*batch, *shape, device="cuda").to(kind.type) for shape in ((m, k), (k, n)))
    d, want = torch.empty(*batch, m, n, dtype=kind.type, device="cuda"), x.double() @ y.double()
    magnitude, bias = want, None
    if a.operator == "gemm_bias_relu":  # so that half of d is 0
        bias = (torch.rand(n, device="cuda") * 2 - 1) * k**0.5 - k / 4
        magnitude, want = want + bias.double().abs(), (want + bias.double()).relu()
    depth = k + (1 if bias is not None else 0) + (TENSOR_ROUNDINGS if kind.round else 0)

    def bound(round):
        return (depth * 2.0**-24 * (1 + round) + round) * magnitude

    def product(x, y):
        return torch.matmul(x, y) if bias is None else torch.addmm(bias, x, y).relu()

    def by_torch():
        if bias is None:
            torch.matmul(x, y, out=d)
        else:
            torch.addmm(bias, x, y, out=d).relu_()

    def report(name, run, note="", round=kind.round):
        """The figure as a function. A run that returns nothing leaves its result in d."""
        def figure():
            d.fill_(float("nan"))
            result = run()
            result = d if result is None else result
            right = bool(((result.double() - want).abs() <= bound(round)).all())  # false for NaN
            flops = 2 * m * n * k * (batch[0] if batch else 1) + (2 * m * n if bias is not None else 0)
            peer.figure(a, name, right, run, flops=flops, note=note)
        return figure

    if peer.wanted(a, kind.name):
        yield report(kind.name, by_torch, "torch.addmm, then relu" if bias is not None else "")
    if kind.type == torch.float32 and bias is None:
        for name, call, run in cublas.pedantic(x, y, d):
            if peer.wanted(a, name):
                yield report(name, run, call + " with CUBLAS_PEDANTIC_MATH", round=0)
    plans = [] if batch or not peer.wanted(a, "cublaslt_fastest") else cublas.plans(x, y, d, kind.compute, bias)
    if plans:
        how = {cublas.PEDANTIC: "pedantic", cublas.TF32: "TF32", cublas.FLOAT32: "float32 sums"}[kind.compute]
        yield report("cublaslt_fastest", fastest(plans), how + (", epilogue with bias and ReLU" if bias is not None else "") + f", fastest of {len(plans)} proposals")
    if not peer.wanted(a, "torch_compile"):
        return  # its compiler takes seconds to import
    compiled = peer.compiled(product)
    yield report("torch_compile", lambda: compiled(x, y), "mode max-autotune without graphs")


peer.serve(prepare)
