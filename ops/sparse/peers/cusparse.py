"""cuSPARSE's products at run time, by algorithms that torch does not choose. Matrices are torch's CSR tensors with int32 indices."""

import ctypes as C

import torch

import peer

INT32, FLOAT32, ROWS = 2, 0, 2  # CUSPARSE_INDEX_32I, CUDA_R_32F, CUSPARSE_ORDER_ROW
ONE, ZERO = C.c_float(1), C.c_float(0)


class Library:
    """A handle of cuSPARSE. Calls that fail raise what they return."""

    def __init__(self):
        self.dll, self.handle = C.CDLL(peer.file_of("cusparse")), C.c_void_p()
        self.call("cusparseCreate", C.byref(self.handle))

    def call(self, name, *arguments):
        status = getattr(self.dll, name)(*arguments)
        if status:
            raise RuntimeError(f"cuSPARSE: {name}: status {status}")

    def matrix(self, m):
        made, (rows, columns) = C.c_void_p(), m.shape
        offsets, index, values = (C.c_void_p(t.data_ptr()) for t in (m.crow_indices(), m.col_indices(), m.values()))
        self.call("cusparseCreateCsr", C.byref(made), C.c_int64(rows), C.c_int64(columns), C.c_int64(m.values().numel()), offsets, index, values,
                  INT32, INT32, 0, FLOAT32)
        return made

    def vector(self, x):
        made = C.c_void_p()
        self.call("cusparseCreateDnVec", C.byref(made), C.c_int64(x.numel()), C.c_void_p(x.data_ptr()), FLOAT32)
        return made

    def dense(self, x):
        made, (rows, columns) = C.c_void_p(), x.shape
        self.call("cusparseCreateDnMat", C.byref(made), C.c_int64(rows), C.c_int64(columns), C.c_int64(columns), C.c_void_p(x.data_ptr()), FLOAT32, ROWS)
        return made

    def product(self, name, m, x, y, algorithm):
        """A function that runs y = m x by cusparse NAME, SpMV or SpMM, after its preprocessing."""
        of = self.vector if name == "SpMV" else self.dense
        operands = (0, C.byref(ONE), self.matrix(m), of(x), C.byref(ZERO), of(y), FLOAT32, algorithm)
        if name == "SpMM":  # a transposition of each factor
            operands = (0,) + operands
        bytes = C.c_size_t()
        self.call(f"cusparse{name}_bufferSize", self.handle, *operands, C.byref(bytes))
        scratch = torch.empty(max(1, bytes.value), dtype=torch.uint8, device="cuda")
        at = C.c_void_p(scratch.data_ptr())
        self.call(f"cusparse{name}_preprocess", self.handle, *operands, at)

        def run():
            self.call("cusparseSetStream", self.handle, C.c_void_p(torch.cuda.current_stream().cuda_stream))
            self.call(f"cusparse{name}", self.handle, *operands, at)

        run.scratch = scratch, m, x, y  # which live as long as the run
        return run
