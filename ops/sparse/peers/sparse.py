"""Peers of products of sparse matrices: cuSPARSE through torch, on matrices of the same kinds as ours. Written without a GPU and not run yet."""

import argparse

import torch

import peer


def banded(rows, columns, nnz):
    """A band around the diagonal, rows of one length, as data.go has it."""
    offsets = torch.arange(rows + 1, device="cuda") * nnz // rows
    row = torch.repeat_interleave(torch.arange(rows, device="cuda"), offsets.diff())
    length = offsets.diff()[row]
    start = (row * columns // rows - length // 2).clamp(min=0).minimum((columns - length).clamp(min=0))
    return row, (start + torch.arange(nnz, device="cuda") - offsets[row]) % columns


def scattered(rows, columns, nnz):
    place = torch.randint(rows * columns, (nnz,), device="cuda").sort().values
    return place // columns, place % columns


def rmat(rows, columns, nnz):
    """RMAT with 0.57, 0.19, 0.19, 0.05; rows and columns are powers of two."""
    row, column = (torch.zeros(nnz, dtype=torch.int64, device="cuda") for _ in range(2))
    for level in range(max(rows, columns).bit_length() - 1):
        v = torch.rand(nnz, device="cuda")
        row |= (v >= 0.76).long() << level
        column |= (((v >= 0.57) & (v < 0.76)) | (v >= 0.95)).long() << level
    place = (row * columns + column).sort().values
    return place // columns, place % columns


def csr(structure, rows, columns, nnz):
    row, column = structure(rows, columns, nnz)
    offsets = torch.zeros(rows + 1, dtype=torch.int64, device="cuda")
    offsets[1:] = torch.bincount(row, minlength=rows).cumsum(0)
    return torch.sparse_csr_tensor(offsets.int(), column.int(), torch.rand(nnz, device="cuda"), size=(rows, columns))


def coo(structure, rows, columns, nnz):
    row, column = structure(rows, columns, nnz)
    return torch.sparse_coo_tensor(torch.stack([row, column]), torch.rand(nnz, device="cuda"), (rows, columns), is_coalesced=True)


def close(got, want):
    return bool((got.double() - want).abs().max() <= 1e-4 * want.abs().max().clamp(min=1))


def spmv(a, name, structure, library):
    rows, columns, nnz = a.size
    if a.operator == "spmv":
        m, bytes, note = csr(structure, rows, columns, nnz), 8 * nnz + 4 * (2 * rows + 1 + columns), "torch.mv of a CSR tensor, int32 indices"
        row, column = m.to_sparse_coo().indices()[0], m.col_indices().long()
    else:
        m, bytes, note = coo(structure, rows, columns, nnz), 12 * nnz + 4 * (rows + columns), "a COO tensor @ a vector; torch has int64 indices"
        row, column = m.indices()
    x, out = torch.rand(columns, device="cuda"), torch.empty(rows, device="cuda")
    want = torch.zeros(rows, dtype=torch.float64, device="cuda").index_add_(0, row, m.values().double() * x.double()[column])
    run = (lambda: torch.mv(m, x, out=out)) if a.operator == "spmv" else (lambda: m @ x)
    return lambda: peer.figure(a, name, close(run(), want), run, bytes=bytes, library=library, note=note)


def spmm(a, name, structure, library):
    rows, columns, nnz, k = a.size
    m, b = csr(structure, rows, columns, nnz), torch.rand(columns, k, device="cuda")
    out = torch.empty(rows, k, device="cuda")
    want = m.to_dense().double() @ b.double()
    run = lambda: torch.addmm(out, m, b, beta=0, out=out)
    return lambda: peer.figure(a, name, close(run(), want), run, flops=2 * nnz * k, library=library, note="torch.addmm of a CSR tensor, row-major B")


def spgemm(a, name, structure, library):
    n, nnz, _ = a.size
    m, b = (csr(structure, n, n, nnz) for _ in range(2))
    want = m.to_dense().double() @ b.to_dense().double()
    run = lambda: m @ b
    a = argparse.Namespace(**vars(a) | {"method": "events"})  # it waits for the number of entries, which no graph takes
    return lambda: peer.figure(a, name, close(run().to_dense(), want), run, library=library, note="CSR @ CSR with the memory of the result, between events")


def convert(a, name, structure, library):
    rows, nnz = a.size
    m = csr(structure, rows, rows, nnz)
    offsets = m.crow_indices()
    row = torch.repeat_interleave(torch.arange(rows, device="cuda"), offsets.diff()).int()
    if a.operator == "csr_to_coo":
        run = lambda: torch._convert_indices_from_csr_to_coo(offsets, m.col_indices(), out_int32=True)
        right = bool((run()[0] == row).all())
    else:
        run = lambda: torch._convert_indices_from_coo_to_csr(row, rows, out_int32=True)
        right = bool((run() == offsets).all())
    return lambda: peer.figure(a, name, right, run, bytes=4 * (rows + 1 + nnz), library=f"torch {torch.__version__}", note="int32; from CSR it writes columns, too")


def prepare(a):
    """Matrices of two kinds, each of which names its figure: a peer does not know the data set of the rungs beside it."""
    torch.manual_seed(a.seed)
    make = {"spmv": spmv, "spmv_coo": spmv, "spmm": spmm, "spgemm": spgemm, "csr_to_coo": convert, "coo_to_csr": convert}[a.operator]
    library = f"cuSPARSE of CUDA {torch.version.cuda}, torch {torch.__version__}"
    rows = a.size[0]
    columns = rows if a.operator in ("spgemm", "csr_to_coo", "coo_to_csr") else a.size[1]
    kinds = {"banded": banded, "random": scattered}
    if rows == columns and rows & (rows - 1) == 0:
        kinds["rmat"] = rmat
    if a.operator in ("spmm", "spgemm"):
        kinds = {"random": scattered}
    for kind, structure in kinds.items():
        name = ("torch_" if make == convert else "cusparse_") + kind
        if peer.wanted(a, name):
            yield make(a, name, structure, library)


peer.serve(prepare)
