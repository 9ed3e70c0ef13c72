"""Two builds of the kernel in turns: times and processor time of small cells and of 100 000 lines.

Usage: pair.py DIR_A DIR_B [TURNS]; each folder holds the programs warpbook and cells.
Both kernels live at once, and take turns in random order, so that what else the
machine does falls on both. Ratios are those of B to A.
"""
import os, random, statistics, sys

from bench import Kernel, KernelSpecManager

CELLS = 500  # a turn
FIGURES = {"cell, ms": 3, "cell, processor ms": 3, "100 000 lines, ms": 0, "100 000 lines, processor ms": 0}
spec_of = KernelSpecManager.get_kernel_spec


def start(folder):
    def spec(self, name):
        found = spec_of(self, name)
        found.argv[0], found.env["WARPBOOK_CELLS"] = os.path.join(folder, "warpbook"), os.path.join(folder, "cells")
        return found
    KernelSpecManager.get_kernel_spec = spec
    k = Kernel("warpbook", WARPBOOK_OUTPUT_BYTES="0")
    for code in [k.code["import"], k.code["first"]] + [k.code["trivial"]] * CELLS:
        k.cell(code)
    return k


def processor_ms(pid):
    """Of a process and all its descendants."""
    total, todo = 0, [pid]
    while todo:
        pid = todo.pop()
        with open(f"/proc/{pid}/stat") as f:
            total += sum(map(int, f.read().rsplit(")", 1)[1].split()[11:13]))
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as f:
                todo += map(int, f.read().split())
    return total * 1000 / os.sysconf("SC_CLK_TCK")


def turn(k):
    start = processor_ms(k.process.pid)
    times = [k.cell(k.code["trivial"])[0] for _ in range(CELLS)]
    middle = processor_ms(k.process.pid)
    lines = k.cell(k.code["lines"])[0]
    return statistics.median(times), (middle - start) / CELLS, lines, processor_ms(k.process.pid) - middle


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    kernels, turns = [start(d) for d in sys.argv[1:3]], int((sys.argv + ["12"])[3])
    found = ([], [])
    for _ in range(turns):
        for i in random.sample((0, 1), 2):
            found[i].append(turn(kernels[i]))
    print(f"{'':30}{'A':>8}{'B':>8}   B/A, median (quartiles)")
    for row, digits in enumerate(FIGURES.values()):
        a, b = ([t[row] for t in side] for side in found)
        low, middle, high = statistics.quantiles([y / x for x, y in zip(a, b)], n=4)
        print(f"{list(FIGURES)[row]:30}{statistics.median(a):8.{digits}f}{statistics.median(b):8.{digits}f}   {middle:.2f} ({low:.2f} to {high:.2f})")
    print(f"{turns} turns, load {os.getloadavg()[0]:.1f}")
    for k in kernels:
        k.shutdown()


if __name__ == "__main__":
    main()
