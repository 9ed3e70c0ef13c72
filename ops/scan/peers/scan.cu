// Peers of scan: CUB's, inclusive or exclusive, of float32, int32 and uint64, and by key.

#include "peer.cuh"

#include <cub/device/device_scan.cuh>
#include <cub/version.cuh>

// Whether the sums are right: of integers every bit, of floats within 1e-3 of the sum of
// what is all positive.
template <class T> static bool right(const std::vector<T>& got, const std::vector<T>& x, bool exclusive) {
    typename std::make_unsigned<T>::type sum = 0;
    for (size_t i = 0; i < x.size(); i++) {
        auto before = sum;
        sum += x[i];
        if (got[i] != (T)(exclusive ? before : sum)) return false;
    }
    return true;
}

static bool right(const std::vector<float>& got, const std::vector<float>& x, bool exclusive) {
    double sum = 0;
    for (size_t i = 0; i < x.size(); i++) {
        double before = sum;
        sum += x[i];
        double want = exclusive ? before : sum;
        if (!(std::fabs(got[i] - want) <= 1e-3 * want)) return false;
    }
    return true;
}

template <class T> static void measureOf(const Arguments& a) {
    long n = a.size[0];
    bool exclusive = parameter(a, "exclusive", 0) != 0;
    auto numbers = uniform(n, a.seed);
    std::vector<T> host(n), got(n);
    for (long i = 0; i < n; i++) host[i] = std::is_same<T, float>::value ? (T)numbers[i] : (T)(numbers[i] * 2147483648.0);
    T *x, *y;
    void* scratch = nullptr;
    size_t bytes = 0;
    CHECK(cudaMalloc(&x, sizeof(T) * n));
    CHECK(cudaMalloc(&y, sizeof(T) * n));
    CHECK(cudaMemcpy(x, host.data(), sizeof(T) * n, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(y, 0xff, sizeof(T) * n));
    auto scan = [&](cudaStream_t stream) {
        return exclusive ? cub::DeviceScan::ExclusiveSum(scratch, bytes, x, y, n, stream) : cub::DeviceScan::InclusiveSum(scratch, bytes, x, y, n, stream);
    };
    CHECK(scan(0));
    CHECK(cudaMalloc(&scratch, bytes));
    if (wanted(a, "cub_scan")) {
        auto ns = times(a, [&](cudaStream_t stream) { scan(stream); });
        CHECK(cudaMemcpy(got.data(), y, sizeof(T) * n, cudaMemcpyDeviceToHost));
        char library[99];
        snprintf(library, sizeof library, "CUB %d.%d.%d", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
        print(a, "cub_scan", right(got, host, exclusive), ns, 2.0 * sizeof(T) * n, 0, library, exclusive ? "exclusive" : "inclusive");
    }
    CHECK(cudaFree(scratch));
    CHECK(cudaFree(y));
    CHECK(cudaFree(x));
}

// Segments of ten equal keys; sums are below 10.
static void measureByKey(const Arguments& a) {
    long n = a.size[0];
    auto host = uniform(n, a.seed);
    std::vector<int> keys(n);
    std::vector<float> got(n);
    for (long i = 0; i < n; i++) keys[i] = (int)(i / 10);
    int* key;
    float *x, *y;
    void* scratch = nullptr;
    size_t bytes = 0;
    CHECK(cudaMalloc(&key, 4 * n));
    CHECK(cudaMalloc(&x, 4 * n));
    CHECK(cudaMalloc(&y, 4 * n));
    CHECK(cudaMemcpy(key, keys.data(), 4 * n, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(x, host.data(), 4 * n, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(y, 0xff, 4 * n));
    auto scan = [&](cudaStream_t stream) { return cub::DeviceScan::InclusiveSumByKey(scratch, bytes, key, x, y, n, ::cuda::std::equal_to<>{}, stream); };
    CHECK(scan(0));
    CHECK(cudaMalloc(&scratch, bytes));
    if (wanted(a, "cub_scan_by_key")) {
        auto ns = times(a, [&](cudaStream_t stream) { scan(stream); });
        CHECK(cudaMemcpy(got.data(), y, 4 * n, cudaMemcpyDeviceToHost));
        bool same = true;
        double sum = 0;
        for (long i = 0; i < n; i++) {
            sum = (i % 10 ? sum : 0) + host[i];
            same = same && std::fabs(got[i] - sum) <= 1e-5 * sum;
        }
        char library[99];
        snprintf(library, sizeof library, "CUB %d.%d.%d", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
        print(a, "cub_scan_by_key", same, ns, 12.0 * n, 0, library, "segments of 10");
    }
    CHECK(cudaFree(scratch));
    CHECK(cudaFree(y));
    CHECK(cudaFree(x));
    CHECK(cudaFree(key));
}

static void measure(const Arguments& a) {
    if (a.op == "scan_by_key") return measureByKey(a);
    if (a.op == "scan_u64") return measureOf<unsigned long long>(a);
    if (a.op == "scan_i32") measureOf<int>(a);
    else measureOf<float>(a);
}

int main(int argc, char** argv) {
    Arguments a = arguments(argc, argv);
    eachTurn(a, measure);
}
