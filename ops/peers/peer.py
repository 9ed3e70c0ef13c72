"""What the peers in Python share: arguments, timing as the bench does it, and the line of JSON that a figure is.

NAME --operator NAME --size N[,N...]... [--only NAME[,NAME...]] [--method events|graph] [--repeats R] [--l2 warm|flushed] [--seed S] [--turns T] [--set NAME=NUMBER]...
"""

import argparse
import glob
import json
import statistics
import sys
import time

import torch

REST = 0.1  # seconds before a timing, as the bench rests while the host compares: at the limit of its power a GPU clocks down


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--operator", required=True)
    parser.add_argument("--size", dest="sizes", required=True, action="append", type=lambda s: [int(d) for d in s.split(",")])
    parser.add_argument("--only", type=lambda s: s.split(","), default=[])
    parser.add_argument("--method", choices=["events", "graph"], default="events")
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--l2", choices=["warm", "flushed"], default="warm")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--turns", type=int, default=0)
    parser.add_argument("--set", type=lambda s: s.split("="), action="append", default=[])
    a = parser.parse_args()
    a.set = {name: float(value) for name, value in a.set}
    return a


def serve(prepare):
    """Prepares each size and calls what that returns, a function for each figure; with turns so many times, each time when a
    line was read, and with an empty line at the end. A call that fails is a line with its error, and the others go on."""
    a = arguments()
    for a.size in a.sizes:
        figures = None  # the memory of the size before
        for _ in range(a.turns or 1):
            if a.turns and not sys.stdin.readline():
                return
            if figures is None:
                figures, more = [], prepare(a)
                guarded(a, lambda: figures.extend(more))  # which keeps those before an error
            for figure in figures:
                guarded(a, figure)
            if a.turns:
                print(flush=True)


def guarded(a, run):
    try:
        run()
    except Exception as e:
        text = (str(e).strip() or "no text").splitlines()[0]
        print(json.dumps({"kind": "figure", "operator": a.operator, "name": "a_peer", "size": a.size, "l2": a.l2, "method": a.method, "verdict": "ERROR",
                          "device": torch.cuda.get_device_name(), "note": f"{type(e).__name__}: {text}"}), flush=True)


def wanted(a, name):
    """Whether a figure of this name is asked for."""
    return not a.only or tried(a, name)


def tried(a, name):
    """Whether a figure of a call that was tried and lost is asked for: by its name, or with all others by "every"."""
    return name in a.only or "every" in a.only


def compiled(f):
    """What torch.compile makes of f, for one size: what it has made for another size would be made for any."""
    torch.compiler.reset()
    return torch.compile(f, mode="max-autotune-no-cudagraphs")


def in_a_row(run):
    """A graph of as many runs as take 2 ms, at most 100, as a function that runs; and how many they are. As ops/method.go has it."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    run()
    end.record()
    torch.cuda.synchronize()
    runs, graph = min(100, max(1, int(2 / start.elapsed_time(end)))), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(runs):
            run()
    return graph.replay, runs


def times(a, run):
    """The times in ns of each of the repeats, after three that are not timed. A kernel that sleeps holds the
    stream until a batch is submitted, so that the device never waits for the host between two events."""
    run, runs = in_a_row(run) if a.method == "graph" else (run, 1)
    other = torch.zeros(torch.cuda.get_device_properties(0).L2_cache_size // 2, device="cuda")  # twice the size of L2
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    ns = []
    while len(ns) < a.repeats:
        pairs = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(min(50, a.repeats - len(ns)))]
        torch.cuda._sleep(40_000_000)
        for start, end in pairs:
            if a.l2 == "flushed":
                other.max()  # reads it: lines that were written would have to be written back
            start.record()
            run()
            end.record()
        torch.cuda.synchronize()
        ns += [start.elapsed_time(end) * 1e6 / runs for start, end in pairs]
    return ns


def by_cupy(run):
    """A call of cupy on torch's stream, also where that is captured."""
    import cupy

    def on_stream():
        with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
            return run()

    return on_stream


def file_of(name):
    """The file of one of CUDA's libraries, that of torch's packages before the system's."""
    found = [p for d in sys.path for p in glob.glob(d + f"/nvidia/**/lib{name}.so.*", recursive=True)]
    return (found or [f"lib{name}.so"])[0]


def confidence(n):
    """How many timings may be left out at each end: ops/stats.go says why."""
    k, tail, term = 0, 0.0, 0.5**n
    while True:
        tail += term
        if 2 * tail > 0.05:
            return max(0, k - 1)
        k += 1
        term *= (n - k + 1) / k


def figure(a, name, right, run, bytes=0, flops=0, library=None, note="", waits=False):
    """Times and prints a figure; one whose result is wrong has no times. A call that waits for its result cannot be part of
    a graph: it is timed between events, with the host's part."""
    if waits:
        a = argparse.Namespace(**vars(a) | {"method": "events"})
        note += "; waits for its result: between events"
    line = {"kind": "figure", "operator": a.operator, "name": name, "size": a.size, "l2": a.l2, "method": a.method,
            "verdict": "PASS" if right else "FAIL", "library": library or f"torch {torch.__version__}",
            "device": torch.cuda.get_device_name(), "note": note}
    if right:
        time.sleep(REST)
        samples = times(a, run)
        ns = sorted(samples)
        k, median = confidence(len(ns)), statistics.median(ns)
        line |= {"median_ns": round(median), "low_ns": round(ns[k]), "high_ns": round(ns[-1 - k]), "repeats": len(ns),
                 "samples_ns": [round(t) for t in samples],
                 "cv": round(statistics.stdev(ns) / statistics.mean(ns), 4) if len(ns) > 1 else 0}
        if bytes:
            line["gbps"] = round(bytes / median, 1)
        if flops:
            line["gflops"] = round(flops / median, 1)
    print(json.dumps(line), flush=True)
