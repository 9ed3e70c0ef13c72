// A transpose by the copy engine of Hopper (TMA), whose swizzle takes the place of
// transpose_swizzle's.

struct alignas(64) TensorMap { unsigned long long words[16]; };

static __device__ unsigned address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

static __device__ void barrier_init(unsigned barrier) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

static __device__ void barrier_expect(unsigned barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

static __device__ void barrier_wait(unsigned barrier) {
    asm volatile("{.reg .pred done; again: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], 0; @!done bra again;}" ::"r"(barrier) : "memory");
}

// Copies a box whose corner is at column c and row r. What lies outside of the matrix
// becomes 0.
static __device__ void copy_box(float4* to, const TensorMap& map, unsigned c, unsigned r, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(address(to)), "l"(&map), "r"(c), "r"(r), "r"(barrier) : "memory");
}

// Two boxes of 64 rows x 32 columns make a tile of 64 x 64. The copy engine stores
// vector v of row r at place v XOR r mod 8: it moves 16 bytes, so that each thread
// turns 4 x 4 floats in its registers.
//
// Rows 4x+i of eight lanes leave only two remainders mod 8. Pairs of lanes therefore
// take four different columns of vectors: eight lanes read eight groups of banks, and
// a pair still writes a whole sector.
extern "C" __global__ void __launch_bounds__(256) transpose_tma(const __grid_constant__ TensorMap a, float* __restrict__ b, unsigned rows, unsigned columns) {
    __shared__ alignas(1024) float4 box[2][64][8];
    __shared__ alignas(8) unsigned long long full;
    unsigned c0 = blockIdx.x * 64, r0 = blockIdx.y * 64, barrier = address(&full);
    if (threadIdx.x == 0) {
        barrier_init(barrier);
        barrier_expect(barrier, sizeof box);
        copy_box(box[0][0], a, c0, r0, barrier);
        copy_box(box[1][0], a, c0 + 32, r0, barrier);
    }
    __syncthreads(); // the barrier is there
    barrier_wait(barrier);
    unsigned x = threadIdx.x % 16, y = threadIdx.x / 16;
    y = y / 4 * 4 + (y + x / 2) % 4;
    float4 v[4];
#pragma unroll
    for (unsigned i = 0; i < 4; i++) v[i] = box[y / 8][4 * x + i][y % 8 ^ (4 * x + i) % 8];
    float4 w[4] = {{v[0].x, v[1].x, v[2].x, v[3].x}, {v[0].y, v[1].y, v[2].y, v[3].y},
                   {v[0].z, v[1].z, v[2].z, v[3].z}, {v[0].w, v[1].w, v[2].w, v[3].w}};
    bool whole = rows % 4 == 0 && (size_t)b % 16 == 0;
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        unsigned r = r0 + 4 * x, c = c0 + 4 * y + i;
        if (r >= rows || c >= columns) continue;
        float* to = b + (size_t)c * rows + r;
        if (whole) {
            *(float4*)to = w[i];
            continue;
        }
        to[0] = w[i].x;
        if (r + 1 < rows) to[1] = w[i].y;
        if (r + 2 < rows) to[2] = w[i].z;
        if (r + 3 < rows) to[3] = w[i].w;
    }
}
