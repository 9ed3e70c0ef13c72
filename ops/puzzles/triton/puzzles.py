"""The twelve puzzles of Triton. make.py compiles them to the PTX beside this file."""

import triton
import triton.language as tl


@triton.jit
def puzzle_add(out, x):
    i = tl.arange(0, 32)
    tl.store(out + i, tl.load(x + i) + 10)


@triton.jit
def puzzle_add_block(out, x, n):
    i = tl.program_id(0) * 32 + tl.arange(0, 32)
    tl.store(out + i, tl.load(x + i, mask=i < n) + 10, mask=i < n)


@triton.jit
def puzzle_outer(out, x, y):
    i = tl.arange(0, 8)
    z = tl.load(x + i)[None, :] + tl.load(y + i)[:, None]
    tl.store(out + i[:, None] * 8 + i[None, :], z)


@triton.jit
def puzzle_outer_block(out, x, y, rows, columns):
    j = tl.program_id(0) * 8 + tl.arange(0, 8)
    i = tl.program_id(1) * 8 + tl.arange(0, 8)
    z = tl.load(x + j, mask=j < columns)[None, :] + tl.load(y + i, mask=i < rows)[:, None]
    inside = (i < rows)[:, None] & (j < columns)[None, :]
    tl.store(out + i[:, None] * columns + j[None, :], z, mask=inside)


@triton.jit
def puzzle_mul_relu(out, x, y, rows, columns):
    j = tl.program_id(0) * 8 + tl.arange(0, 8)
    i = tl.program_id(1) * 8 + tl.arange(0, 8)
    z = tl.load(x + j, mask=j < columns)[None, :] * tl.load(y + i, mask=i < rows)[:, None]
    inside = (i < rows)[:, None] & (j < columns)[None, :]
    tl.store(out + i[:, None] * columns + j[None, :], tl.maximum(z, 0), mask=inside)


@triton.jit
def puzzle_mul_relu_back(out, x, y, dz, rows, columns):
    j = tl.program_id(0) * 8 + tl.arange(0, 8)
    i = tl.program_id(1) * 8 + tl.arange(0, 8)
    at = i[:, None] * columns + j[None, :]
    inside = (i < rows)[:, None] & (j < columns)[None, :]
    factor = tl.load(y + i, mask=i < rows)[:, None]
    product = tl.load(x + at, mask=inside) * factor
    gradient = factor * tl.load(dz + at, mask=inside)
    tl.store(out + at, tl.where(product > 0, gradient, 0), mask=inside)


@triton.jit
def puzzle_long_sum(out, x, columns):
    row = tl.program_id(0)
    total = tl.zeros((32,), tl.float32)
    for start in range(0, columns, 32):
        c = start + tl.arange(0, 32)
        total += tl.load(x + row * columns + c, mask=c < columns, other=0)
    tl.store(out + row, tl.sum(total, axis=0))


@triton.jit
def puzzle_long_softmax(out, x, columns):
    row = tl.program_id(0)
    most = -float("inf")
    total = 0.0
    for start in range(0, columns, 32):
        c = start + tl.arange(0, 32)
        v = tl.load(x + row * columns + c, mask=c < columns, other=-float("inf"))
        now = tl.maximum(most, tl.max(v, axis=0))
        total = total * tl.exp(most - now) + tl.sum(tl.exp(v - now), axis=0)
        most = now
    for start in range(0, columns, 32):
        c = start + tl.arange(0, 32)
        v = tl.load(x + row * columns + c, mask=c < columns)
        tl.store(out + row * columns + c, tl.exp(v - most) / total, mask=c < columns)


@triton.jit
def puzzle_flash(out, q, k, v, n):
    i = tl.program_id(0) * 32 + tl.arange(0, 32)
    mine = tl.load(q + i, mask=i < n, other=0)
    most = tl.full((32,), -float("inf"), tl.float32)
    total = tl.zeros((32,), tl.float32)
    result = tl.zeros((32,), tl.float32)
    for start in range(0, n, 16):
        j = start + tl.arange(0, 16)
        score = mine[:, None] * tl.load(k + j, mask=j < n, other=0)[None, :]
        score = tl.where((j < n)[None, :], score, -float("inf"))
        now = tl.maximum(most, tl.max(score, axis=1))
        scale = tl.exp(most - now)
        share = tl.exp(score - now[:, None])
        total = total * scale + tl.sum(share, axis=1)
        values = tl.load(v + j, mask=j < n, other=0)[None, :]
        result = result * scale + tl.sum(share * values, axis=1)
        most = now
    tl.store(out + i, result / total, mask=i < n)


@triton.jit
def puzzle_conv2d(out, x, k):
    image = tl.program_id(0) * 64
    i = tl.arange(0, 8)[:, None]
    j = tl.arange(0, 8)[None, :]
    total = tl.zeros((8, 8), tl.float32)
    for a in tl.static_range(3):
        for b in tl.static_range(3):
            inside = (i + a < 8) & (j + b < 8)
            total += tl.load(k + a * 3 + b) * tl.load(x + image + (i + a) * 8 + j + b, mask=inside, other=0)
    tl.store(out + image + i * 8 + j, total)


@triton.jit
def puzzle_batch_matmul(out, x, y):
    matrix = tl.program_id(0) * 256
    i = tl.arange(0, 16)
    at = matrix + i[:, None] * 16 + i[None, :]
    tl.store(out + at, tl.dot(tl.load(x + at), tl.load(y + at), input_precision="ieee"))


@triton.jit
def puzzle_quantized(out, scale, offset, weight, y):
    i = tl.arange(0, 16)
    g = tl.arange(0, 4)
    j = tl.arange(0, 8)
    word = tl.load(weight + i[:, None] * 4 + g[None, :])
    w = (word[:, :, None] >> (j * 4)[None, None, :]) & 15  # 16 x 4 x 8: unpacked along a new direction
    o = (tl.load(offset + i)[:, None] >> (g * 4)[None, :]) & 15
    s = tl.load(scale + i[:, None] * 4 + g[None, :])
    matrix = tl.reshape(s[:, :, None] * (w - o[:, :, None]), (16, 32))
    k = tl.arange(0, 32)
    values = tl.load(y + k[:, None] * 16 + i[None, :])
    tl.store(out + i[:, None] * 16 + i[None, :], tl.dot(matrix, values, input_precision="ieee"))
