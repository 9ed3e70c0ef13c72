"""Peers of products of sparse matrices and of their conversions, on matrices of the same kinds as ours, each of which names its
figures: a peer does not know the data set of the rungs beside it.

Timed beside ours: cuSPARSE through torch (cusparse_KIND); cuSPARSE's own calls after its preprocessing, by each of its
algorithms for CSR (cusparse_alg1_KIND, alg2, and alg3 of SpMM); and Triton (triton_KIND): of SpMV a block of rows, of SpMM a row.
SpGEMM and conversions: torch.
Tried and lost, run by name alone: cupy_KIND (cupyx.scipy.sparse; SpGEMM). A dense product in TF32 computes SpMM in 402 us at the
size of README, but of a dense matrix: another layout. CUB has a CSR product no longer; Thrust has none.
"""

import torch
import triton
import triton.language as tl

import cusparse
import peer


@triton.autotune([triton.Config({"ROWS": rows, "WIDTH": width}, num_warps=warps) for rows in (16, 32, 64, 128) for width in (16,) for warps in (4, 8)],
                 key=["rows", "nnz"])
@triton.jit
def blocks_of_rows(offsets, index, values, x, y, rows, nnz, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    begin, end = tl.load(offsets + r, mask=r < rows, other=0), tl.load(offsets + r + 1, mask=r < rows, other=0)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for first in range(0, tl.max(end - begin, 0), WIDTH):
        at = begin[:, None] + first + tl.arange(0, WIDTH)[None, :]
        inside = at < end[:, None]
        total += tl.load(values + at, mask=inside, other=0.0) * tl.load(x + tl.load(index + at, mask=inside, other=0), mask=inside, other=0.0)
    tl.store(y + r, tl.sum(total, 1), mask=r < rows)


@triton.autotune([triton.Config({"WIDTH": width}, num_warps=warps) for width in (8, 16, 32) for warps in (1, 2, 4, 8)], key=["rows", "nnz", "COLUMNS"])
@triton.jit
def one_row(offsets, index, values, b, y, rows, nnz, COLUMNS: tl.constexpr, WIDTH: tl.constexpr):
    r, column = tl.program_id(0), tl.arange(0, COLUMNS)
    begin, end = tl.load(offsets + r), tl.load(offsets + r + 1)
    total = tl.zeros((COLUMNS,), tl.float32)
    for first in range(begin, end, WIDTH):
        at = first + tl.arange(0, WIDTH)
        v, c = tl.load(values + at, mask=at < end, other=0.0), tl.load(index + at, mask=at < end, other=0)
        total += tl.sum(v[:, None] * tl.load(b + c[:, None] * COLUMNS + column[None, :]), 0)
    tl.store(y + r * COLUMNS + column, total)


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


def spmv(a, kind, structure, library):
    rows, columns, nnz = a.size
    if a.operator == "spmv":
        m, bytes, note = csr(structure, rows, columns, nnz), 8 * nnz + 4 * (2 * rows + 1 + columns), "torch.mv of a CSR tensor, int32 indices"
        row, column = m.to_sparse_coo().indices()[0], m.col_indices().long()
    else:
        m, bytes, note = coo(structure, rows, columns, nnz), 12 * nnz + 4 * (rows + columns), "a COO tensor @ a vector; torch has int64 indices"
        row, column = m.indices()
    x, out = torch.rand(columns, device="cuda"), torch.empty(rows, device="cuda")
    want = torch.zeros(rows, dtype=torch.float64, device="cuda").index_add_(0, row, m.values().double() * x.double()[column])

    def into(run):
        """A run that leaves its result in out."""
        def whole():
            run()
            return out
        return whole

    def figure(name, run, library, note):
        def timed():
            out.fill_(float("nan"))
            peer.figure(a, name, close(run(), want), run, bytes=bytes, library=library, note=note)
        return timed

    if peer.wanted(a, "cusparse_" + kind):
        yield figure("cusparse_" + kind, (lambda: torch.mv(m, x, out=out)) if a.operator == "spmv" else (lambda: m @ x), library, note)
    if a.operator == "spmv_coo":
        return
    for name, algorithm in (("cusparse_alg1_", 2), ("cusparse_alg2_", 3)):  # CUSPARSE_SPMV_CSR_ALG1 and 2
        if peer.wanted(a, name + kind):
            yield figure(name + kind, into(cusparse.Library().product("SpMV", m, x, out, algorithm)), library, "cusparseSpMV after its preprocessing")
    if peer.wanted(a, "triton_" + kind):
        run = into(lambda: blocks_of_rows[lambda c: (triton.cdiv(rows, c["ROWS"]),)](m.crow_indices(), m.col_indices(), m.values(), x, out, rows, nnz))
        yield figure("triton_" + kind, run, f"Triton {triton.__version__}", "a block of rows, autotuned")
    if peer.tried(a, "cupy_" + kind):
        import cupy
        import cupyx.scipy.sparse
        of = cupyx.scipy.sparse.csr_matrix(tuple(cupy.from_dlpack(t) for t in (m.values(), m.col_indices(), m.crow_indices())), shape=tuple(m.shape))
        u = cupy.from_dlpack(x)
        yield figure("cupy_" + kind, peer.by_cupy(lambda: torch.from_dlpack(of @ u)), f"cupy {cupy.__version__}", "csr_matrix @ x")


def spmm(a, kind, structure, library):
    rows, columns, nnz, k = a.size
    m, b = csr(structure, rows, columns, nnz), torch.rand(columns, k, device="cuda")
    out = torch.empty(rows, k, device="cuda")
    want = m.to_dense().double() @ b.double()

    def figure(name, run, library, note):
        def timed():
            out.zero_()  # NaN would stay: torch multiplies what was there by beta, 0
            run()
            peer.figure(a, name, close(out, want), run, flops=2 * nnz * k, library=library, note=note)
        return timed

    if peer.wanted(a, "cusparse_" + kind):
        yield figure("cusparse_" + kind, lambda: torch.addmm(out, m, b, beta=0, out=out), library, "torch.addmm of a CSR tensor, row-major B")
    for name, algorithm in (("cusparse_alg1_", 4), ("cusparse_alg2_", 6), ("cusparse_alg3_", 12)):  # CUSPARSE_SPMM_CSR_ALG1 to 3
        if peer.wanted(a, name + kind):
            yield figure(name + kind, cusparse.Library().product("SpMM", m, b, out, algorithm), library, "cusparseSpMM after its preprocessing, row-major B")
    if k & (k - 1) == 0 and peer.wanted(a, "triton_" + kind):
        run = lambda: one_row[(rows,)](m.crow_indices(), m.col_indices(), m.values(), b, out, rows, nnz, k)
        yield figure("triton_" + kind, run, f"Triton {triton.__version__}", "a row of the result, autotuned")


def spgemm(a, kind, structure, library):
    n, nnz, _ = a.size
    m, b = (csr(structure, n, n, nnz) for _ in range(2))
    want = m.to_dense().double() @ b.to_dense().double()

    def figure(name, run, dense, library, note):
        return lambda: peer.figure(a, name, close(dense(run()), want), run, library=library, note=note + ", with the memory of the result", waits=True)

    if peer.wanted(a, "cusparse_" + kind):
        yield figure("cusparse_" + kind, lambda: m @ b, lambda y: y.to_dense(), library, "CSR @ CSR")
    if peer.tried(a, "cupy_" + kind):
        import cupy
        import cupyx.scipy.sparse
        u, v = (cupyx.scipy.sparse.csr_matrix(tuple(cupy.from_dlpack(t) for t in (s.values(), s.col_indices(), s.crow_indices())), shape=tuple(s.shape)) for s in (m, b))
        yield figure("cupy_" + kind, peer.by_cupy(lambda: u @ v), lambda y: torch.from_dlpack(y.todense()), f"cupy {cupy.__version__}", "csr_matrix @ csr_matrix")


def convert(a, kind, structure, library):
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
    if peer.wanted(a, "torch_" + kind):
        yield lambda: peer.figure(a, "torch_" + kind, right, run, bytes=4 * (rows + 1 + nnz), library=f"torch {torch.__version__}", note="int32; from CSR it writes columns, too")


def prepare(a):
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
        if not a.only or any(name == "every" or name.endswith("_" + kind) for name in a.only):
            yield from make(a, kind, structure, library)


peer.serve(prepare)
