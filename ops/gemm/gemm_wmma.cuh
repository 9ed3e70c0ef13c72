// The rungs of gemm_tensor.cu that name whole matrices: wmma, 16 x 16 x 16 (8 for
// TF32) per warp. Which lane holds which element is the compiler's business.

template <class T> struct Wmma;

#define WMMA(T, K, type, mma_types, R, A, B, C, D)                                                                     \
    template <> struct Wmma<T> {                                                                                       \
        static constexpr int k = K, registers = R;                                                                     \
        static __device__ void load_a(unsigned (&r)[R], unsigned at, unsigned ld) {                                    \
            asm volatile("wmma.load.a.sync.aligned.row.m16n16k" #K ".shared." #type " " A ";" : D(r, "=r") : "r"(at), "r"(ld) : "memory"); \
        }                                                                                                              \
        static __device__ void load_b(unsigned (&r)[R], unsigned at, unsigned ld) {                                    \
            asm volatile("wmma.load.b.sync.aligned.row.m16n16k" #K ".shared." #type " " A ";" : D(r, "=r") : "r"(at), "r"(ld) : "memory"); \
        }                                                                                                              \
        static __device__ void store(unsigned at, const float (&d)[8]) {                                               \
            asm volatile("wmma.store.d.sync.aligned.row.m16n16k" #K ".shared.f32 [%0], {%1,%2,%3,%4,%5,%6,%7,%8}, 16;" \
                         ::"r"(at), EIGHT(d, "f") : "memory");                                                         \
        }                                                                                                              \
        static __device__ void multiply(float (&d)[8], const unsigned (&a)[R], const unsigned (&b)[R]) {               \
            asm volatile("wmma.mma.sync.aligned.row.row.m16n16k" #K "." mma_types " {%0,%1,%2,%3,%4,%5,%6,%7}, " B ", " C ", {%0,%1,%2,%3,%4,%5,%6,%7};" \
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]) \
                         : D(a, "r"), D(b, "r"));                                                                      \
        }                                                                                                              \
    };
#define FOUR(x, c) c(x[0]), c(x[1]), c(x[2]), c(x[3])
#define EIGHT(x, c) FOUR(x, c), c(x[4]), c(x[5]), c(x[6]), c(x[7])

WMMA(__half, 16, f16, "f32.f32", 8, "{%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9", "{%8,%9,%10,%11,%12,%13,%14,%15}", "{%16,%17,%18,%19,%20,%21,%22,%23}", EIGHT)
#if __CUDA_ARCH__ >= 800
WMMA(__nv_bfloat16, 16, bf16, "f32.bf16.bf16.f32", 4, "{%0,%1,%2,%3}, [%4], %5", "{%8,%9,%10,%11}", "{%12,%13,%14,%15}", FOUR)
WMMA(float, 8, tf32, "f32.tf32.tf32.f32", 4, "{%0,%1,%2,%3}, [%4], %5", "{%8,%9,%10,%11}", "{%12,%13,%14,%15}", FOUR)
#endif

static __device__ void round_tf32(unsigned*, int, __half) {}
#if __CUDA_ARCH__ >= 800
static __device__ void round_tf32(unsigned*, int, __nv_bfloat16) {}
static __device__ void round_tf32(unsigned* r, int n, float) {
#pragma unroll
    for (int i = 0; i < n; i++) r[i] = tf32(r[i]);
}
#endif

// 128 x 128 of D per block, 64 x 32 per warp. Rows in shared memory are 16 bytes
// longer against bank conflicts. Sums go through shared memory, one matrix of 16 x
// 16 per warp at a time, because their place in registers is not told.
template <class T> static __device__ void wmma_product(const Product<T>& p) {
    constexpr int depth = 64 / sizeof(T), vector = 16 / sizeof(T), a_width = depth + vector, b_width = 128 + vector, R = Wmma<T>::registers;
    __shared__ float patch[8][16][16];
    T *as = (T*)memory, *bs = as + 128 * a_width;
    unsigned across = (p.n + 127) / 128, tid = threadIdx.x, warp = tid / 32;
    unsigned row = blockIdx.x / across * 128, column = blockIdx.x % across * 128, down = warp / 4 * 64, right = warp % 4 * 32;
    bool a_wide = wide(p.a, p.lda), b_wide = wide(p.b, p.ldb);
    float sums[4][2][8] = {};
    for (unsigned i = 0; i < p.k; i += depth) {
        for (unsigned e = tid; e < 512; e += 256)
            copy((unsigned char*)(as + e / 4 * a_width + e % 4 * vector), p.a, p.lda, p.m, p.k, row + e / 4, i + e % 4 * vector, a_wide);
        for (unsigned e = tid; e < depth * 128 / vector; e += 256) {
            unsigned r = e / (128 / vector), c = e % (128 / vector) * vector;
            copy((unsigned char*)(bs + r * b_width + c), p.b, p.ldb, p.k, p.n, i + r, column + c, b_wide);
        }
        commit();
        wait<0>();
        __syncthreads();
#pragma unroll
        for (int j = 0; j < depth; j += Wmma<T>::k) {
            unsigned a[4][R], b[2][R];
#pragma unroll
            for (int x = 0; x < 4; x++) Wmma<T>::load_a(a[x], address(as + (down + x * 16) * a_width + j), a_width), round_tf32(a[x], R, T());
#pragma unroll
            for (int y = 0; y < 2; y++) Wmma<T>::load_b(b[y], address(bs + j * b_width + right + y * 16), b_width), round_tf32(b[y], R, T());
#pragma unroll
            for (int x = 0; x < 4; x++)
#pragma unroll
                for (int y = 0; y < 2; y++) Wmma<T>::multiply(sums[x][y], a[x], b[y]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int x = 0; x < 4; x++)
#pragma unroll
        for (int y = 0; y < 2; y++) {
            Wmma<T>::store(address(patch[warp]), sums[x][y]);
            __syncwarp();
            for (unsigned e = tid % 32; e < 256; e += 32) store(p, row + down + x * 16 + e / 16, column + right + y * 16 + e % 16, patch[warp][e / 16][e % 16]);
            __syncwarp();
        }
}

// Warps multiply matrices of 16 x 16 on tensor cores.
extern "C" __global__ void __launch_bounds__(256) gemm_fp16_wmma(MATRICES(__half)) {
    wmma_product<__half>(PRODUCT);
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void __launch_bounds__(256) gemm_bf16_wmma(MATRICES(__nv_bfloat16)) {
    wmma_product<__nv_bfloat16>(PRODUCT);
}

extern "C" __global__ void __launch_bounds__(256) gemm_tf32_wmma(MATRICES(float)) {
    wmma_product<float>(PRODUCT);
}
#endif
