// Softmax whose loads tell L2 to evict their lines last, from Ampere on. A row in
// registers is read once: the hint changes which lines make room for new ones, not how
// many are loaded.

#include "softmax.cuh"

// A block that has a row of its own, and loads vectors with this hint.
template <unsigned block> struct Last : Block<block> {
    static __device__ float4 load(const float4* p) {
        unsigned long long policy;
        float4 v;
        asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
        asm volatile("ld.global.nc.L1::evict_last.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p), "l"(policy));
        return v;
    }
};

// softmax_block_512 with this hint.
extern "C" __global__ void __launch_bounds__(512, 3) softmax_evict_last(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns) {
    fitted<plain, Last<512>, 4>({x, nullptr, y, blockIdx.x, columns});
}
extern "C" __global__ void __launch_bounds__(64) softmax_evict_last_of_64(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns) {
    fitted<plain, Last<64>, 4>({x, nullptr, y, blockIdx.x, columns});
}
