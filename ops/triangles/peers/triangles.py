"""Peers of triangles: a masked product of sparse matrices by torch, which calls cuSPARSE's SpGEMM.

The graph is an RMAT of the operator's parameters, of torch's random numbers, so that it is not the very one that our rungs
count, but one of the same distribution. torch allocates the product in each run and waits for its size: no graph of launches
can be made of it, and its time has the host's part.

Timed beside ours: torch_sparse.
Tried and lost: none. CUB and Thrust have no count of triangles; cupy calls the same SpGEMM. cuGraph has one, and is on no machine
that ours were measured on.
"""

import sys

import torch

import peer


def rmat(n, edges, seed):
    """Oriented by degree, as a strictly lower triangular matrix: its rows and columns."""
    torch.manual_seed(seed)
    u, v = (torch.zeros(edges, dtype=torch.int64, device="cuda") for _ in range(2))
    for _ in range(max(0, n - 1).bit_length()):
        x = torch.rand(edges, device="cuda")
        u = 2 * u + (x >= 0.76)
        v = 2 * v + ((x >= 0.57) & (x < 0.76) | (x >= 0.95))
    u, v = u % n, v % n
    keep = u != v
    key = torch.unique(torch.minimum(u, v)[keep] * n + torch.maximum(u, v)[keep])
    u, v = key // n, key % n
    order = torch.argsort(torch.bincount(torch.cat([u, v]), minlength=n), descending=True, stable=True)
    number = torch.empty_like(order)
    number[order] = torch.arange(n, device="cuda")
    key = torch.unique(torch.maximum(number[u], number[v]) * n + torch.minimum(number[u], number[v]))
    return key // n, key % n


def by_rows(rows, columns, n):
    """The count by another way: the rows of both ends of an edge as bits, 1024 edges at a time."""
    bits = torch.zeros(n, n, dtype=torch.bool, device="cuda")
    bits[rows, columns] = True
    return sum(int((bits[rows[i : i + 1024]] & bits[columns[i : i + 1024]]).sum()) for i in range(0, len(rows), 1024))


def elements(x):
    """The elements of a sparse matrix of either layout."""
    return (x.coalesce() if x.layout == torch.sparse_coo else x).values()


def prepare(a):
    n, edges = a.size
    if a.method == "graph":
        sys.exit("torch.sparse.mm cannot be captured: take --clock events")
    rows, columns = rmat(n, edges, a.seed)
    start = torch.zeros(n + 1, dtype=torch.int64, device="cuda")
    start[1:] = torch.cumsum(torch.bincount(rows, minlength=n), 0)
    lower = torch.sparse_csr_tensor(start, columns, torch.ones(len(rows), device="cuda"), (n, n))

    def run():
        return elements(torch.sparse.mm(lower, lower) * lower).sum()

    if not peer.wanted(a, "torch_sparse"):
        return
    # float32 adds whole numbers exactly up to 2^24 only: the sum for the check is of doubles.
    got = int(elements(torch.sparse.mm(lower, lower) * lower).double().sum())
    right = n > 1 << 17 or got == by_rows(rows, columns, n)
    note = f"{got} triangles, {len(rows)} edges" + ("" if n <= 1 << 17 else ", not verified")
    yield lambda: peer.figure(a, "torch_sparse", right, run, library=f"torch {torch.__version__}", note=note)


peer.serve(prepare)
