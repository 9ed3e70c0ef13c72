"""Peers of products of sparse matrices: cuSPARSE through torch, on matrices of the same kinds as ours. Written without a GPU and not run yet."""

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


def prepare(a):
    torch.manual_seed(a.seed)
    square = a.size[0] == a.size[1] and a.size[0] & (a.size[0] - 1) == 0
    kinds = {"banded": banded} | ({"rmat": rmat} if square else {})
    library = f"cuSPARSE of CUDA {torch.version.cuda}, torch {torch.__version__}"

    def spmv(name, make, bytes, note):
        rows, columns, nnz = a.size
        m, x = make(kinds[name], rows, columns, nnz), torch.rand(columns, device="cuda")
        out = torch.empty(rows, device="cuda")
        # in float64 by another way than cuSPARSE's
        row = m.to_sparse_coo().indices()[0] if m.layout == torch.sparse_csr else m.indices()[0]
        column = m.col_indices().long() if m.layout == torch.sparse_csr else m.indices()[1]
        want = torch.zeros(rows, dtype=torch.float64, device="cuda").index_add_(0, row, m.values().double() * x.double()[column])
        run = (lambda: torch.mv(m, x, out=out)) if m.layout == torch.sparse_csr else (lambda: m @ x)

        def timed():
            got = run()
            peer.figure(a, "cusparse_" + name, close(got, want), run, bytes=bytes, library=library, note=f"{note}, data {name}")
        return timed

    for name in kinds:
        if not peer.wanted(a, "cusparse_" + name):
            continue
        if a.operator == "spmv":
            rows, columns, nnz = a.size
            yield spmv(name, csr, 8 * nnz + 4 * (2 * rows + 1 + columns), "torch.mv of a CSR tensor, int32 indices")
        if a.operator == "spmv_coo":
            rows, columns, nnz = a.size
            yield spmv(name, coo, 12 * nnz + 4 * (rows + columns), "a COO tensor @ a vector; torch has int64 indices")


peer.serve(prepare)
