// Times CUB's radix sort and merge sort of keys of uint32, int32, float32 and uint64, and
// of keys of uint32 with values. The merge sort of pairs sorts in place, so that its time
// has a copy of keys and values before it.

#include "peer.cuh"

#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/version.cuh>

struct Less {
    template <class T> __device__ bool operator()(const T& a, const T& b) const { return a < b; }
};

// Integers of random bits; floats are in [0, 1).
template <class T> static std::vector<T> keysOf(long n, unsigned seed) {
    auto low = uniform(n, seed), high = uniform(n, seed + 1);
    std::vector<T> keys(n);
    for (long i = 0; i < n; i++) {
        unsigned long long bits = (unsigned long long)(low[i] * 16777216.0f) << 8 ^ (unsigned long long)(high[i] * 16777216.0f) << 40 ^ (unsigned long long)(high[i] * 16777216.0f);
        keys[i] = std::is_same<T, float>::value ? (T)low[i] : (T)bits;
    }
    return keys;
}

template <class T> static void measureOf(const Arguments& a, bool pairs) {
    long n = a.size[0];
    auto host = keysOf<T>(n, a.seed);
    std::vector<std::pair<T, unsigned>> want(n);
    for (long i = 0; i < n; i++) want[i] = {host[i], (unsigned)i};
    std::stable_sort(want.begin(), want.end(), [](auto& x, auto& y) { return x.first < y.first; });
    std::vector<T> got(n);
    std::vector<unsigned> places(n);
    for (long i = 0; i < n; i++) places[i] = i;
    T *keys, *sorted;
    unsigned *values, *moved;
    CHECK(cudaMalloc(&keys, sizeof(T) * n));
    CHECK(cudaMalloc(&sorted, sizeof(T) * n));
    CHECK(cudaMalloc(&values, 4 * n));
    CHECK(cudaMalloc(&moved, 4 * n));
    CHECK(cudaMemcpy(keys, host.data(), sizeof(T) * n, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(values, places.data(), 4 * n, cudaMemcpyHostToDevice));
    char library[99];
    snprintf(library, sizeof library, "CUB %d.%d.%d", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);

    auto one = [&](const char* name, const char* comment, auto run) {
        if (!wanted(a, name)) return;
        void* scratch = nullptr;
        size_t bytes = 0;
        CHECK(run(scratch, bytes, 0));
        CHECK(cudaMalloc(&scratch, bytes));
        CHECK(cudaMemset(sorted, 0xff, sizeof(T) * n));
        CHECK(cudaMemset(moved, 0xff, 4 * n));
        auto ns = times(a, [&](cudaStream_t stream) { run(scratch, bytes, stream); });
        CHECK(cudaMemcpy(got.data(), sorted, sizeof(T) * n, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(places.data(), moved, 4 * n, cudaMemcpyDeviceToHost));
        bool right = true;
        for (long i = 0; i < n; i++) right = right && got[i] == want[i].first && (!pairs || places[i] == want[i].second);
        print(a, name, right, ns, 2.0 * (sizeof(T) + (pairs ? 4 : 0)) * n, 0, library, comment);
        CHECK(cudaFree(scratch));
    };
    one("cub_radix_sort", pairs ? "pairs" : "keys", [&](void* scratch, size_t& bytes, cudaStream_t stream) {
        if (pairs) return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, sorted, values, moved, n, 0, 8 * sizeof(T), stream);
        return cub::DeviceRadixSort::SortKeys(scratch, bytes, keys, sorted, n, 0, 8 * sizeof(T), stream);
    });
    one("cub_merge_sort", pairs ? "pairs, stable, after a copy" : "keys", [&](void* scratch, size_t& bytes, cudaStream_t stream) {
        if (!pairs) return cub::DeviceMergeSort::SortKeysCopy(scratch, bytes, keys, sorted, n, Less(), stream);
        if (scratch) {
            CHECK(cudaMemcpyAsync(sorted, keys, sizeof(T) * n, cudaMemcpyDeviceToDevice, stream));
            CHECK(cudaMemcpyAsync(moved, values, 4 * n, cudaMemcpyDeviceToDevice, stream));
        }
        return cub::DeviceMergeSort::StableSortPairs(scratch, bytes, sorted, moved, n, Less(), stream);
    });
    CHECK(cudaFree(keys));
    CHECK(cudaFree(sorted));
    CHECK(cudaFree(values));
    CHECK(cudaFree(moved));
}

static void measure(const Arguments& a) {
    if (a.op == "sort_i32") return measureOf<int>(a, false);
    if (a.op == "sort_f32") return measureOf<float>(a, false);
    if (a.op == "sort_u64") return measureOf<unsigned long long>(a, false);
    measureOf<unsigned>(a, a.op == "sort_pairs");
}

int main(int argc, char** argv) {
    Arguments a = arguments(argc, argv);
    eachTurn(a, measure);
}
