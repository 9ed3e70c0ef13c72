// The rungs of gemm_tensor.cu that place every register themselves: ldmatrix and
// mma.sync, with copies three steps ahead.

static __device__ void ldmatrix(unsigned (&r)[4], unsigned at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}

static __device__ void ldmatrix_transposed(unsigned (&r)[4], unsigned at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}

#define MMA(T, shape, types)                                                                                       \
    static __device__ void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], T) {                 \
        asm volatile("mma.sync.aligned." shape ".row.col." types " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                              \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                          \
    }
MMA(__half, "m16n8k16", "f32.f16.f16.f32")
MMA(__nv_bfloat16, "m16n8k16", "f32.bf16.bf16.f32")
MMA(float, "m16n8k8", "f32.tf32.tf32.f32")

// A step of 64 bytes along k: rows of A are four vectors of 16 bytes, exchanged so
// that the eight that are read together lie on all banks; so are those of B in
// 16 bits, and rows of B in TF32, which lanes read one by one, are 32 bytes
// longer instead.
template <class T> struct Step {
    static constexpr int size = sizeof(T), depth = 64 / size, vector = 16 / size, b_row = 128 * size + (size == 4 ? 32 : 0);
    static constexpr int a_bytes = 128 * 64, bytes = a_bytes + depth * b_row, held = 4;

    static __device__ unsigned a_at(unsigned row, unsigned v) { return row * 64 + (v ^ (row / 2 % 4)) * 16; }
    static __device__ unsigned b_at(unsigned row, unsigned v) { return a_bytes + row * b_row + (size == 4 ? v : v ^ (row % 8)) * 16; }

    static __device__ void load(unsigned char* to, const Product<T>& p, unsigned row, unsigned column, unsigned i, bool a_wide, bool b_wide) {
#pragma unroll
        for (unsigned e = threadIdx.x; e < 512; e += 128)
            copy(to + a_at(e / 4, e % 4), p.a, p.lda, p.m, p.k, row + e / 4, i + e % 4 * vector, a_wide);
#pragma unroll
        for (unsigned e = threadIdx.x; e < depth * 128 / vector; e += 128) {
            unsigned r = e / (128 / vector), v = e % (128 / vector);
            copy(to + b_at(r, v), p.b, p.ldb, p.k, p.n, i + r, column + v * vector, b_wide);
        }
    }

    // 16 rows of A, 32 bytes of k.
    static __device__ void read_a(unsigned (&r)[4], const unsigned char* from, unsigned row, int j) {
        unsigned lane = threadIdx.x % 32;
        ldmatrix(r, address(from + a_at(row + lane % 16, j * 2 + lane / 16)));
        if (size == 4)
#pragma unroll
            for (int e = 0; e < 4; e++) r[e] = tf32(r[e]);
    }

    // 64 columns of B, 32 bytes of k.
    static __device__ void read_b(unsigned (&r)[8][2], const unsigned char* from, unsigned column, int j) {
        unsigned lane = threadIdx.x % 32;
        if (size == 2)
#pragma unroll
            for (int y = 0; y < 4; y++) {
                unsigned q[4];
                ldmatrix_transposed(q, address(from + b_at(j * 16 + lane % 16, (column + y * 16) / vector + lane / 16)));
                r[y * 2][0] = q[0], r[y * 2][1] = q[1], r[y * 2 + 1][0] = q[2], r[y * 2 + 1][1] = q[3];
            }
        else
#pragma unroll
            for (int y = 0; y < 8; y++)
#pragma unroll
                for (int h = 0; h < 2; h++)
                    r[y][h] = tf32(*(const unsigned*)(from + b_at(j * 8 + h * 4 + lane % 4, 0) + (column + y * 8 + lane / 4) * 4));
    }
};

// 128 x 128 of D per block, 64 x 64 per warp.
template <class T> static __device__ void mma_product(const Product<T>& p) {
    using S = Step<T>;
    unsigned across = (p.n + 127) / 128, warp = threadIdx.x / 32, lane = threadIdx.x % 32, steps = (p.k + S::depth - 1) / S::depth;
    unsigned row = blockIdx.x / across * 128, column = blockIdx.x % across * 128, down = warp / 2 * 64, right = warp % 2 * 64;
    bool a_wide = wide(p.a, p.lda), b_wide = wide(p.b, p.ldb);
    float sums[4][8][4] = {};
    for (unsigned s = 0; s < S::held - 1; s++) {
        if (s < steps) S::load(memory + s * S::bytes, p, row, column, s * S::depth, a_wide, b_wide);
        commit();
    }
    for (unsigned i = 0; i < steps; i++) {
        wait<S::held - 2>();
        __syncthreads();
        unsigned ahead = i + S::held - 1;
        if (ahead < steps) S::load(memory + ahead % S::held * S::bytes, p, row, column, ahead * S::depth, a_wide, b_wide);
        commit();
        const unsigned char* from = memory + i % S::held * S::bytes;
#pragma unroll
        for (int j = 0; j < 2; j++) {
            unsigned a[4][4], b[8][2];
#pragma unroll
            for (int x = 0; x < 4; x++) S::read_a(a[x], from, down + x * 16, j);
            S::read_b(b, from, right, j);
#pragma unroll
            for (int x = 0; x < 4; x++)
#pragma unroll
                for (int y = 0; y < 8; y++) mma(sums[x][y], a[x], b[y], T());
        }
    }
#pragma unroll
    for (int x = 0; x < 4; x++)
#pragma unroll
        for (int y = 0; y < 8; y++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                store(p, row + down + x * 16 + e / 2 * 8 + lane / 4, column + right + y * 8 + lane % 4 * 2 + e % 2, sums[x][y][e]);
}

// Every register has its place, and copies run three steps ahead.
extern "C" __global__ void __launch_bounds__(128, 2) gemm_fp16_mma(MATRICES(__half)) {
    mma_product<__half>(PRODUCT);
}

extern "C" __global__ void __launch_bounds__(128, 2) gemm_bf16_mma(MATRICES(__nv_bfloat16)) {
    mma_product<__nv_bfloat16>(PRODUCT);
}

extern "C" __global__ void __launch_bounds__(128, 2) gemm_tf32_mma(MATRICES(float)) {
    mma_product<float>(PRODUCT);
}
