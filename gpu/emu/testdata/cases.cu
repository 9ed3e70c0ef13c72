// Kernels of users with one mistake each, and their corrected twins: bad_NAME and ok_NAME.
// Lines with the mistake end in "defect", the earlier access of a race in "earlier". The
// launches are in cases_test.go, because their shapes and arguments differ.

#include <mma.h>

#define FULL 0xffffffffu

#define CASE(name, parameters, arguments) \
    template <bool ok> static __device__ __forceinline__ void name parameters; \
    extern "C" __global__ void bad_##name parameters { name<false> arguments; } \
    extern "C" __global__ void ok_##name parameters { name<true> arguments; } \
    template <bool ok> static __device__ __forceinline__ void name parameters

// Races on global memory within a block.

// All threads add to one element without an atomic.
CASE(sum_into_one, (const float* x, float* y), (x, y)) {
    if (ok) atomicAdd(y, x[threadIdx.x]);
    else *y += x[threadIdx.x]; // defect earlier
}

// The game of life in place: a cell sees new values of its neighbours.
CASE(life_in_place, (const int* x, int* y, int w, int h), (x, y, w, h)) {
    int c = threadIdx.x, r = threadIdx.y, alive = 0;
    const int* from = ok ? x : y;
    for (int i = -1; i <= 1; i++)
        for (int k = -1; k <= 1; k++)
            if (i || k) alive += from[(r + i + h) % h * w + (c + k + w) % w]; // defect earlier
    int next = alive == 3 || (alive == 2 && from[r * w + c]);
    y[r * w + c] = next; // defect earlier
}

// A histogram by plain additions.
CASE(histogram_by_plus, (const int* x, int* y, int n), (x, y, n)) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (ok) atomicAdd(&y[x[i] % 8], 1);
    else y[x[i] % 8]++; // defect earlier
}

// A second pass reads results of other threads of the block before a barrier.
CASE(two_passes_one_buffer, (const int* x, int* y), (x, y)) {
    int t = threadIdx.x;
    y[t] = 3 * x[t]; // defect earlier
    if (ok) __syncthreads();
    int left = t ? y[t - 1] : 0; // defect earlier
    if (ok) __syncthreads();
    y[t] = left + x[t]; // defect earlier
}

// A lock of the block protects a plain sum; the mistake takes no lock.
CASE(sum_without_lock, (const int* x, int* y, int* lock), (x, y, lock)) {
    if (threadIdx.x % 32 == 0) {
        if (ok) {
            while (atomicCAS(lock, 0, 1)) {}
            __threadfence();
        }
        *y += x[threadIdx.x]; // defect earlier
        if (ok) {
            __threadfence();
            atomicExch(lock, 0);
        }
    }
}

// Every thread that finds a value stores the same flag, which is right; the mistake stores
// its own number.
CASE(flag_of_all, (const int* x, int* y), (x, y)) {
    if (x[threadIdx.x] > 3) *y = ok ? 1 : int(threadIdx.x); // defect earlier
}

// Races and unordered accesses of shared memory, and between blocks.

// One float a warp, behind them the row as float4: the row is misaligned.
CASE(row_behind_odd_floats, (const float* x, float* y, int n), (x, y, n)) {
    extern __shared__ float mem[];
    int warps = blockDim.x / 32, t = threadIdx.x;
    float4* row = (float4*)(mem + (ok ? (warps + 3) / 4 * 4 : warps));
    float sum = 0;
    if (t < n / 4) {
        float4 v = ((const float4*)x)[t];
        row[t] = v; // defect
        sum = v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(FULL, sum, d);
    if (t % 32 == 0) mem[t / 32] = sum;
    __syncthreads();
    float total = 0;
    for (int w = 0; w < warps; w++) total += mem[w];
    float r = rsqrtf(total / n);
    if (t < n / 4) {
        float4 v = row[t];
        ((float4*)y)[t] = make_float4(v.x * r, v.y * r, v.z * r, v.w * r);
    }
}

// The next tile is loaded while other threads still read the last one.
CASE(tile_loop_without_last_barrier, (const float* p, float* out, int n), (p, out, n)) {
    __shared__ float tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    float own = p[i], sum = 0;
    for (int base = 0; base < n; base += 64) {
        tile[threadIdx.x] = p[base + threadIdx.x]; // defect earlier
        __syncthreads();
        for (int k = 0; k < 64; k++) sum += fabsf(own - tile[k]); // defect earlier
        if (ok) __syncthreads();
    }
    out[i] = sum;
}

// A stage of a cascade of filters reads its neighbour's output of the same step.
CASE(neighbour_of_same_step, (const float* x, float* y, int n), (x, y, n)) {
    __shared__ float out[64];
    int t = threadIdx.x;
    float state = 0;
    out[t] = 0;
    __syncthreads();
    for (int step = 0; step < n + 63; step++) {
        float in = t == 0 ? (step < n ? x[step] : 0.0f) : out[t - 1]; // defect earlier
        if (ok) __syncthreads();
        state = 0.5f * state + in;
        out[t] = state; // defect earlier
        if (t == 63 && step >= 63) y[step - 63] = state;
        __syncthreads();
    }
}

// The last block reads partial sums that no fence has published.
CASE(last_block_without_fence, (const float* x, float* part, unsigned* done, float* y), (x, part, done, y)) {
    __shared__ bool last;
    float v = x[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(FULL, v, d);
    if (threadIdx.x == 0) {
        part[blockIdx.x] = v; // earlier
        if (ok) __threadfence();
        last = atomicAdd(done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    if (ok) __threadfence();
    float s = threadIdx.x < gridDim.x ? part[threadIdx.x] : 0.0f; // defect
    for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(FULL, s, d);
    if (threadIdx.x == 0) *y = s;
}

// Lanes of a warp exchange through shared memory in phases without __syncwarp.
CASE(phases_without_syncwarp, (const unsigned* x, unsigned* y), (x, y)) {
    __shared__ unsigned s[32];
    int lane = threadIdx.x;
    s[lane] = x[lane]; // defect earlier
    if (ok) __syncwarp();
    if (lane % 2 == 0) s[lane] = s[lane] * 31 + s[lane + 1]; // defect earlier
    if (ok) __syncwarp();
    if (lane % 4 == 0) s[lane] = s[lane] * 31 + s[lane + 2];
    if (ok) __syncwarp();
    if (lane % 8 == 0) y[lane / 8] = s[lane] * 31 + s[lane + 4];
}

// No barrier between the load and the tree, nor in the tree.
CASE(tree_without_barriers, (const float* x, float* y), (x, y)) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 256 + t]; // defect earlier
    if (ok) __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        if (t % (2 * d) == 0) s[t] += s[t + d]; // defect earlier
        if (ok) __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = s[0];
}

// A block has fewer threads than bins: some are neither cleared nor added.
CASE(bins_not_cleared, (const unsigned char* x, unsigned* bins, int n), (x, bins, n)) {
    __shared__ unsigned s[256];
    for (int b = threadIdx.x; b < (ok ? 256 : blockDim.x); b += blockDim.x) s[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&s[x[i]], 1u); // defect
    __syncthreads();
    for (int b = threadIdx.x; b < (ok ? 256 : blockDim.x); b += blockDim.x) atomicAdd(&bins[b], s[b]);
}

static __device__ void copy4(int* to, const int* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}
static __device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
static __device__ void wait_for_all_but_one() { asm volatile("cp.async.wait_group 1;" ::: "memory"); }

// The group is committed after the wait, which waits for one group too few.
CASE(commit_after_wait, (const int* x, int* y, int steps), (x, y, steps)) {
    __shared__ int s[2][64];
    int t = threadIdx.x, sum = 0;
    copy4(&s[0][t], x + t);
    commit();
    for (int k = 0; k < steps; k++) {
        if (k + 1 < steps) copy4(&s[(k + 1) & 1][t], x + (k + 1) * 64 + t);
        if (ok) commit();
        wait_for_all_but_one();
        if (!ok) commit();
        __syncthreads();
        sum += s[k & 1][63 - t]; // defect
        __syncthreads();
    }
    y[t] = sum;
}

// Addresses.

// A sliding mean starts with radius rows although the image has fewer.
CASE(filter_of_short_image, (const float* in, float* out, int w, int h, int r), (in, out, w, h, r)) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= w) return;
    float sum = 0;
    for (int y = 0; y <= r && (!ok || y < h); y++) sum += in[y * w + x]; // defect
    for (int y = 0; y < h; y++) {
        out[y * w + x] = sum / (2 * r + 1);
        if (y + r + 1 < h) sum += in[(y + r + 1) * w + x];
        if (y - r >= 0) sum -= in[(y - r) * w + x];
    }
}

// Rows times columns overflow int.
CASE(index_over_2_31, (const unsigned char* table, const int* rows, unsigned char* out, int columns), (table, rows, out, columns)) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= columns) return;
    long long at = ok ? (long long)rows[blockIdx.y] * columns + c : rows[blockIdx.y] * columns + c;
    out[blockIdx.y * columns + c] = table[at]; // defect
}

// Thread 0 reads s[-1].
CASE(index_minus_one, (const int* x, int* y), (x, y)) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    y[t] = s[t] - (!ok || t ? s[t - 1] : 0); // defect
}

// Matrix B is loaded with the wrong layout: only its values tell.
CASE(rows_as_columns, (const half* a, const half* b, float* c), (a, b, c)) {
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fa, a, 16);
    if (ok) {
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
        wmma::load_matrix_sync(fb, b, 16);
        wmma::mma_sync(fc, fa, fb, fc);
    } else {
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
        wmma::load_matrix_sync(fb, b, 16);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

// Barriers that some threads pass by.

// The other threads are a box, and have work of their own.
CASE(barrier_in_branch, (const int* x, int* y), (x, y)) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    if (ok) __syncthreads();
    if (t < 16) {
        if (!ok) __syncthreads(); // defect
        y[t] = s[t + 1];
    } else {
        y[t] = 0;
    }
}

// The same, by whole warps.
CASE(barrier_of_first_warp, (const int* x, int* y), (x, y)) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    if (ok) __syncthreads();
    if (t < 32) {
        if (!ok) __syncthreads(); // defect
        y[t] = s[t + 32];
    } else {
        y[t] = 7;
    }
}

// Threads leave the loop early, and store.
CASE(barrier_in_uneven_loop, (const int* x, int* y), (x, y)) {
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0, rounds = t < 16 ? 3 : 2;
    for (int k = 0; k < (ok ? 3 : rounds); k++) {
        s[t] = x[t] + k;
        __syncthreads(); // defect
        sum += s[63 - t];
        __syncthreads(); // defect
    }
    y[t] = sum;
}

// A collective of the block is called by some threads only.
static __device__ __forceinline__ int block_sum(int v) {
    __shared__ int s[4];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(FULL, v, d); // defect
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads(); // defect
    return s[0] + s[1] + s[2] + s[3];
}
CASE(collective_in_branch, (const int* x, int* y, int n), (x, y, n)) {
    int i = blockIdx.x * 128 + threadIdx.x;
    if (ok || i < n) {
        int s = block_sum(i < n ? x[i] : 0);
        if (threadIdx.x == 0) atomicAdd(y, s);
    }
}

// Excess threads return before the barrier, which a GPU allows: not an error.
CASE(return_before_barrier, (const float* x, float* y, int n), (x, y, n)) {
    __shared__ float s[64];
    int t = threadIdx.x;
    if (!ok && t >= n) return;
    if (t < n) s[t] = x[t];
    __syncthreads();
    if (t < n) y[t] = s[n - 1 - t];
}

// Masks.

// One mask for both halves of a warp.
CASE(mask_of_first_half, (const float* x, float* y), (x, y)) {
    int t = threadIdx.x;
    float v = fabsf(x[t]);
    unsigned mask = ok && (t & 16) ? 0xffff0000u : 0x0000ffffu;
    for (int d = 8; d > 0; d /= 2) v = fmaxf(v, __shfl_xor_sync(mask, v, d, 16)); // defect
    if (t % 16 == 0) y[t / 16] = v;
}

// A full mask in a loop that lanes leave after different iterations.
CASE(ballot_in_uneven_loop, (const int* length, unsigned* y), (length, y)) {
    int lane = threadIdx.x;
    unsigned last = 0;
    if (ok) {
        unsigned mask = FULL;
        for (int k = 0;; k++) {
            mask = __ballot_sync(mask, k < length[lane]);
            if (k >= length[lane]) break;
            last = __ballot_sync(mask, k % 2 == lane % 2);
        }
    } else {
        for (int k = 0; k < length[lane]; k++) last = __ballot_sync(FULL, k % 2 == lane % 2); // defect
    }
    y[lane] = last;
}

// Lanes leave a loop of votes by break.
CASE(vote_and_break, (const int* x, int* y), (x, y)) {
    int t = threadIdx.x, k = 0;
    while (__any_sync(FULL, x[t] > k)) { // defect
        if (ok) {
            k += x[t] > k;
            continue;
        }
        if (x[t] <= k) break;
        k++;
    }
    y[t] = k;
}

// A shuffle with a full mask in a branch.
CASE(shuffle_in_branch, (const int* x, int* y), (x, y)) {
    int t = threadIdx.x, v = x[t];
    int right = ok ? __shfl_down_sync(FULL, v, 1, 8) : 0;
    if (t < 24) y[t] = ok ? right : __shfl_down_sync(FULL, v, 1, 8); // defect
    else y[t] = 2 * v;
}

// Launches that do not end.

// A spinning loop reads its flag once, because nothing says that it may change.
CASE(flag_read_once, (int* flag, int* y), (flag, y)) {
    if (threadIdx.x == 32) {
        __threadfence();
        atomicExch(flag, 1); // defect
    }
    if (threadIdx.x == 0) {
        if (ok) while (*(volatile int*)flag == 0) {}
        else while (*flag == 0) {} // defect earlier
        y[0] = 5;
    }
}

// No thread sets the flag.
CASE(flag_of_nobody, (volatile int* flag, int* y), (flag, y)) {
    if (ok && blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) *flag = 1;
    while (*flag == 0) {} // defect
    y[blockIdx.x] = 5;
}

// Blocks wait until all have arrived, although not all fit on the GPU.
CASE(own_grid_barrier, (const float* x, volatile float* mid, unsigned* arrived, float* y), (x, mid, arrived, y)) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    mid[i] = 2 * x[i];
    if (!ok) {
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd(arrived, 1u);
            while (*(volatile unsigned*)arrived < gridDim.x) {} // defect
        }
        __syncthreads(); // defect
    }
    y[i] = ok ? 2 * x[n - 1 - i] : mid[n - 1 - i];
}

// The loop compares doubles: NaN never equals itself.
CASE(cas_compares_floats, (const double* x, double* y, int n), (x, y, n)) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long* a = (unsigned long long*)y;
    if (ok) {
        unsigned long long old = *(volatile unsigned long long*)a, seen;
        do {
            seen = old;
            old = atomicCAS(a, seen, __double_as_longlong(__longlong_as_double(seen) + x[i]));
        } while (old != seen);
    } else {
        double old = *y, seen; // earlier
        do {
            seen = old;
            old = __longlong_as_double(atomicCAS(a, __double_as_longlong(seen), __double_as_longlong(seen + x[i]))); // defect
        } while (old != seen); // defect
    }
}

// The lane that holds the lock waits for the lanes that want it.
CASE(lock_across_syncwarp, (int* lock, int* y), (lock, y)) {
    bool done = false;
    while (!done) { // defect
        if (atomicCAS(lock, 0, 1) == 0) { // defect
            y[0]++;
            if (!ok) __syncwarp(); // defect
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

static __device__ unsigned shared_address(void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// One warp does not arrive at the mbarrier.
CASE(arrival_missing, (const int* x, int* y), (x, y)) {
    __shared__ unsigned long long bar;
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(shared_address(&bar)) : "memory");
    __syncthreads();
    s[t] = x[t];
    if (ok || t < 32) asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(shared_address(&bar)) : "memory");
    unsigned done = 0;
    while (!done) {
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" // defect
                     : "=r"(done) : "r"(shared_address(&bar)) : "memory"); // defect
    } // defect
    y[t] = s[63 - t];
}

// Waiting that ends: no error in either form.

// Blocks pass a sum on, each waits for the one before it.
CASE(chain_of_blocks, (const int* x, int* y, volatile int* sum, int* ticket), (x, y, sum, ticket)) {
    __shared__ int block;
    if (threadIdx.x == 0) block = ok ? atomicAdd(ticket, 1) : blockIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        int before = 0;
        if (block > 0) while ((before = sum[block - 1]) == 0) {}
        __threadfence();
        sum[block] = before + x[block];
        y[block] = before;
    }
}

// A consumer waits for a producer of another block.
CASE(producer_and_consumer, (const int* x, int* y, int* full, int* empty, int* slot), (x, y, full, empty, slot)) {
    if (threadIdx.x) return;
    for (int k = 0; k < 20; k++) {
        if (blockIdx.x == (ok ? 0 : 1)) {
            while (atomicAdd(empty, 0) < k) {}
            *(volatile int*)slot = x[k];
            __threadfence();
            atomicAdd(full, 1);
        } else {
            while (atomicAdd(full, 0) <= k) {}
            __threadfence();
            y[k] = *(volatile int*)slot;
            __threadfence();
            atomicAdd(empty, 1);
        }
    }
}

// A spin that gives up: after some polls, or after some time.
CASE(spin_with_time_out, (volatile int* flag, int* y), (flag, y)) {
    long long start = clock64();
    int polls = 0;
    while (*flag == 0) {
        if (ok ? ++polls > 20000 : clock64() - start > 300000) break;
    }
    y[threadIdx.x] = 1;
}

// A spin that backs off, and a lock that is taken for a while.
CASE(lock_with_back_off, (int* lock, volatile int* sum), (lock, sum)) {
    if (threadIdx.x % 32) return;
    unsigned ns = 8;
    while (atomicCAS(lock, 0, 1)) {
        __nanosleep(ns);
        if (ns < 256) ns *= 2;
    }
    unsigned hold = *sum;
    for (int k = 0; k < (ok ? 20000 : 200); k++) hold = hold * 1664525u + k;
    *sum = *sum + 1 + (hold == 1);
    __threadfence();
    atomicExch(lock, 0);
}

// A long computation without stores.
CASE(long_computation, (const int* x, int* y, int n), (x, y, n)) {
    unsigned v = x[threadIdx.x];
    for (int k = 0; k < n; k++) v = ok ? v * 1664525u + 1013904223u : v ^ (v << 1) ^ k;
    y[threadIdx.x] = v;
}

// A product of two ints overflows to a positive number, beside a quotient.
CASE(index_wraps_upwards, (const int* x, int* y, int n), (x, y, n)) {
    int row = 50000 * (n / 100000);
    long long at = ok ? 0 : row * n;
    y[threadIdx.x] = x[at + threadIdx.x]; // defect
}

// An unsigned index of -1: threadIdx.x is unsigned.
CASE(unsigned_minus_one, (const int* x, int* y), (x, y)) {
    y[threadIdx.x] = x[threadIdx.x] - (!ok || threadIdx.x ? x[threadIdx.x - 1] : 0); // defect
}

// A loop counts an unsigned index down, which is never below 0.
CASE(unsigned_countdown, (const int* x, int* y), (x, y)) {
    int sum = 0;
    for (unsigned i = 31; ok ? i < 32 : i <= 0xffffffff; i--) {
        sum += x[i]; // defect
        if (i == threadIdx.x) y[i] = sum;
    }
}

// Thread 0 of two warps writes what all read.
CASE(scale_of_thread_0, (const int* x, int* y), (x, y)) {
    __shared__ int scale;
    if (threadIdx.x == 0) scale = x[0]; // defect
    if (ok) __syncthreads();
    y[threadIdx.x] = x[threadIdx.x] * scale; // defect earlier
}

// Blocks of the grid start at multiples of the wrong size.
CASE(block_times_grid, (const int* x, int* y), (x, y)) {
    int i = blockIdx.x * (ok ? blockDim.x : gridDim.x) + threadIdx.x;
    y[i] = x[i] * blockIdx.x; // defect earlier
}

// A loop over the grid has the step of a block.
CASE(grid_loop_of_block, (const int* x, int* y, int n), (x, y, n)) {
    int step = ok ? blockDim.x * gridDim.x : blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = x[i] + blockIdx.x; // defect earlier
}
