// Peers of copy_if: CUB's and thrust's, which keep the order.

#include "peer.cuh"

#include <cub/device/device_select.cuh>
#include <cub/version.cuh>
#include <thrust/copy.h>
#include <thrust/execution_policy.h>

struct AboveZero {
    __host__ __device__ bool operator()(float v) const { return v > 0; }
};

// The times in ns of calls that wait for their result: no queue can hide the start of
// such a call, and no graph can hold it.
template <class F>
static std::vector<double> timesOfCalls(int repeats, F run) {
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    std::vector<double> ns;
    for (int i = -3; i < repeats; i++) {
        float ms;
        CHECK(cudaEventRecord(start));
        run();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, start, end));
        if (i >= 0) ns.push_back(ms * 1e6);
    }
    return ns;
}

static void measure(const Arguments& a) {
    long n = a.size[0];
    double keep = parameter(a, "keep", 0.5);
    auto host = uniform(n, a.seed), sizes = uniform(n, a.seed + 1);
    std::vector<float> want;
    for (long i = 0; i < n; i++) {
        bool above = host[i] < keep;
        host[i] = above ? 1 - sizes[i] : sizes[i] - 1;
        if (above) want.push_back(host[i]);
    }
    float *x, *y;
    unsigned* count;
    CHECK(cudaMalloc(&x, 4 * n));
    CHECK(cudaMalloc(&y, 4 * n));
    CHECK(cudaMalloc(&count, 4));
    CHECK(cudaMemcpy(x, host.data(), 4 * n, cudaMemcpyHostToDevice));
    double bytes = 4.0 * n + 4.0 * want.size() + 4;
    auto right = [&](size_t kept) {
        if (kept != want.size()) return false;
        std::vector<float> got(kept);
        CHECK(cudaMemcpy(got.data(), y, 4 * kept, cudaMemcpyDeviceToHost));
        CHECK(cudaMemset(y, 0xff, 4 * n));
        return got == want;
    };
    char library[99];
    snprintf(library, sizeof library, "CUB and thrust %d.%d.%d", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
    CHECK(cudaMemset(y, 0xff, 4 * n));
    if (wanted(a, "cub_select_if")) {
        void* scratch = nullptr;
        size_t size = 0;
        unsigned kept;
        CHECK(cub::DeviceSelect::If(scratch, size, x, y, count, (int)n, AboveZero()));
        CHECK(cudaMalloc(&scratch, size));
        auto ns = times(a, [&](cudaStream_t stream) { cub::DeviceSelect::If(scratch, size, x, y, count, (int)n, AboveZero(), stream); });
        CHECK(cudaMemcpy(&kept, count, 4, cudaMemcpyDeviceToHost));
        print(a, "cub_select_if", right(kept), ns, bytes, 0, library, "order kept");
        CHECK(cudaFree(scratch));
    }
    if (wanted(a, "thrust_copy_if") && !a.flushed) {
        size_t kept = 0;
        auto ns = timesOfCalls(a.repeats, [&] { kept = thrust::copy_if(thrust::device, x, x + n, y, AboveZero()) - y; });
        print(a, "thrust_copy_if", right(kept), ns, bytes, 0, library, "order kept; each call allocates its scratch and waits for the result");
    }
    CHECK(cudaFree(count));
    CHECK(cudaFree(y));
    CHECK(cudaFree(x));
}

int main(int argc, char** argv) {
    Arguments a = arguments(argc, argv);
    eachTurn(a, measure);
}
