// Concat whose loads tell L2 to evict their lines last, from Ampere on. No line is read
// twice: the hint changes which lines make room for new ones, not how many are loaded.

#include "concat.cuh"

// A load whose line leaves L2 last.
struct Last {
    static __device__ __forceinline__ unsigned long long policy() {
        unsigned long long p;
        asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(p));
        return p;
    }
    static __device__ __forceinline__ float one(const float* p) {
        float v;
        asm volatile("ld.global.nc.L1::evict_last.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(v) : "l"(p), "l"(policy()));
        return v;
    }
    static __device__ __forceinline__ float4 four(const float* p) {
        float4 v;
        asm volatile("ld.global.nc.L1::evict_last.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p), "l"(policy()));
        return v;
    }
};

// concat_reciprocal with this hint, in blocks of 256.
extern "C" __global__ void __launch_bounds__(256) concat_evict_last(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ y, unsigned wa, unsigned wb, unsigned rows, unsigned factor, unsigned shift, unsigned long long from_a, unsigned long long from_b, unsigned long long to) {
    copy_four<Last>({a + from_a, b + from_b, wa, wb, rows, {factor, shift}}, y + to, blockIdx.x * 256 + threadIdx.x);
}
