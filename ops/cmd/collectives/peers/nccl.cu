// ncclAllReduce as a C++ program calls it: a sum of float32, out of place, between events
// behind five calls that are not timed, with a process for each GPU and with a thread for
// each. The GPU's time is that of the slowest rank. --set ranks=N is the number of GPUs;
// NCCL_PEER_LIBRARIES lists files that may be libnccl, with colons.

#include "peer.cuh"

#include <dlfcn.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

struct Id { char bytes[128]; };
typedef void* Comm;

static struct {
    int (*version)(int*);
    int (*id)(Id*);
    int (*join)(Comm*, int, Id, int);
    int (*allReduce)(const void*, void*, size_t, int, int, Comm, cudaStream_t);
    const char* (*text)(int);
} nccl;

static void fail(const char* what, const char* why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void need(int code, const char* what) {
    if (code) fail(what, nccl.text(code));
}

static void open() {
    std::string paths = getenv("NCCL_PEER_LIBRARIES") ? getenv("NCCL_PEER_LIBRARIES") : "libnccl.so.2";
    void* library = nullptr;
    for (size_t at = 0; !library && at < paths.size();) {
        size_t end = std::min(paths.find(':', at), paths.size());
        library = dlopen(paths.substr(at, end - at).c_str(), RTLD_NOW | RTLD_LOCAL);
        at = end + 1;
    }
    if (!library) fail("libnccl", dlerror());
    struct { const char* name; void** to; } names[] = {{"ncclGetVersion", (void**)&nccl.version}, {"ncclGetUniqueId", (void**)&nccl.id},
        {"ncclCommInitRank", (void**)&nccl.join}, {"ncclAllReduce", (void**)&nccl.allReduce}, {"ncclGetErrorString", (void**)&nccl.text}};
    for (auto& n : names)
        if (!(*n.to = dlsym(library, n.name))) fail(n.name, "the library has no such function");
}

// A measurement that a rank is asked for, and what it answers.
struct Task { long bytes; int repeats; };
struct Result { double ns; int right; };

// A rank: its communicator and its buffers.
struct Rank {
    int rank, ranks;
    Comm comm = nullptr;
    cudaStream_t stream;
    cudaEvent_t start, end;
    float *in = nullptr, *out = nullptr;
    long bytes = 0;

    void join(const Id& id) {
        CHECK(cudaSetDevice(rank));
        need(nccl.join(&comm, ranks, id, rank), "ncclCommInitRank");
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        CHECK(cudaEventCreate(&start));
        CHECK(cudaEventCreate(&end));
    }

    static float element(long i, int rank) { return (i * 7 + rank * 3) % 8; }

    void resize(long wanted) {
        if (bytes == wanted) return;
        if (in) CHECK(cudaFree(in));
        if (out) CHECK(cudaFree(out));
        bytes = wanted;
        CHECK(cudaMalloc(&in, bytes));
        CHECK(cudaMalloc(&out, bytes));
        std::vector<float> host(bytes / 4);
        for (long i = 0; i < bytes / 4; i++) host[i] = element(i, rank);
        CHECK(cudaMemcpy(in, host.data(), bytes, cudaMemcpyHostToDevice));
    }

    Result run(Task task) {
        CHECK(cudaSetDevice(rank));
        resize(task.bytes);
        CHECK(cudaMemset(out, 0xff, bytes));
        CHECK(cudaDeviceSynchronize());
        const int warm = 5;
        for (int i = 0; i < warm + task.repeats; i++) {
            if (i == warm) CHECK(cudaEventRecord(start, stream));
            need(nccl.allReduce(in, out, bytes / 4, 7, 0, comm, stream), "ncclAllReduce");
        }
        CHECK(cudaEventRecord(end, stream));
        CHECK(cudaStreamSynchronize(stream));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, start, end));
        const long part = std::min(bytes / 4, 1l << 20);
        std::vector<float> host(part);
        bool right = true;
        for (long from : {0l, bytes / 4 - part}) {
            CHECK(cudaMemcpy(host.data(), out + from, part * 4, cudaMemcpyDeviceToHost));
            for (long i = 0; i < part; i++) {
                float sum = 0;
                for (int r = 0; r < ranks; r++) sum += element(from + i, r);
                right = right && host[i] == sum;
            }
        }
        return {ms * 1e6 / task.repeats, right};
    }
};

static void all(int fd, void* to, size_t n, bool read) {
    for (char* at = (char*)to; n;) {
        ssize_t done = read ? ::read(fd, at, n) : ::write(fd, at, n);
        if (done <= 0) {
            fprintf(stderr, "a rank has ended\n");
            exit(1);
        }
        at += done, n -= done;
    }
}

// Processes that have one rank each, or one process with a thread for each rank. They are
// made before anything of CUDA runs.
struct Group {
    int ranks, processes;
    bool joined = false;
    std::vector<int> to, from;

    Group(int ranks, int processes) : ranks(ranks), processes(processes) {
        for (int p = 0; p < processes; p++) {
            int down[2], up[2];
            if (pipe(down) || pipe(up)) fail("pipe", "failed");
            if (fork() == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                serve(p, down[0], up[1]);
                _exit(0);
            }
            close(down[0]), close(up[1]);
            to.push_back(down[1]), from.push_back(up[0]);
        }
    }

    void serve(int process, int in, int out) {
        open();
        std::vector<Rank> mine(ranks / processes);
        auto each = [&](auto f) {
            std::vector<std::thread> threads;
            for (size_t i = 0; i < mine.size(); i++) threads.emplace_back([&, i] { f(mine[i], i); });
            for (auto& t : threads) t.join();
        };
        Id id;
        all(in, &id, sizeof id, true);
        if (process == 0) {
            need(nccl.id(&id), "ncclGetUniqueId");
            all(out, &id, sizeof id, false);
        }
        for (size_t i = 0; i < mine.size(); i++) mine[i].rank = process * mine.size() + i, mine[i].ranks = ranks;
        each([&](Rank& r, size_t) { r.join(id); });
        for (;;) {
            Task task;
            all(in, &task, sizeof task, true);
            std::vector<Result> results(mine.size());
            each([&](Rank& r, size_t i) { results[i] = r.run(task); });
            Result worst = results[0];
            for (auto& r : results) worst = {std::max(worst.ns, r.ns), worst.right && r.right};
            all(out, &worst, sizeof worst, false);
        }
    }

    Result run(Task task) {
        if (!joined) {
            Id id = {};
            all(to[0], &id, sizeof id, false);
            all(from[0], &id, sizeof id, true);
            for (int p = 1; p < processes; p++) all(to[p], &id, sizeof id, false);
            joined = true;
        }
        for (int fd : to) all(fd, &task, sizeof task, false);
        Result worst = {0, 1};
        for (int fd : from) {
            Result r;
            all(fd, &r, sizeof r, true);
            worst = {std::max(worst.ns, r.ns), worst.right && r.right};
        }
        return worst;
    }
};

int main(int argc, char** argv) {
    signal(SIGPIPE, SIG_IGN);
    Arguments a = arguments(argc, argv);
    int ranks = (int)parameter(a, "ranks", 2), version = 0;
    Group processes(ranks, ranks), threads(ranks, 1);
    open();
    need(nccl.version(&version), "ncclGetVersion");
    char library[64];
    snprintf(library, sizeof library, "NCCL %d.%d.%d", version / 10000, version / 100 % 100, version % 100);
    eachTurn(a, [&](Arguments& a) {
        struct { const char* name; Group* group; } kinds[] = {{"nccl_process_each", &processes}, {"nccl_one_process", &threads}};
        for (auto& k : kinds) {
            if (!wanted(a, k.name)) continue;
            Result r = k.group->run({a.size[0], a.repeats});
            print(a, k.name, r.right, {r.ns}, a.size[0] * 2.0 * (ranks - 1) / ranks, 0, library, "bus bandwidth as nccl-tests has it");
        }
    });
}
