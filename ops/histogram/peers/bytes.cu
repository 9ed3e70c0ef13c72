// Peers of histogram_u8: CUB's, of bytes.

#include "peer.cuh"

#include <cub/device/device_histogram.cuh>
#include <cub/version.cuh>

static void measure(const Arguments& a) {
    const int bins = 256;
    long n = a.size[0];
    auto numbers = uniform(n, a.seed);
    std::vector<unsigned char> host(n);
    std::vector<unsigned> want(bins), got(bins);
    for (long i = 0; i < n; i++) want[host[i] = (unsigned char)(numbers[i] * bins)]++;
    unsigned char* x;
    unsigned* counts;
    void* scratch = nullptr;
    size_t bytes = 0;
    CHECK(cudaMalloc(&x, n));
    CHECK(cudaMalloc(&counts, 4 * bins));
    CHECK(cudaMemcpy(x, host.data(), n, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(counts, 0xff, 4 * bins));
    CHECK(cub::DeviceHistogram::HistogramEven(scratch, bytes, x, counts, bins + 1, 0, bins, (int)n));
    CHECK(cudaMalloc(&scratch, bytes));
    if (wanted(a, "cub_histogram_even")) {
        auto ns = times(a, [&](cudaStream_t stream) { cub::DeviceHistogram::HistogramEven(scratch, bytes, x, counts, bins + 1, 0, bins, (int)n, stream); });
        CHECK(cudaMemcpy(got.data(), counts, 4 * bins, cudaMemcpyDeviceToHost));
        char library[99];
        snprintf(library, sizeof library, "CUB %d.%d.%d", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
        print(a, "cub_histogram_even", got == want, ns, 1.0 * n, 0, library, "bytes, 256 bins");
    }
    CHECK(cudaFree(scratch));
    CHECK(cudaFree(counts));
    CHECK(cudaFree(x));
}

int main(int argc, char** argv) {
    Arguments a = arguments(argc, argv);
    eachTurn(a, measure);
}
