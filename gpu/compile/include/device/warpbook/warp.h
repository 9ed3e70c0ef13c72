// Barriers, votes, shuffles, matches and reductions of warps and blocks, clocks, and
// functions that end or report.
#pragma once

__WB int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
__WB int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
__WB int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
__WB void __syncwarp(unsigned int mask = 0xffffffff) { __nvvm_bar_warp_sync(mask); }
__WB int __all_sync(unsigned int mask, int p) { return __nvvm_vote_all_sync(mask, p != 0); }
__WB int __any_sync(unsigned int mask, int p) { return __nvvm_vote_any_sync(mask, p != 0); }
__WB int __uni_sync(unsigned int mask, int p) { return __nvvm_vote_uni_sync(mask, p != 0); }
__WB unsigned int __ballot_sync(unsigned int mask, int p) { return __nvvm_vote_ballot_sync(mask, p != 0); }
__WB unsigned int __activemask() { return __nvvm_activemask(); }

#define __WB_SHUFFLE(name, mode, delta, clamp)                                              \
  __WB int name(unsigned int mask, int v, delta, int width = 32) {                          \
    return __nvvm_shfl_sync_##mode##_i32(mask, v, d, ((32 - width) << 8) | clamp);          \
  }                                                                                         \
  __WB float name(unsigned int mask, float v, delta, int width = 32) {                      \
    return __nvvm_shfl_sync_##mode##_f32(mask, v, d, ((32 - width) << 8) | clamp);          \
  }                                                                                         \
  __WB unsigned int name(unsigned int mask, unsigned int v, delta, int width = 32) { return name(mask, (int)v, d, width); } \
  __WB long long name(unsigned int mask, long long v, delta, int width = 32) {              \
    unsigned int lo = name(mask, (unsigned int)v, d, width);                                \
    int hi = name(mask, (int)(v >> 32), d, width);                                          \
    return (long long)hi << 32 | lo;                                                        \
  }                                                                                         \
  __WB unsigned long long name(unsigned int mask, unsigned long long v, delta, int width = 32) { return name(mask, (long long)v, d, width); } \
  __WB long name(unsigned int mask, long v, delta, int width = 32) { return name(mask, (long long)v, d, width); } \
  __WB unsigned long name(unsigned int mask, unsigned long v, delta, int width = 32) { return name(mask, (long long)v, d, width); } \
  __WB double name(unsigned int mask, double v, delta, int width = 32) {                    \
    return __longlong_as_double(name(mask, __double_as_longlong(v), d, width));             \
  }
__WB_SHUFFLE(__shfl_sync, idx, int d, 0x1f)
__WB_SHUFFLE(__shfl_up_sync, up, unsigned int d, 0)
__WB_SHUFFLE(__shfl_down_sync, down, unsigned int d, 0x1f)
__WB_SHUFFLE(__shfl_xor_sync, bfly, int d, 0x1f)
#undef __WB_SHUFFLE

#define __WB_MATCH(type, bits, word)                                                        \
  __WB unsigned int __match_any_sync(unsigned int mask, type v) {                           \
    return __nvvm_match_any_sync_##bits(mask, __builtin_bit_cast(word, v));                 \
  }                                                                                         \
  __WB unsigned int __match_all_sync(unsigned int mask, type v, int *p) {                   \
    return __nvvm_match_all_sync_##bits##p(mask, __builtin_bit_cast(word, v), p);           \
  }
__WB_MATCH(int, i32, unsigned int)
__WB_MATCH(unsigned int, i32, unsigned int)
__WB_MATCH(float, i32, unsigned int)
__WB_MATCH(long, i64, unsigned long long)
__WB_MATCH(unsigned long, i64, unsigned long long)
__WB_MATCH(long long, i64, unsigned long long)
__WB_MATCH(unsigned long long, i64, unsigned long long)
__WB_MATCH(double, i64, unsigned long long)
#undef __WB_MATCH

#if __CUDA_ARCH__ >= 800
__WB unsigned int __reduce_add_sync(unsigned int mask, unsigned int v) { return __nvvm_redux_sync_add(v, mask); }
__WB unsigned int __reduce_min_sync(unsigned int mask, unsigned int v) { return __nvvm_redux_sync_umin(v, mask); }
__WB unsigned int __reduce_max_sync(unsigned int mask, unsigned int v) { return __nvvm_redux_sync_umax(v, mask); }
__WB int __reduce_add_sync(unsigned int mask, int v) { return __nvvm_redux_sync_add(v, mask); }
__WB int __reduce_min_sync(unsigned int mask, int v) { return __nvvm_redux_sync_min(v, mask); }
__WB int __reduce_max_sync(unsigned int mask, int v) { return __nvvm_redux_sync_max(v, mask); }
__WB unsigned int __reduce_and_sync(unsigned int mask, unsigned int v) { return __nvvm_redux_sync_and(v, mask); }
__WB unsigned int __reduce_or_sync(unsigned int mask, unsigned int v) { return __nvvm_redux_sync_or(v, mask); }
__WB unsigned int __reduce_xor_sync(unsigned int mask, unsigned int v) { return __nvvm_redux_sync_xor(v, mask); }
#endif

__WB long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
__WB int clock() { return __nvvm_read_ptx_sreg_clock(); }
__WB void __nanosleep(unsigned int ns) { __nvvm_nanosleep(ns); }
__WB void __trap() { asm volatile("trap;"); }
__WB void __brkpt() { asm volatile("brkpt;"); }
__WB void __exit() { __nvvm_exit(); }
__WB unsigned int __smid() { return __nvvm_read_ptx_sreg_smid(); }
#define __prof_trigger(n) asm volatile("pmevent " #n ";")

extern "C" {
__device__ int printf(const char *, ...);
__device__ int puts(const char *);
__device__ __attribute__((noreturn)) void __assertfail(const void *, const void *, unsigned int, const void *, size_t);
}

#ifdef __WB_PROGRAM // assert is that of the host's C library, which calls this function
extern "C" __device__ __attribute__((noreturn, always_inline, nodebug)) inline void __assert_fail(const char *text, const char *file, unsigned int line, const char *function) {
  __assertfail(text, file, line, function, 1);
}
#endif
