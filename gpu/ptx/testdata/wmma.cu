#include <mma.h>
#include <cuda_pipeline.h>
using namespace nvcuda;
extern "C" __global__ void gemm_wmma(const half* a, const half* b, float* c) {
  __shared__ __align__(16) half s[256];
  __pipeline_memcpy_async(s + threadIdx.x * 8, a + threadIdx.x * 8, 16); __pipeline_commit(); __pipeline_wait_prior(0); __syncwarp();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa; wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb; wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.f); wmma::load_matrix_sync(fa, s, 16); wmma::load_matrix_sync(fb, b, 16); wmma::mma_sync(fc, fa, fb, fc); wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
