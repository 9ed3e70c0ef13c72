"""Peers of reduce in Python: the sum of a vector, float32.

Timed beside ours, with CUB of reduce.cu: torch.sum, torch.compile, and Triton: sums of blocks, and their sum by a second
launch.
Tried and lost, run by name alone: torch_dot (a product with a vector of ones, which reads twice as much), cupy_sum (CUB's
reduction, called by cupy). thrust::reduce is CUB's, with an allocation and a wait in each call. cuBLAS has the sum of
absolute values alone. On an H200, 25.6 million, graph, us: triton 25.6 to 26.4, CUB 25.8, torch_compile 25.7 to 26.4, cupy_sum 27.3,
torch_sum 30.5, torch_dot 51.5.
"""

import torch
import triton
import triton.language as tl

import peer


@triton.autotune([triton.Config({"BLOCK": block}, num_warps=warps) for block in (1024, 2048, 4096, 8192) for warps in (4, 8, 16)], key=["n", "PROGRAMS"])
@triton.jit
def partial_sums(x, sums, n, PROGRAMS: tl.constexpr, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(tl.program_id(0) * BLOCK, n, PROGRAMS * BLOCK):
        at = first + tl.arange(0, BLOCK)
        total += tl.load(x + at, mask=at < n, other=0.0)
    tl.store(sums + tl.program_id(0), tl.sum(total))


@triton.jit
def last_sum(sums, y, PROGRAMS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y, tl.sum(tl.load(sums + at, mask=at < PROGRAMS, other=0.0)))


def prepare(a):
    n = a.size[0]
    torch.manual_seed(a.seed)
    x = torch.rand(n, device="cuda")
    want = x.double().sum().item()
    programs = 4 * torch.cuda.get_device_properties(0).multi_processor_count
    sums = torch.empty(programs, device="cuda")
    y = torch.empty((), device="cuda")

    def by_triton():
        partial_sums[(programs,)](x, sums, n, programs)
        last_sum[(1,)](sums, y, programs, triton.next_power_of_2(programs), num_warps=4)

    def figure(name, run, result=lambda: y, note="", library=None):
        def timed():
            y.fill_(float("nan"))
            run()
            right = abs(result().item() - want) <= 1e-5 * want
            peer.figure(a, name, right, run, bytes=4 * n, note=note, library=library)
        return timed

    if peer.wanted(a, "torch_sum"):
        yield figure("torch_sum", lambda: torch.sum(x, 0, out=y))
    if peer.wanted(a, "torch_compile"):
        compiled = peer.compiled(lambda x: torch.sum(x))
        yield figure("torch_compile", lambda: compiled(x), lambda: compiled(x), "torch.compile(torch.sum), mode max-autotune without graphs")
    if peer.wanted(a, "triton"):
        yield figure("triton", by_triton, note="sums of blocks, then their sum, autotuned", library=f"Triton {triton.__version__}")
    if peer.tried(a, "torch_dot"):
        ones = torch.ones_like(x)
        yield figure("torch_dot", lambda: torch.dot(x, ones), lambda: torch.dot(x, ones), "torch.dot with ones")
    if peer.tried(a, "cupy_sum"):
        import cupy
        cupy._core.set_reduction_accelerators(["cub"])
        of, to = cupy.from_dlpack(x), cupy.from_dlpack(y.view(1)).reshape(())
        yield figure("cupy_sum", peer.by_cupy(lambda: cupy.sum(of, out=to)), note="cupy.sum by CUB", library=f"cupy {cupy.__version__}")


peer.serve(prepare)
