// Bias, mask, scale and addend in one kernel: y[r][c] = (x[r][c] + bias[c]) m s + add[r][c],
// where s is the scale and m is 1 where the mask is not 0, and else 0.
//
// n is the number of elements of x, rows times columns, below 2^31. Every rung takes any
// number of columns and arrays that start at any element. y may be x or add: each
// thread reads an element of all arrays before it writes that of y.

static __device__ __forceinline__ float of(float x, float bias, unsigned char mask, float scale, float add) {
    return (x + bias) * (mask ? scale : 0.f) + add;
}

// Four launches: each step of the formula goes through memory, in t.
extern "C" __global__ void fused_four_launches(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ t, unsigned n, unsigned columns) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) t[i] = x[i] + bias[i % columns];
}
extern "C" __global__ void fused_four_launches_2(const unsigned char* __restrict__ mask, float* __restrict__ t, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) t[i] *= mask[i] ? 1.f : 0.f;
}
extern "C" __global__ void fused_four_launches_3(float scale, float* __restrict__ t, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) t[i] *= scale;
}
extern "C" __global__ void fused_four_launches_4(const float* __restrict__ t, const float* add, float* y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = t[i] + add[i];
}

// One element per iteration: the loop of note 000.
static __device__ __forceinline__ void one_by_one(const float* x, const float* __restrict__ bias, const unsigned char* __restrict__ mask, const float* add, float* y,
                                                  float scale, unsigned n, unsigned columns) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = of(x[i], bias[i % columns], mask[i], scale, add[i]);
}

// One launch: an element is read once and written once.
extern "C" __global__ void fused_element(const float* x, const float* __restrict__ bias, const unsigned char* __restrict__ mask, const float* add, float* y,
                                         float scale, unsigned n, unsigned columns) {
    one_by_one(x, bias, mask, add, y, scale, n, columns);
}

// Loads of four floats and of four masks. last: L2 evicts their lines last, from Ampere on.
// Neither takes the read-only path: y may be x or add.
template <bool last> static __device__ __forceinline__ float4 floats_at(const float* x, unsigned i) {
    if (!last) return ((const float4*)x)[i];
    unsigned long long policy;
    float4 v;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.L1::evict_last.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"((const float4*)x + i), "l"(policy));
    return v;
}
template <bool last> static __device__ __forceinline__ uchar4 masks_at(const unsigned char* mask, unsigned i) {
    if (!last) return ((const uchar4*)mask)[i];
    unsigned long long policy;
    unsigned m;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.L1::evict_last.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(m) : "l"((const unsigned*)mask + i), "l"(policy));
    return *(uchar4*)&m;
}

// Four elements per thread. wide: their masks come in one load. streaming: the store is
// marked as not used again. last: L2 evicts the lines of the loads last.
template <bool wide, bool streaming, bool last = false>
static __device__ __forceinline__ void four(const float* x, const float* __restrict__ bias, const unsigned char* __restrict__ mask, const float* add, float* y,
                                            float scale, unsigned n, unsigned columns) {
    bool fits = ((size_t)x | (size_t)bias | (size_t)add | (size_t)y) % 16 == 0 && (size_t)mask % 4 == 0 && columns % 4 == 0;
    if (!fits) return one_by_one(x, bias, mask, add, y, scale, n, columns);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4) return;
    float4 v = floats_at<last>(x, i), b = ((const float4*)bias)[i % (columns / 4)], a = floats_at<last>(add, i);
    uchar4 m;
    if (wide) m = masks_at<last>(mask, i);
    else m = {mask[4 * i], mask[4 * i + 1], mask[4 * i + 2], mask[4 * i + 3]};
    float4 r = {of(v.x, b.x, m.x, scale, a.x), of(v.y, b.y, m.y, scale, a.y), of(v.z, b.z, m.z, scale, a.z), of(v.w, b.w, m.w, scale, a.w)};
    if (streaming) __stcs((float4*)y + i, r);
    else ((float4*)y)[i] = r;
}

// Accesses of 16 bytes; the masks are still read one by one.
extern "C" __global__ void fused_vec4(const float* x, const float* __restrict__ bias, const unsigned char* __restrict__ mask, const float* add, float* y,
                                      float scale, unsigned n, unsigned columns) {
    four<false, false>(x, bias, mask, add, y, scale, n, columns);
}

// Four masks in one load.
extern "C" __global__ void fused_wide_mask(const float* x, const float* __restrict__ bias, const unsigned char* __restrict__ mask, const float* add, float* y,
                                           float scale, unsigned n, unsigned columns) {
    four<true, false>(x, bias, mask, add, y, scale, n, columns);
}

// The store leaves the caches first.
extern "C" __global__ void fused_streaming(const float* x, const float* __restrict__ bias, const unsigned char* __restrict__ mask, const float* add, float* y,
                                           float scale, unsigned n, unsigned columns) {
    four<true, true>(x, bias, mask, add, y, scale, n, columns);
}

// Blocks of 256 threads in place of 1024.
extern "C" __global__ void fused_block_256(const float* x, const float* __restrict__ bias, const unsigned char* __restrict__ mask, const float* add, float* y,
                                           float scale, unsigned n, unsigned columns) {
    four<true, true>(x, bias, mask, add, y, scale, n, columns);
}

#if __CUDA_ARCH__ >= 800

// L2 evicts the lines of the loads last; blocks of 1024 threads.
extern "C" __global__ void fused_evict_last(const float* x, const float* __restrict__ bias, const unsigned char* __restrict__ mask, const float* add, float* y,
                                            float scale, unsigned n, unsigned columns) {
    four<true, true, true>(x, bias, mask, add, y, scale, n, columns);
}

#endif
