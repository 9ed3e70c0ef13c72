"""cuBLAS and cuBLASLt at run time, for D = A B, row-major. They work column by column, so A and B change places."""

import ctypes as C

import torch

import peer

TYPES = {torch.float32: 0, torch.bfloat16: 14, torch.float16: 2}
FLOAT32, PEDANTIC, TF32 = 68, 69, 77  # CUBLAS_COMPUTE_32F, _32F_PEDANTIC, _32F_FAST_TF32
PEDANTIC_MATH = 2  # CUBLAS_PEDANTIC_MATH
EPILOGUE, BIAS_POINTER, RELU_BIAS = 7, 8, 6  # of CUBLASLT_MATMUL_DESC_ twice, and CUBLASLT_EPILOGUE_
WORKSPACE = 64 << 20


class Result(C.Structure):
    _fields_ = [("algorithm", C.c_uint64 * 8), ("workspace", C.c_size_t), ("state", C.c_int), ("waves", C.c_float), ("reserved", C.c_int * 4)]


def library(name):
    for path in (peer.file_of(name), f"lib{name}.so.13", f"lib{name}.so.12"):
        try:
            return C.CDLL(path)
        except OSError:
            pass
    return None


def check(status, what):
    if status:
        raise RuntimeError(f"cuBLAS: {what}: status {status}")


def pedantic(a, b, d):
    """Products in float32 without tensor cores: names of figures, what is called, and functions that run. Of a batch, at equal
    distances and by pointers. None without the library."""
    blas = library("cublas")
    if blas is None:
        return
    one, zero = C.c_float(1), C.c_float(0)
    *batch, m, k = a.shape
    n = b.shape[-1]
    lda, ldb, ldd = (x.stride(-2) for x in (a, b, d))
    at = [C.c_void_p(x.data_ptr()) for x in (b, a, d)]

    def calls(name, *arguments):
        def run():
            handle = C.c_void_p(torch.cuda.current_blas_handle())  # asked for each time: of the stream that is captured, too
            check(blas.cublasSetMathMode(handle, PEDANTIC_MATH), "math mode")  # torch sets its own for each of its calls
            check(getattr(blas, name)(handle, 0, 0, n, m, k, C.byref(one), *arguments), name)
        return run

    if not batch:
        yield "cublas_pedantic", "cublasSgemm", calls("cublasSgemm_v2", at[0], ldb, at[1], lda, C.byref(zero), at[2], ldd)
        return
    each = [C.c_longlong(x.stride(0)) for x in (b, a, d)]
    yield "cublas_strided", "cublasSgemmStridedBatched", calls("cublasSgemmStridedBatched", at[0], ldb, each[0], at[1], lda, each[1],
                                                               C.byref(zero), at[2], ldd, each[2], batch[0])
    places = [torch.tensor([one.data_ptr() for one in x], device=x.device) for x in (b, a, d)]  # int64: pointers
    lists = [C.c_void_p(x.data_ptr()) for x in places]
    run = calls("cublasSgemmBatched", lists[0], ldb, lists[1], lda, C.byref(zero), lists[2], ldd, batch[0])
    run.places = places  # which live as long as the run
    yield "cublas_pointers", "cublasSgemmBatched", run


def plans(a, b, d, compute, bias=None, want=8):
    """The proposals of cuBLASLt's heuristic as functions that run; none without the library. With a bias for each column
    of D, D = max(0, A B + bias)."""
    lt = library("cublasLt")
    if lt is None:
        return []
    handle, description, preference = C.c_void_p(), C.c_void_p(), C.c_void_p()
    check(lt.cublasLtCreate(C.byref(handle)), "create")
    check(lt.cublasLtMatmulDescCreate(C.byref(description), compute, 0), "description")
    if bias is not None:
        kind, at = C.c_uint32(RELU_BIAS), C.c_void_p(bias.data_ptr())
        check(lt.cublasLtMatmulDescSetAttribute(description, EPILOGUE, C.byref(kind), C.c_size_t(4)), "epilogue")
        check(lt.cublasLtMatmulDescSetAttribute(description, BIAS_POINTER, C.byref(at), C.c_size_t(8)), "bias")

    def layout(x):
        made = C.c_void_p()
        rows, columns = x.shape
        check(lt.cublasLtMatrixLayoutCreate(C.byref(made), TYPES[x.dtype], C.c_uint64(columns), C.c_uint64(rows), C.c_int64(x.stride(0))), "layout")
        return made

    layouts = layout(b), layout(a), layout(d), layout(d)
    check(lt.cublasLtMatmulPreferenceCreate(C.byref(preference)), "preference")
    bytes_ = C.c_size_t(WORKSPACE)
    check(lt.cublasLtMatmulPreferenceSetAttribute(preference, 1, C.byref(bytes_), C.c_size_t(8)), "workspace")
    results, count = (Result * want)(), C.c_int()
    check(lt.cublasLtMatmulAlgoGetHeuristic(handle, description, *layouts, preference, want, results, C.byref(count)), "heuristic")
    workspace, one, zero = torch.empty(WORKSPACE, dtype=torch.uint8, device=a.device), C.c_float(1), C.c_float(0)

    def plan(result):
        def run():
            at = [C.c_void_p(x.data_ptr()) for x in (a, b, d, workspace)]
            check(lt.cublasLtMatmul(handle, description, C.byref(one), at[1], layouts[0], at[0], layouts[1], C.byref(zero), at[2], layouts[2],
                                    at[2], layouts[3], C.byref(result), at[3], bytes_, C.c_void_p(torch.cuda.current_stream().cuda_stream)), "matmul")
        return run

    return [plan(r) for r in results[:count.value] if r.state == 0]
