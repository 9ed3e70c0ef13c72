"""Times copies between pinned memory of this process and the GPU, to compare with the bench's figures.

usage: pinned.py

Reads how many bytes, a line each, and answers with a JSON line for each direction, up and down. Each copy is
submitted and waited for, on the host's clock.
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
    for line in sys.stdin:
        size = int(line)
        host = torch.empty(size // 8, dtype=torch.int64, pin_memory=True).random_()
        device = torch.zeros(size // 8, dtype=torch.int64, device="cuda")
        repeats = max(10, min(100, (4 << 30) // size))
        for name, dst, src in (("up", device, host), ("down", host, device)):
            print(json.dumps({"kind": "figure", "name": name, "size": [size], "method": "host clock",
                              "median_ns": median_ns(stream, dst, src, repeats),
                              "library": f"torch {torch.__version__}", "device": torch.cuda.get_device_name()}), flush=True)


main()
