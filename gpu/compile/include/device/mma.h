// Matrices of a warp on the tensor cores.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {

struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
}  // namespace precision

template <class T, int N>
struct __wb_elements {
  typedef T element_type;
  enum { num_elements = N, num_storage_elements = N };
  T x[N];
};
template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment;

// Numbers of elements by use, shape and type.
#define __WB_FRAGMENT(use, m, n, k, type, stored, count)                                    \
  template <class Layout> struct fragment<use, m, n, k, type, Layout> : __wb_elements<stored, count> {};
#define __WB_SUM(m, n, k, type, count)                                                      \
  template <> struct fragment<accumulator, m, n, k, type, void> : __wb_elements<type, count> {};
// The calls of the compiler that load, multiply and store a shape.
#define __WB_FRAGMENT_LOADS(use, m, n, k, type, as, word, builtin)                                   \
  __WB void load_matrix_sync(fragment<use, m, n, k, type, row_major> &f, const as *p, unsigned ld) { builtin((word *)f.x, (const word *)p, ld, 0); } \
  __WB void load_matrix_sync(fragment<use, m, n, k, type, col_major> &f, const as *p, unsigned ld) { builtin((word *)f.x, (const word *)p, ld, 1); }
#define __WB_SUMS(m, n, k, type, word, load, store)                                         \
  __WB void load_matrix_sync(fragment<accumulator, m, n, k, type> &f, const type *p, unsigned ld, layout_t l) { \
    if (l == mem_row_major) load((word *)f.x, (const word *)p, ld, 0); else load((word *)f.x, (const word *)p, ld, 1); \
  }                                                                                         \
  __WB void store_matrix_sync(type *p, const fragment<accumulator, m, n, k, type> &f, unsigned ld, layout_t l) { \
    if (l == mem_row_major) store((word *)p, (const word *)f.x, ld, 0); else store((word *)p, (const word *)f.x, ld, 1); \
  }
#define __WB_MMA1(m, n, k, type, la, lb, layout, dt, ct, dw, cw, word, ...)                 \
  __WB void mma_sync(fragment<accumulator, m, n, k, dt> &d, const fragment<matrix_a, m, n, k, type, la> &a, \
                     const fragment<matrix_b, m, n, k, type, lb> &b, const fragment<accumulator, m, n, k, ct> &c) { \
    __WB_CALL(layout, dw, cw, word, __VA_ARGS__);                                           \
  }
#define __WB_CALL(layout, dw, cw, word, builtin, ...) \
  builtin((dw *)d.x, (const word *)a.x, (const word *)b.x, (const cw *)c.x, layout, __VA_ARGS__)
#define __WB_MMA(m, n, k, type, dt, ct, dw, cw, word, ...)                                  \
  __WB_MMA1(m, n, k, type, row_major, row_major, 0, dt, ct, dw, cw, word, __VA_ARGS__)      \
  __WB_MMA1(m, n, k, type, row_major, col_major, 1, dt, ct, dw, cw, word, __VA_ARGS__)      \
  __WB_MMA1(m, n, k, type, col_major, row_major, 2, dt, ct, dw, cw, word, __VA_ARGS__)      \
  __WB_MMA1(m, n, k, type, col_major, col_major, 3, dt, ct, dw, cw, word, __VA_ARGS__)

#define __WB_HALVES(m, n, k, shape)                                                         \
  __WB_FRAGMENT(matrix_a, m, n, k, __half, __half, 16)                                      \
  __WB_FRAGMENT(matrix_b, m, n, k, __half, __half, 16)                                      \
  __WB_SUM(m, n, k, __half, 8)                                                              \
  __WB_SUM(m, n, k, float, 8)                                                               \
  __WB_FRAGMENT_LOADS(matrix_a, m, n, k, __half, __half, int, __hmma_##shape##_ld_a)                 \
  __WB_FRAGMENT_LOADS(matrix_b, m, n, k, __half, __half, int, __hmma_##shape##_ld_b)                 \
  __WB_SUMS(m, n, k, __half, int, __hmma_##shape##_ld_c_f16, __hmma_##shape##_st_c_f16)     \
  __WB_SUMS(m, n, k, float, float, __hmma_##shape##_ld_c_f32, __hmma_##shape##_st_c_f32)    \
  __WB_MMA(m, n, k, __half, __half, __half, int, int, int, __hmma_##shape##_mma_f16f16, 0) \
  __WB_MMA(m, n, k, __half, float, __half, float, int, int, __hmma_##shape##_mma_f32f16, 0) \
  __WB_MMA(m, n, k, __half, __half, float, int, float, int, __hmma_##shape##_mma_f16f32, 0) \
  __WB_MMA(m, n, k, __half, float, float, float, float, int, __hmma_##shape##_mma_f32f32, 0)
__WB_HALVES(16, 16, 16, m16n16k16)
__WB_HALVES(32, 8, 16, m32n8k16)
__WB_HALVES(8, 32, 16, m8n32k16)

#define __WB_BYTES(m, n, k, shape, as, bs)                                                  \
  __WB_FRAGMENT(matrix_a, m, n, k, signed char, signed char, as)                            \
  __WB_FRAGMENT(matrix_b, m, n, k, signed char, signed char, bs)                            \
  __WB_FRAGMENT(matrix_a, m, n, k, unsigned char, unsigned char, as)                        \
  __WB_FRAGMENT(matrix_b, m, n, k, unsigned char, unsigned char, bs)                        \
  __WB_SUM(m, n, k, int, 8)                                                                 \
  __WB_FRAGMENT_LOADS(matrix_a, m, n, k, signed char, signed char, int, __imma_##shape##_ld_a_s8)    \
  __WB_FRAGMENT_LOADS(matrix_b, m, n, k, signed char, signed char, int, __imma_##shape##_ld_b_s8)    \
  __WB_FRAGMENT_LOADS(matrix_a, m, n, k, unsigned char, unsigned char, int, __imma_##shape##_ld_a_u8) \
  __WB_FRAGMENT_LOADS(matrix_b, m, n, k, unsigned char, unsigned char, int, __imma_##shape##_ld_b_u8) \
  __WB_SUMS(m, n, k, int, int, __imma_##shape##_ld_c, __imma_##shape##_st_c_i32)            \
  __WB_MMA(m, n, k, signed char, int, int, int, int, int, __imma_##shape##_mma_s8, 0) \
  __WB_MMA(m, n, k, unsigned char, int, int, int, int, int, __imma_##shape##_mma_u8, 0)
__WB_BYTES(16, 16, 16, m16n16k16, 8, 8)
__WB_BYTES(32, 8, 16, m32n8k16, 16, 4)
__WB_BYTES(8, 32, 16, m8n32k16, 4, 16)

#if __CUDA_ARCH__ >= 800
#define __WB_BFLOATS(m, n, k, shape, as, bs)                                                \
  __WB_FRAGMENT(matrix_a, m, n, k, __nv_bfloat16, __nv_bfloat16, as)                        \
  __WB_FRAGMENT(matrix_b, m, n, k, __nv_bfloat16, __nv_bfloat16, bs)                        \
  __WB_FRAGMENT_LOADS(matrix_a, m, n, k, __nv_bfloat16, __nv_bfloat16, int, __mma_bf16_##shape##_ld_a) \
  __WB_FRAGMENT_LOADS(matrix_b, m, n, k, __nv_bfloat16, __nv_bfloat16, int, __mma_bf16_##shape##_ld_b) \
  __WB_MMA(m, n, k, __nv_bfloat16, float, float, float, float, int, __mma_bf16_##shape##_mma_f32, 0)
__WB_BFLOATS(16, 16, 16, m16n16k16, 8, 8)
__WB_BFLOATS(32, 8, 16, m32n8k16, 16, 4)
__WB_BFLOATS(8, 32, 16, m8n32k16, 4, 16)
__WB_FRAGMENT(matrix_a, 16, 16, 8, precision::tf32, float, 4)
__WB_FRAGMENT(matrix_b, 16, 16, 8, precision::tf32, float, 4)
__WB_SUM(16, 16, 8, float, 8)
__WB_FRAGMENT_LOADS(matrix_a, 16, 16, 8, precision::tf32, float, int, __mma_tf32_m16n16k8_ld_a)
__WB_FRAGMENT_LOADS(matrix_b, 16, 16, 8, precision::tf32, float, int, __mma_tf32_m16n16k8_ld_b)
__WB_SUMS(16, 16, 8, float, float, __mma_tf32_m16n16k8_ld_c, __mma_m16n16k8_st_c_f32)
__WB_MMA(16, 16, 8, precision::tf32, float, float, float, float, int, __mma_tf32_m16n16k8_mma_f32, 0)
__WB_FRAGMENT(matrix_a, 8, 8, 4, double, double, 1)
__WB_FRAGMENT(matrix_b, 8, 8, 4, double, double, 1)
__WB_SUM(8, 8, 4, double, 2)
__WB_FRAGMENT_LOADS(matrix_a, 8, 8, 4, double, double, double, __dmma_m8n8k4_ld_a)
__WB_FRAGMENT_LOADS(matrix_b, 8, 8, 4, double, double, double, __dmma_m8n8k4_ld_b)
__WB_SUMS(8, 8, 4, double, double, __dmma_m8n8k4_ld_c, __dmma_m8n8k4_st_c_f64)
__WB_MMA(8, 8, 4, double, double, double, double, double, double, __dmma_m8n8k4_mma_f64, 0)
__WB float __float_to_tf32(float x) {
  unsigned int r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return __uint_as_float(r);
}
#endif

template <class Use, int M, int N, int K, class T, class Layout, class V>
__WB void fill_fragment(fragment<Use, M, N, K, T, Layout> &f, const V &v) {
  for (int i = 0; i < f.num_elements; i++) f.x[i] = v;
}

#undef __WB_FRAGMENT
#undef __WB_SUM
#undef __WB_FRAGMENT_LOADS
#undef __WB_SUMS
#undef __WB_MMA1
#undef __WB_CALL
#undef __WB_MMA
#undef __WB_HALVES
#undef __WB_BYTES
#undef __WB_BFLOATS

}  // namespace wmma
}  // namespace nvcuda
