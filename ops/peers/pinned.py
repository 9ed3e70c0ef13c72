"""Times copies between pinned memory of this process and the GPU, to compare with the bench's figures.

usage: pinned.py BYTES...

Each copy is submitted and waited for, on the host's clock. Prints a JSON line a size and direction, in BYTES of
pinned memory that were written first.
"""

import json
import statistics
import sys
import time

import torch


def median_ns(stream, dst, src, repeats):
    ns = []
    for _ in range(repeats + 3):
        start = time.perf_counter_ns()
        dst.copy_(src, non_blocking=True)
        stream.synchronize()
        ns.append(time.perf_counter_ns() - start)
    return statistics.median(ns[3:])


def main():
    stream = torch.cuda.Stream()
    torch.cuda.set_stream(stream)
    for size in map(int, sys.argv[1:]):
        host = torch.randint(256, (size,), dtype=torch.uint8).pin_memory()
        device = torch.zeros(size, dtype=torch.uint8, device="cuda")
        repeats = max(10, min(100, (4 << 30) // size))
        for name, dst, src in (("up", device, host), ("down", host, device)):
            print(json.dumps({"kind": "figure", "name": name, "size": [size], "method": "host clock",
                              "median_ns": median_ns(stream, dst, src, repeats),
                              "library": f"torch {torch.__version__}", "device": torch.cuda.get_device_name()}), flush=True)


main()
