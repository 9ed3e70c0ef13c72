// The same as fused.cu in float16: y[r][c] = (x[r][c] + bias[c]) m s + add[r][c], every
// operation in halves, two at a time.
//
// n is the number of elements of x, rows times columns, below 2^31. Every rung takes any
// number of columns and arrays that start at any element. y may be x or add.

#include <cuda_fp16.h>

// The masks as they are, which are to be 0 or 1: the mistake of note 000. They are
// signed there, so that 255 is -1.
struct RawMask {
    static __device__ __forceinline__ __half2 of(__half2 x, __half2 bias, unsigned char m0, unsigned char m1, __half2 scale, __half2 add) {
        __half2 m = __halves2half2(__short2half_rn((signed char)m0), __short2half_rn((signed char)m1));
        return __hadd2(__hmul2(__hmul2(__hadd2(x, bias), m), scale), add);
    }
};

// Any mask but 0 keeps its element.
struct BoolMask {
    static __device__ __forceinline__ __half2 of(__half2 x, __half2 bias, unsigned char m0, unsigned char m1, __half2 scale, __half2 add) {
        unsigned m = *(unsigned*)&scale & ((m0 ? 0xffffu : 0) | (m1 ? 0xffff0000u : 0));
        return __hfma2(__hadd2(x, bias), *(__half2*)&m, add);
    }
};

// One element per iteration, where vectors do not fit.
template <class Mask>
static __device__ void one_by_one(const __half* x, const __half* __restrict__ bias, const unsigned char* __restrict__ mask, const __half* add, __half* y,
                                  __half2 scale, unsigned n, unsigned columns) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = __low2half(Mask::of(__half2half2(x[i]), __half2half2(bias[i % columns]), mask[i], mask[i], scale, __half2half2(add[i])));
}

// Two elements per thread, as note 000 has it.
template <class Mask>
static __device__ __forceinline__ void two(const __half* x, const __half* __restrict__ bias, const unsigned char* __restrict__ mask, const __half* add, __half* y,
                                           float factor, unsigned n, unsigned columns) {
    __half2 scale = __float2half2_rn(factor);
    bool fits = ((size_t)x | (size_t)bias | (size_t)add | (size_t)y) % 4 == 0 && (size_t)mask % 2 == 0 && columns % 2 == 0;
    if (!fits) return one_by_one<Mask>(x, bias, mask, add, y, scale, n, columns);
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 2; i += gridDim.x * blockDim.x) {
        uchar2 m = ((const uchar2*)mask)[i];
        ((__half2*)y)[i] = Mask::of(((const __half2*)x)[i], ((const __half2*)bias)[i % (columns / 2)], m.x, m.y, scale, ((const __half2*)add)[i]);
    }
}

// The kernel of note 000: its masks multiply as they are.
extern "C" __global__ void fused_half_raw_mask(const __half* x, const __half* __restrict__ bias, const unsigned char* __restrict__ mask, const __half* add, __half* y,
                                               float scale, unsigned n, unsigned columns) {
    two<RawMask>(x, bias, mask, add, y, scale, n, columns);
}

// A mask is 0 or not.
extern "C" __global__ void fused_half2(const __half* x, const __half* __restrict__ bias, const unsigned char* __restrict__ mask, const __half* add, __half* y,
                                       float scale, unsigned n, unsigned columns) {
    two<BoolMask>(x, bias, mask, add, y, scale, n, columns);
}

static __device__ __forceinline__ unsigned pair(unsigned x, unsigned bias, unsigned masks, __half2 scale, unsigned add) {
    __half2 r = BoolMask::of(*(__half2*)&x, *(__half2*)&bias, masks & 255, masks >> 8 & 255, scale, *(__half2*)&add);
    return *(unsigned*)&r;
}

// Loads of eight halves and of eight masks. last: L2 evicts their lines last, from Ampere
// on. Neither takes the read-only path: y may be x or add.
template <bool last> static __device__ __forceinline__ uint4 halves_at(const __half* x, unsigned i) {
    if (!last) return ((const uint4*)x)[i];
    unsigned long long policy;
    uint4 v;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.L1::evict_last.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"((const uint4*)x + i), "l"(policy));
    return v;
}
template <bool last> static __device__ __forceinline__ uint2 masks_at(const unsigned char* mask, unsigned i) {
    if (!last) return ((const uint2*)mask)[i];
    unsigned long long policy;
    uint2 m;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.L1::evict_last.L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;" : "=r"(m.x), "=r"(m.y) : "l"((const uint2*)mask + i), "l"(policy));
    return m;
}

// Eight elements per thread. wide: their masks come in one load. streaming: the store is
// marked as not used again. last: L2 evicts the lines of the loads last.
template <bool wide, bool streaming, bool last = false>
static __device__ __forceinline__ void eight(const __half* x, const __half* __restrict__ bias, const unsigned char* __restrict__ mask, const __half* add, __half* y,
                                             float factor, unsigned n, unsigned columns) {
    __half2 scale = __float2half2_rn(factor);
    bool fits = ((size_t)x | (size_t)bias | (size_t)add | (size_t)y) % 16 == 0 && (size_t)mask % 8 == 0 && columns % 8 == 0;
    if (!fits) return one_by_one<BoolMask>(x, bias, mask, add, y, scale, n, columns);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 8) return;
    uint4 v = halves_at<last>(x, i), b = ((const uint4*)bias)[i % (columns / 8)], a = halves_at<last>(add, i);
    uint2 m = {0, 0};
    if (wide) m = masks_at<last>(mask, i);
    else {
#pragma unroll
        for (unsigned k = 0; k < 4; k++) m.x |= mask[8 * i + k] << 8 * k, m.y |= mask[8 * i + 4 + k] << 8 * k;
    }
    uint4 r = {pair(v.x, b.x, m.x, scale, a.x), pair(v.y, b.y, m.x >> 16, scale, a.y), pair(v.z, b.z, m.y, scale, a.z), pair(v.w, b.w, m.y >> 16, scale, a.w)};
    if (streaming) __stcs((uint4*)y + i, r);
    else ((uint4*)y)[i] = r;
}

// Accesses of 16 bytes; the masks are read one by one.
extern "C" __global__ void fused_half8(const __half* x, const __half* __restrict__ bias, const unsigned char* __restrict__ mask, const __half* add, __half* y,
                                       float scale, unsigned n, unsigned columns) {
    eight<false, false>(x, bias, mask, add, y, scale, n, columns);
}

// Eight masks in one load.
extern "C" __global__ void fused_half_wide_mask(const __half* x, const __half* __restrict__ bias, const unsigned char* __restrict__ mask, const __half* add, __half* y,
                                                float scale, unsigned n, unsigned columns) {
    eight<true, false>(x, bias, mask, add, y, scale, n, columns);
}

// The store leaves the caches first.
extern "C" __global__ void fused_half_streaming(const __half* x, const __half* __restrict__ bias, const unsigned char* __restrict__ mask, const __half* add, __half* y,
                                                float scale, unsigned n, unsigned columns) {
    eight<true, true>(x, bias, mask, add, y, scale, n, columns);
}

// Blocks of 256 threads in place of 1024.
extern "C" __global__ void fused_half_block_256(const __half* x, const __half* __restrict__ bias, const unsigned char* __restrict__ mask, const __half* add, __half* y,
                                                float scale, unsigned n, unsigned columns) {
    eight<true, true>(x, bias, mask, add, y, scale, n, columns);
}

#if __CUDA_ARCH__ >= 800

// L2 evicts the lines of the loads last; blocks of 1024 threads.
extern "C" __global__ void fused_half_evict_last(const __half* x, const __half* __restrict__ bias, const unsigned char* __restrict__ mask, const __half* add, __half* y,
                                                 float scale, unsigned n, unsigned columns) {
    eight<true, true, true>(x, bias, mask, add, y, scale, n, columns);
}

#endif
