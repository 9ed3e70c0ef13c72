// What arithmetic gives at most to a product of float32: an outer product of
// 8 x 8 that stays in registers.

#include "peer.cuh"

const int threads = 256, edge = 8, unroll = 8, copies = 4;

// Four neighbours come from memory as one vector, and so stand in registers of
// alternating banks.
__device__ void load(float (&v)[edge], const float* from) {
    for (int i = 0; i < edge; i += 4) {
        float4 four = *(const float4*)&from[i];
        v[i] = four.x, v[i + 1] = four.y, v[i + 2] = four.z, v[i + 3] = four.w;
    }
}

__device__ unsigned long long nanoseconds() {
    unsigned long long t;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
    return t;
}

// Adds the outer product of two vectors of small whole numbers, so that the sums
// are exact, so many times; the first thread says how many cycles and ns it took.
// Threads have copies of the vectors, because what all share lies in registers of
// another kind, which no product has.
__global__ void __launch_bounds__(threads) limit_product(const float* from, int times, float* y, long long* took) {
    float a[edge], b[edge], sum[edge][edge] = {};
    from += threadIdx.x % copies * 2 * edge;
    load(a, from);
    load(b, from + edge);
    long long start = clock64(), began = nanoseconds();
#pragma unroll 1
    for (int t = 0; t < times; t += unroll) {
#pragma unroll
        for (int u = 0; u < unroll; u++) {
#pragma unroll
            for (int i = 0; i < edge; i++) {
#pragma unroll
                for (int k = 0; k < edge; k++) {
                    int j = i % 2 ? edge - 1 - k : k;  // so that neighbours share a register
                    sum[i][j] = __fmaf_rn(a[i], b[j], sum[i][j]);
                }
            }
        }
    }
    long long end = clock64(), ended = nanoseconds();
    if (times < 0)  // never: it keeps each sum in the bank that its element of b is not in
        for (int i = 0; i < edge; i++)
            for (int j = 0; j < edge; j += 4)
                *(float4*)&y[i * edge + j] = make_float4(sum[i][j + 1], sum[i][j], sum[i][j + 3], sum[i][j + 2]);
    float all = 0;
    for (int i = 0; i < edge; i++)
        for (int j = 0; j < edge; j++) all += sum[i][j] * (1 + i + edge * j);
    y[blockIdx.x * threads + threadIdx.x] = all;
    if (blockIdx.x == 0 && threadIdx.x == 0) took[0] = end - start, took[1] = ended - began;
}

static void measure(const Arguments& a) {
    double products = 1;
    for (long d : a.size) products *= d;
    if (a.size.size() != 3 || products < 1) {
        fprintf(stderr, "gemm: expected a size of m,n,k from 1 up\n");
        exit(2);
    }
    int multiprocessors, perSM;
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perSM, limit_product, threads, 0));
    const int blocks = perSM * multiprocessors, n = blocks * threads;
    const int runs = unroll * (int)std::ceil(products / ((double)n * edge * edge * unroll));

    float host[copies * 2 * edge], *from, *y;
    for (int i = 0; i < copies * 2 * edge; i++) host[i] = i % (2 * edge) % 3;
    double want = 0;
    for (int i = 0; i < edge; i++)
        for (int j = 0; j < edge; j++) want += (double)runs * host[i] * host[edge + j] * (1 + i + edge * j);
    long long *took, clock[2];
    CHECK(cudaMalloc(&from, sizeof host));
    CHECK(cudaMalloc(&y, sizeof *y * n));
    CHECK(cudaMalloc(&took, sizeof clock));
    CHECK(cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice));
    auto ns = times(a, [&](cudaStream_t stream) { limit_product<<<blocks, threads, 0, stream>>>(from, runs, y, took); });
    std::vector<float> got(n);
    CHECK(cudaMemcpy(got.data(), y, sizeof *y * n, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(clock, took, sizeof clock, cudaMemcpyDeviceToHost));
    bool right = std::all_of(got.begin(), got.end(), [&](float v) { return std::fabs(v - want) <= 1e-5 * want; });
    char note[160];
    snprintf(note, sizeof note, "outer products of %d x %d in registers, %d blocks of %d; %.0f MHz by the clock of a multiprocessor", edge, edge,
             blocks, threads, 1e3 * clock[0] / clock[1]);
    // What was rounded up to whole blocks does not count as time.
    double share = products / ((double)n * edge * edge * runs);
    for (double& t : ns) t *= share;
    print(a, "limit_product", right, ns, 0, 2 * products, "", note);
    for (void* p : {(void*)from, (void*)y, (void*)took}) CHECK(cudaFree(p));
}

int main(int argc, char** argv) {
    Arguments a = arguments(argc, argv);
    eachTurn(a, [](const Arguments& a) {
        if (wanted(a, "limit_product")) measure(a);
    });
}
