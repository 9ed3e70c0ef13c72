// What the peers in CUDA C++ share: their arguments, timing as the bench does
// it, and the line of JSON that a figure is.
//
//     NAME --operator NAME --size N[,N...]... [--only NAME[,NAME...]] [--method events|graph] [--repeats R] [--l2 warm|flushed] [--seed S] [--turns T] [--set NAME=NUMBER]...

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call) check(call, #call)

static void check(cudaError_t code, const char* call) {
    if (code == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(code));
    exit(1);
}

struct Arguments {
    std::vector<std::vector<long>> sizes;
    std::vector<long> size;  // of these, the one that is measured
    int repeats = 50, turns = 0;
    bool flushed = false, graph = false;
    std::string op, only, sets;
    unsigned seed = 1;
};

static Arguments arguments(int argc, char** argv) {
    Arguments a;
    for (int i = 1; i + 1 < argc; i += 2) {
        std::string name = argv[i];
        const char* value = argv[i + 1];
        if (name == "--size") {
            a.sizes.emplace_back();
            for (char* rest = argv[i + 1]; *rest; rest += *rest == ',') a.sizes.back().push_back(strtol(rest, &rest, 10));
        }
        else if (name == "--operator") a.op = value;
        else if (name == "--only") a.only = std::string(",") + value + ",";
        else if (name == "--method") a.graph = !strcmp(value, "graph");
        else if (name == "--repeats") a.repeats = std::max(1, atoi(value));
        else if (name == "--l2") a.flushed = !strcmp(value, "flushed");
        else if (name == "--turns") a.turns = atoi(value);
        else if (name == "--set") a.sets += std::string(value) + ",";
        else if (name == "--seed") a.seed = strtoul(value, nullptr, 10);
    }
    if (a.sizes.empty()) {
        fprintf(stderr, "usage: %s --operator NAME --size N[,N...]... [--only NAME[,NAME...]] [--method events|graph] [--repeats R] [--l2 warm|flushed] [--seed S] [--turns T] [--set NAME=NUMBER]...\n", argv[0]);
        exit(2);
    }
    return a;
}

// Measures each size; with turns so many times, each time when a line was read, and
// with an empty line at the end.
template <class F>
void eachTurn(Arguments& a, F measure) {
    for (const auto& size : a.sizes) {
        a.size = size;
        for (int turn = 0; turn < std::max(1, a.turns); turn++) {
            char line[2];
            if (a.turns && !fgets(line, sizeof line, stdin)) return;
            measure(a);
            if (a.turns) puts(""), fflush(stdout);
        }
    }
}

// Whether a figure of this name is asked for; "every" asks for all.
static bool wanted(const Arguments& a, const char* name) {
    return a.only.empty() || a.only.find(",every,") != std::string::npos || a.only.find(std::string(",") + name + ",") != std::string::npos;
}

// A parameter of the operator.
static double parameter(const Arguments& a, const char* name, double otherwise) {
    size_t at = ("," + a.sets).find(std::string(",") + name + "=");
    return at == std::string::npos ? otherwise : strtod(a.sets.c_str() + at + strlen(name) + 1, nullptr);
}

// Random numbers in [0, 1).
static std::vector<float> uniform(size_t n, unsigned seed) {
    std::vector<float> x(n);
    unsigned long long state = 0x9E3779B97F4A7C15ull * (seed + 1);
    for (float& v : x) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        v = (state >> 40) * (1.0f / 16777216);
    }
    return x;
}

// Holds the stream until the host has submitted a batch, so that the device
// never waits for the host between two events.
__global__ void gate(volatile unsigned* open) {
    while (!*open) {}
}

// Leaves nothing in L2 but lines of other memory, which need no writing back.
__global__ void sweep(const uint4* memory, size_t n, unsigned* never) {
    unsigned seen = 0;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        uint4 v = memory[i];
        seen |= v.x | v.y | v.z | v.w;
    }
    if (seen) *never = seen;
}

// Runs in a row as one graph: as many as take 2 ms, at most 100, as ops/method.go has it.
template <class F>
int inARow(cudaStream_t stream, F run, cudaGraphExec_t* made) {
    cudaEvent_t start, end;
    float ms;
    cudaGraph_t graph;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(start, stream));
    run(stream);
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaEventElapsedTime(&ms, start, end));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(end));
    int runs = std::min(100, std::max(1, (int)(2 / ms)));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < runs; i++) run(stream);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(made, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return runs;
}

// The times in ns of each of the repeats, after three that are not timed. What
// run is given is the stream to submit to.
template <class F>
std::vector<double> times(const Arguments& a, F run) {
    const int batch = a.graph ? 1 : 8;  // runs behind the gate: a stream takes about 1000 launches, and then the host waits for the gate that it holds
    int l2, runs = 1;
    CHECK(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0));
    unsigned* open;
    uint4* other;
    cudaStream_t stream;
    cudaGraphExec_t graph;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaHostAlloc(&open, sizeof *open, cudaHostAllocMapped));
    CHECK(cudaMalloc(&other, 2 * (size_t)l2));
    CHECK(cudaMemset(other, 0, 2 * (size_t)l2));
    CHECK(cudaDeviceSynchronize());
    std::vector<cudaEvent_t> starts(batch), ends(batch);
    for (int i = 0; i < batch; i++) {
        CHECK(cudaEventCreate(&starts[i]));
        CHECK(cudaEventCreate(&ends[i]));
    }
    if (a.graph) runs = inARow(stream, run, &graph);
    auto unit = [&] {
        if (a.graph) CHECK(cudaGraphLaunch(graph, stream));
        else run(stream);
    };
    for (int i = 0; i < 3; i++) unit();
    CHECK(cudaDeviceSynchronize());
    std::vector<double> ns;
    while ((int)ns.size() < a.repeats) {
        int n = std::min(batch, a.repeats - (int)ns.size());
        *(volatile unsigned*)open = 0;
        gate<<<1, 1, 0, stream>>>(open);
        for (int i = 0; i < n; i++) {
            if (a.flushed) sweep<<<1024, 256, 0, stream>>>(other, 2 * (size_t)l2 / sizeof *other, open);
            CHECK(cudaEventRecord(starts[i], stream));
            unit();
            CHECK(cudaEventRecord(ends[i], stream));
        }
        *(volatile unsigned*)open = 1;
        CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < n; i++) {
            float ms;
            CHECK(cudaEventElapsedTime(&ms, starts[i], ends[i]));
            ns.push_back(ms * 1e6 / runs);
        }
    }
    for (int i = 0; i < batch; i++) {
        CHECK(cudaEventDestroy(starts[i]));
        CHECK(cudaEventDestroy(ends[i]));
    }
    if (a.graph) CHECK(cudaGraphExecDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(other));
    CHECK(cudaFreeHost(open));
    return ns;
}

// How many timings may be left out at each end so that the rest still spans the
// median with 95 % probability: ops/stats.go says why.
static int confidence(int n) {
    int k = 0;
    for (double tail = 0, term = std::pow(0.5, n);;) {
        tail += term;
        if (2 * tail > 0.05) return std::max(0, k - 1);
        k++;
        term *= (double)(n - k + 1) / k;
    }
}

// Prints a figure; one whose result is wrong has no times. Bytes and flops are
// 0 where a rate says nothing.
static void print(const Arguments& a, const char* name, bool right, std::vector<double> ns, double bytes,
                  double flops, const char* library, const char* note) {
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    printf("{\"kind\": \"figure\", \"operator\": \"%s\", \"name\": \"%s\", \"size\": [", a.op.c_str(), name);
    for (size_t i = 0; i < a.size.size(); i++) printf(i ? ", %ld" : "%ld", a.size[i]);
    printf("], \"l2\": \"%s\", \"method\": \"%s\", \"verdict\": \"%s\"", a.flushed ? "flushed" : "warm", a.graph ? "graph" : "events", right ? "PASS" : "FAIL");
    if (right) {
        printf(", \"samples_ns\": [");
        for (size_t i = 0; i < ns.size(); i++) printf(i ? ", %.0f" : "%.0f", ns[i]);
        printf("]");
        std::sort(ns.begin(), ns.end());
        int n = ns.size(), k = confidence(n);
        double median = (ns[(n - 1) / 2] + ns[n / 2]) / 2, mean = 0, square = 0;
        for (double t : ns) mean += t / n;
        for (double t : ns) square += (t - mean) * (t - mean);
        printf(", \"median_ns\": %.0f, \"low_ns\": %.0f, \"high_ns\": %.0f, \"cv\": %.4f, \"repeats\": %d", median, ns[k],
               ns[n - 1 - k], n > 1 ? std::sqrt(square / (n - 1)) / mean : 0, n);
        if (bytes > 0) printf(", \"gbps\": %.1f", bytes / median);
        if (flops > 0) printf(", \"gflops\": %.1f", flops / median);
    }
    printf(", \"library\": \"%s\", \"device\": \"%s\", \"note\": \"%s\"}\n", library, device.name, note);
    fflush(stdout);
}
