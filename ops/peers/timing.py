"""Times kernels of ours by torch's events, to compare with the bench's figures.

usage: timing.py FILE.ptx ENTRY GRID BLOCK SHARED ARGUMENTS...

GRID and BLOCK are "x,y,z"; an argument is "x:N" for a buffer of N random
floats, "y:N" for one of zeros, "u:V" and "f:V" for a number of 32 bits. Prints
a JSON line a method: each run between two events, 100 runs between two, and a
graph of 100 runs between two.
"""

import ctypes
import json
import statistics
import sys

import torch


def load(path, entry):
    cuda = ctypes.CDLL("libcuda.so.1")
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    with open(path, "rb") as f:
        code = cuda.cuModuleLoadData(ctypes.byref(module), f.read() + b"\0")
    code = code or cuda.cuModuleGetFunction(ctypes.byref(function), module, entry.encode())
    if code:
        sys.exit(f"timing.py: {path}: {entry}: CUDA error {code}")
    return cuda, function


def argument(text):
    kind, value = text.split(":")
    if kind == "x":
        return torch.rand(int(value), device="cuda")
    if kind == "y":
        return torch.zeros(int(value), device="cuda")
    return ctypes.c_float(float(value)) if kind == "f" else ctypes.c_uint32(int(value))


def median_ns(run, repeats, inside):
    """The median of so many timings, of so many runs each, submitted while the device waits."""
    starts, ends = ([torch.cuda.Event(enable_timing=True) for _ in range(repeats)] for _ in range(2))
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    for e in starts + ends:  # made at their first use
        e.record()
    for at in range(0, repeats, max(1, 200 // inside)):  # as many as the device queues
        torch.cuda._sleep(20_000_000)
        for start, end in list(zip(starts, ends))[at : at + max(1, 200 // inside)]:
            start.record()
            for _ in range(inside):
                run()
            end.record()
        torch.cuda.synchronize()
    return statistics.median(s.elapsed_time(e) * 1e6 / inside for s, e in zip(starts, ends))


def main():
    path, entry, grid, block, shared, *rest = sys.argv[1:]
    torch.cuda.set_stream(torch.cuda.Stream())  # the default one waits for others
    cuda, function = load(path, entry)
    most_shared = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    cuda.cuFuncSetAttribute(function, most_shared, int(shared))
    values = [argument(a) for a in rest]
    raw = [ctypes.c_void_p(v.data_ptr()) if torch.is_tensor(v) else v for v in values]
    pointers = (ctypes.c_void_p * max(1, len(raw)))(*[ctypes.addressof(r) for r in raw])
    shape = [int(d) for d in (grid + "," + block).split(",")]
    torch.cuda.synchronize()

    def run():
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        code = cuda.cuLaunchKernel(function, *shape, int(shared), stream, pointers, None)
        if code:
            sys.exit(f"timing.py: {entry}: CUDA error {code}")

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(100):
            run()
    for method, repeats, inside, f in (("events", 100, 1, run), ("back to back", 20, 100, run), ("graph", 20, 1, graph.replay)):
        runs = 100 if method == "graph" else 1
        print(json.dumps({"kind": "figure", "name": entry, "method": method, "l2": "warm",
                          "median_ns": median_ns(f, repeats, inside) / runs,
                          "library": f"torch {torch.__version__}", "device": torch.cuda.get_device_name()}), flush=True)


main()
