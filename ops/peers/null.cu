// A kernel that does nothing, timed by events behind a kernel that holds the
// stream, as nvbench does: each run between two events, 100 runs between two,
// and a graph of 100 between two. It is a time of this process: in another one
// it differs by some per cent.

#include "peer.cuh"

__global__ void nothing() {}

static const int inRow = 100;

// The median in ns of so many timings, of which the stream holds some at a time.
template <class F>
static double medianOf(int repeats, int held, cudaStream_t stream, unsigned* open, F run) {
    std::vector<cudaEvent_t> starts(held), ends(held);
    for (int i = 0; i < held; i++) {
        CHECK(cudaEventCreate(&starts[i]));
        CHECK(cudaEventCreate(&ends[i]));
    }
    for (int i = 0; i < 3; i++) run();
    CHECK(cudaDeviceSynchronize());
    std::vector<double> ns;
    while ((int)ns.size() < repeats) {
        *(volatile unsigned*)open = 0;
        gate<<<1, 1, 0, stream>>>(open);
        for (int i = 0; i < held; i++) {
            CHECK(cudaEventRecord(starts[i], stream));
            run();
            CHECK(cudaEventRecord(ends[i], stream));
        }
        *(volatile unsigned*)open = 1;
        CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < held; i++) {
            float ms;
            CHECK(cudaEventElapsedTime(&ms, starts[i], ends[i]));
            ns.push_back(ms * 1e6);
        }
    }
    std::sort(ns.begin(), ns.end());
    return (ns[(ns.size() - 1) / 2] + ns[ns.size() / 2]) / 2;
}

static void line(const char* method, double ns) {
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    printf("{\"kind\": \"figure\", \"name\": \"nothing\", \"method\": \"%s\", \"l2\": \"warm\", \"median_ns\": %.1f, "
           "\"library\": \"CUDA events\", \"device\": \"%s\"}\n", method, ns, device.name);
}

int main() {
    cudaStream_t stream;
    unsigned* open;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaHostAlloc(&open, sizeof *open, cudaHostAllocMapped));
    auto one = [&] { nothing<<<1, 32, 0, stream>>>(); };
    auto row = [&] { for (int i = 0; i < inRow; i++) one(); };
    cudaGraph_t graph;
    cudaGraphExec_t made;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    row();
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&made, graph, 0));
    line("events", medianOf(100, 50, stream, open, one));
    line("back to back", medianOf(20, 2, stream, open, row) / inRow);
    line("graph", medianOf(20, 2, stream, open, [&] { CHECK(cudaGraphLaunch(made, stream)); }) / inRow);
    puts("");  // the end of its turn, the only one
}
