// Peers of reduce: CUB's sum, and what memory gives at most: a kernel that only
// reads, and a copy.

#include "peer.cuh"

#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>

// Reads x once, `loads` vectors in flight per thread, and adds them up. Only where
// that is to be checked the sums are added to y.
template <int loads>
__global__ void __launch_bounds__(512) limit_read(const float4* __restrict__ x, size_t n, bool checked, float* y) {
    size_t stride = (size_t)gridDim.x * blockDim.x;
    float sum = 0;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += loads * stride) {
        float4 a[loads] = {};
#pragma unroll
        for (int k = 0; k < loads; k++) if (i + k * stride < n) a[k] = x[i + k * stride];
#pragma unroll
        for (int k = 0; k < loads; k++) sum += (a[k].x + a[k].y) + (a[k].z + a[k].w);
    }
    if (checked) atomicAdd(y, sum);
}

static double median(std::vector<double> ns) {
    std::sort(ns.begin(), ns.end());
    return ns[ns.size() / 2];
}

// The fastest of several shapes of the read: the limit is of the memory.
static void read(const Arguments& a, const float* x, float* y, long n, double want) {
    int multiprocessors;
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    std::vector<double> best;
    bool right = true;
    char note[99] = "";
    for (int perSM = 1; perSM <= 4; perSM++)
        for (int loads : {4, 8, 16}) {
            auto kernel = loads == 4 ? limit_read<4> : loads == 8 ? limit_read<8> : limit_read<16>;
            float got;
            CHECK(cudaMemset(y, 0, 4));
            kernel<<<perSM * multiprocessors, 512>>>((const float4*)x, n / 4, true, y);
            CHECK(cudaMemcpy(&got, y, 4, cudaMemcpyDeviceToHost));
            right = right && std::fabs(got - want) <= 1e-4 * want + 3;
            auto ns = times(a, [&](cudaStream_t stream) { kernel<<<perSM * multiprocessors, 512, 0, stream>>>((const float4*)x, n / 4, false, y); });
            if (best.empty() || median(ns) < median(best)) {
                best = ns;
                snprintf(note, sizeof note, "the best of 12 shapes: %d blocks of 512 per multiprocessor, %d vectors in flight", perSM, loads);
            }
        }
    print(a, "limit_read", right, best, 16.0 * (n / 4), 0, "", note);
}

static void sum(const Arguments& a, const float* x, float* y, long n, double want) {
    void* scratch = nullptr;
    size_t bytes = 0;
    CHECK(cub::DeviceReduce::Sum(scratch, bytes, x, y, (int)n));
    CHECK(cudaMalloc(&scratch, bytes));
    CHECK(cudaMemset(y, 0xff, 4));
    auto ns = times(a, [&](cudaStream_t stream) { cub::DeviceReduce::Sum(scratch, bytes, x, y, (int)n, stream); });
    float got;
    CHECK(cudaMemcpy(&got, y, 4, cudaMemcpyDeviceToHost));
    char library[99];
    snprintf(library, sizeof library, "CUB %d.%d.%d", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
    print(a, "cub_device_reduce", std::fabs(got - want) <= 1e-5 * want, ns, 4.0 * n, 0, library, "");
    CHECK(cudaFree(scratch));
}

static void copy(const Arguments& a, const float* x, const std::vector<float>& want) {
    size_t bytes = 4 * want.size();
    float* y;
    CHECK(cudaMalloc(&y, bytes));
    auto ns = times(a, [&](cudaStream_t stream) { cudaMemcpyAsync(y, x, bytes, cudaMemcpyDeviceToDevice, stream); });
    std::vector<float> got(want.size());
    CHECK(cudaMemcpy(got.data(), y, bytes, cudaMemcpyDeviceToHost));
    print(a, "limit_copy", got == want, ns, 2.0 * bytes, 0, "", "bytes read and written");
    CHECK(cudaFree(y));
}

static void measure(const Arguments& a) {
    long n = a.size[0];
    if (n < 4 || n > 0x7fffffff) {
        fprintf(stderr, "reduce: n = %ld, expected 4 to 2^31-1\n", n);
        exit(2);
    }
    auto host = uniform(n, a.seed);
    float *x, *y;
    CHECK(cudaMalloc(&x, 4 * n));
    CHECK(cudaMalloc(&y, 4));
    CHECK(cudaMemcpy(x, host.data(), 4 * n, cudaMemcpyHostToDevice));
    double want = 0;
    for (float v : host) want += v;

    if (wanted(a, "cub_device_reduce")) sum(a, x, y, n, want);
    if (wanted(a, "limit_read")) read(a, x, y, n, want);
    if (wanted(a, "limit_copy")) copy(a, x, host);
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
}

int main(int argc, char** argv) {
    Arguments a = arguments(argc, argv);
    eachTurn(a, measure);
}
