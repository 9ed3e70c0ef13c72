// Convolution on tensor cores, of images and of volumes: implicit GEMM of float16, bfloat16,
// or float32 rounded to TF32, with sums in float32. Channels lie innermost in x and w (NHWC
// and KRSC), so that the factors of a product lie side by side.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "conv2d.cuh"

// Instructions of the tensor cores: 16 places by 8 channels.
#define MMA(T, shape, types)                                                                                              \
    static __device__ void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], T) {                        \
        asm volatile("mma.sync.aligned." shape ".row.col." types " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                     \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                                 \
    }
MMA(__half, "m16n8k16", "f32.f16.f16.f32")
MMA(__nv_bfloat16, "m16n8k16", "f32.bf16.bf16.f32")
MMA(float, "m16n8k8", "f32.tf32.tf32.f32")

// A factor as the instruction takes it: 16 bits as they are, float32 rounded to TF32.
static __device__ unsigned factor(unsigned bits, __half) { return bits; }
static __device__ unsigned factor(unsigned bits, __nv_bfloat16) { return bits; }
static __device__ unsigned factor(unsigned bits, float) {
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(__uint_as_float(bits)));
    return bits;
}

static __device__ float wide(__half v) { return __half2float(v); }
static __device__ float wide(__nv_bfloat16 v) { return __bfloat162float(v); }
static __device__ float wide(float v) { return v; }
static __device__ void set(__half& to, float v) { to = __float2half_rn(v); }
static __device__ void set(__nv_bfloat16& to, float v) { to = __float2bfloat16_rn(v); }
static __device__ void set(float& to, float v) { to = v; }

// Copies 16 bytes, or zeros from nowhere; element by element where they are not aligned.
template <class T> static __device__ __forceinline__ void copy(T* to, const T* from) {
    if ((size_t)from % 16 == 0) {
        *(uint4*)to = from ? *(const uint4*)from : make_uint4(0, 0, 0, 0);
        return;
    }
#pragma unroll 1
    for (unsigned i = 0; i < 16 / sizeof(T); i++) to[i] = from[i];
}

// 64 places by 64 channels per block of four warps, 32 x 32 per warp. A step is 64 bytes of the
// inner dimension; rows in shared memory are 16 bytes longer, so that eight rows lie on all
// banks. `vectors` loads 16 bytes, where channels of a group are a multiple of 16 bytes: then
// a vector never spans two taps.
template <class T, bool vectors> static __device__ __forceinline__ void tensor(const T* x, const T* w, const T* bias, T* y, const Shape& s) {
    constexpr unsigned vector = vectors ? 16 / sizeof(T) : 1, depth = 64 / sizeof(T), pitch = 80 / sizeof(T);
    __shared__ __align__(16) T of_x[64 * pitch], of_w[64 * pitch];
    unsigned place = blockIdx.x * 64, first = blockIdx.y * 64, group = blockIdx.z, inner = s.inner();
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, down = warp / 2 * 32, across = warp % 2 * 32;
    float sum[2][4][4] = {};
    for (unsigned begin = 0; begin < inner; begin += depth) {
#pragma unroll 1
        for (unsigned i = threadIdx.x; i < 64 * depth / vector; i += 128) {
            unsigned row = i / (depth / vector), at = i % (depth / vector) * vector, from = begin + at;
            T* to_x = of_x + row * pitch + at;
            T* to_w = of_w + row * pitch + at;
            const T *a = nullptr, *b = nullptr;
            if (from < inner) {
                Tap tap(from, s);
                if (place + row < s.places()) {
                    Place p(place + row, s);
                    int d = p.depth + (int)(tap.t * s.dilation), h = p.row + (int)(tap.r * s.dilation), c = p.column + (int)(tap.s * s.dilation);
                    if (d >= 0 && d < (int)s.d && h >= 0 && h < (int)s.h && c >= 0 && c < (int)s.w)
                        a = x + p.x + (size_t)d * s.xd + (size_t)h * s.xh + (size_t)c * s.xw + group * s.c + tap.c;
                }
                if (first + row < s.k) b = w + (size_t)(group * s.k + first + row) * s.wk + from;
            }
            if (vectors) {
                copy(to_x, a);
                copy(to_w, b);
            } else {
                set(*to_x, 0);
                set(*to_w, 0);
                if (a) *to_x = *a;
                if (b) *to_w = *b;
            }
        }
        __syncthreads();
        // Registers of lane l: rows l / 4 and 8 below, words l % 4 and 4 behind, of 4 bytes.
        const unsigned *words_x = (const unsigned*)of_x, *words_w = (const unsigned*)of_w;
#pragma unroll
        for (unsigned j = 0; j < 16; j += 8) {
            unsigned a[2][4], b[4][2];
#pragma unroll
            for (unsigned m = 0; m < 2; m++)
#pragma unroll
                for (unsigned e = 0; e < 4; e++)
                    a[m][e] = factor(words_x[(down + m * 16 + lane / 4 + e % 2 * 8) * 20 + j + lane % 4 + e / 2 * 4], T());
#pragma unroll
            for (unsigned n = 0; n < 4; n++)
#pragma unroll
                for (unsigned e = 0; e < 2; e++) b[n][e] = factor(words_w[(across + n * 8 + lane / 4) * 20 + j + lane % 4 + e * 4], T());
#pragma unroll
            for (unsigned m = 0; m < 2; m++)
#pragma unroll
                for (unsigned n = 0; n < 4; n++) mma(sum[m][n], a[m], b[n], T());
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned m = 0; m < 4; m++) {
        unsigned p = place + down + m * 8 + lane / 4;
        if (p >= s.places()) break;
        T* to = y + Place(p, s).y;
#pragma unroll
        for (unsigned n = 0; n < 8; n++) {
            unsigned k = first + across + n / 2 * 8 + lane % 4 * 2 + n % 2;
            if (k >= s.k) break;
            k += group * s.k;
            float v = sum[m / 2][n / 2][m % 2 * 2 + n % 2];
            if (s.bias) v += wide(bias[k]);
            set(to[(size_t)k * s.yk], s.relu && v < 0 ? 0 : v);
        }
    }
}

extern "C" __global__ void __launch_bounds__(128) conv2d_fp16_mma(const __half* __restrict__ x, const __half* __restrict__ w, const __half* __restrict__ bias, __half* __restrict__ y, Shape s) { tensor<__half, false>(x, w, bias, y, s); }
extern "C" __global__ void __launch_bounds__(128) conv2d_fp16_vector(const __half* __restrict__ x, const __half* __restrict__ w, const __half* __restrict__ bias, __half* __restrict__ y, Shape s) { tensor<__half, true>(x, w, bias, y, s); }
extern "C" __global__ void __launch_bounds__(128) conv2d_bf16_mma(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w, const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y, Shape s) { tensor<__nv_bfloat16, false>(x, w, bias, y, s); }
extern "C" __global__ void __launch_bounds__(128) conv2d_bf16_vector(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w, const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y, Shape s) { tensor<__nv_bfloat16, true>(x, w, bias, y, s); }
extern "C" __global__ void __launch_bounds__(128) conv2d_tf32_mma(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias, float* __restrict__ y, Shape s) { tensor<float, false>(x, w, bias, y, s); }
extern "C" __global__ void __launch_bounds__(128) conv2d_tf32_vector(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias, float* __restrict__ y, Shape s) { tensor<float, true>(x, w, bias, y, s); }
