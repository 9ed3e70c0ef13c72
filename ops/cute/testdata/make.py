"""Writes pycute.json: layouts that NVIDIA's own pycute computes, for the tests of ops/cute.

    pip install --no-deps nvidia-cutlass==4.2.0.0
    python ops/cute/testdata/make.py

pycute is the Python form of CuTe's algebra. It needs no GPU.
"""

import json
import pathlib
import random

import pycute
from pycute import Layout, coalesce, complement, composition, logical_divide, logical_product

choose = random.Random(20261125)


def text(value):
    if isinstance(value, tuple):
        return "(" + ",".join(text(v) for v in value) + ")"
    return str(value)


def show(layout):
    return f"{text(layout.shape)}:{text(layout.stride)}"


def compact(depth=0):
    """A shape of small numbers, some nested."""
    if depth == 2 or choose.random() < 0.5:
        return choose.choice([1, 2, 3, 4, 6, 8])
    return tuple(compact(depth + 1) for _ in range(choose.randint(1, 3)))


def layout():
    shape = compact()
    kind = choose.random()
    if kind < 0.4:
        return Layout(shape)
    flat = pycute.flatten(shape)
    flat = flat if isinstance(flat, tuple) else (flat,)
    order = list(range(len(flat)))
    choose.shuffle(order)
    strides, step = [0] * len(flat), choose.choice([1, 1, 2, 3])
    for i in order:  # no two offsets are equal
        strides[i] = step
        step *= flat[i] * choose.choice([1, 1, 1, 2])
    strides = iter(strides)

    def like(part):
        return tuple(like(p) for p in part) if isinstance(part, tuple) else next(strides)

    return Layout(shape, like(shape))


cases = []
operations = {
    "coalesce": lambda a, b: coalesce(a),
    "complement": lambda a, b: complement(a, b.size()),
    "compose": composition,
    "divide": logical_divide,
    "product": logical_product,
}
for name, operation in operations.items():
    count = 0
    while count < 60:
        a, b = layout(), layout()
        try:
            result = operation(a, b)
        except AssertionError:
            continue  # no layout
        if a.size() > 1000 or b.size() > 1000 or result.size() > 20000:
            continue
        cases.append([name, show(a), show(b), show(result)])
        count += 1
lines = ",\n".join(json.dumps(case) for case in cases)
pathlib.Path(__file__).with_name("pycute.json").write_text(f"[\n{lines}\n]\n")
