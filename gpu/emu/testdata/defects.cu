// Kernels with one defect each, and their corrected twins: bad_NAME and ok_NAME
// are one function, with and without the defect. The line at fault ends in
// "// defect", that of the earlier access of a race in "// earlier".
// defects.json says what must be found. x holds n numbers, y n zeros, z n
// numbers that were never written; two blocks of 64 threads run on n = 128,
// unless defects.json says otherwise.

#define ARGUMENTS const int* x, int* y, int* z, int n
#define INDEX const int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid; (void)tid; (void)i
#define CASE(name) template <bool ok> static __device__ __forceinline__ void name(ARGUMENTS)
#define PAIR(name) \
    extern "C" __global__ void bad_##name(ARGUMENTS) { name<false>(x, y, z, n); } \
    extern "C" __global__ void ok_##name(ARGUMENTS) { name<true>(x, y, z, n); }

// Bounds of global memory.

CASE(write_past_end) {
    INDEX;
    y[ok ? i : i + 1] = x[i]; // defect
}
PAIR(write_past_end)

CASE(read_past_end) {
    INDEX;
    y[i] = x[ok ? i : i + 1]; // defect
}
PAIR(read_past_end)

CASE(write_before_start) {
    INDEX;
    y[ok ? i : i - 1] = x[i]; // defect
}
PAIR(write_before_start)

CASE(no_bounds_check) {
    INDEX;
    if (!ok || i < n) y[i] = 2 * i; // defect
}
PAIR(no_bounds_check)

CASE(two_elements_a_thread) {
    const int i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
    int v = i < n ? x[i] : 0;
    if (!ok || i + blockDim.x < n) v += x[i + blockDim.x]; // defect
    if (i < n) y[i] = v;
}
PAIR(two_elements_a_thread)

CASE(unsigned_index_wraps) {
    INDEX;
    unsigned before = i - 1u;
    y[i] = ok && i == 0 ? 0 : x[before]; // defect
}
PAIR(unsigned_index_wraps)

CASE(row_pitch) {
    INDEX;
    const int row = i / 16, column = i % 16;
    y[row * (ok ? 16 : 17) + column] = i; // defect
}
PAIR(row_pitch)

CASE(bytes_for_elements) {
    INDEX;
    y[ok ? i : 4 * i] = 1; // defect
}
PAIR(bytes_for_elements)

CASE(null_pointer) {
    INDEX;
    int* p = y;
    if (!ok) asm volatile("mov.u64 %0, 0;" : "=l"(p));
    p[i] = x[i]; // defect
}
PAIR(null_pointer)

CASE(vector_tail) {
    INDEX;
    if (ok ? 4 * i + 3 < n : 4 * i < n) reinterpret_cast<int4*>(y)[i] = make_int4(1, 2, 3, 4); // defect
}
PAIR(vector_tail)

CASE(atomic_past_end) {
    INDEX;
    atomicAdd(&y[ok ? x[i] % n : x[i] + 1], 1); // defect
}
PAIR(atomic_past_end)

static __constant__ int weights[16] = {1, 2, 3};

CASE(constant_past_end) {
    INDEX;
    y[i] = weights[ok ? i % 16 : i % 17]; // defect
}
PAIR(constant_past_end)

static __device__ int table[32];

CASE(variable_past_end) {
    INDEX;
    table[ok ? tid % 32 : tid] = i; // defect
}
PAIR(variable_past_end)

// Alignment.

CASE(misaligned_vector) {
    INDEX;
    if (i < 16) {
        int4 v = reinterpret_cast<const int4*>(x + (ok ? 0 : 1))[i]; // defect
        y[i] = v.x * v.y + v.z * v.w;
    }
}
PAIR(misaligned_vector)

CASE(misaligned_word) {
    INDEX;
    if (i > 0) y[i] = *reinterpret_cast<const int*>(reinterpret_cast<const char*>(x) + (ok ? 4 : 3) * i); // defect
}
PAIR(misaligned_word)

CASE(misaligned_shared) {
    __shared__ __align__(8) int s[130];
    INDEX;
    s[2 * tid] = s[2 * tid + 1] = i;
    if (tid == 0) s[128] = s[129] = 0;
    __syncthreads();
    long long v = *reinterpret_cast<long long*>(&s[2 * tid + (ok ? 0 : 1)]); // defect
    y[i] = static_cast<int>(v ^ v >> 32);
}
PAIR(misaligned_shared)

CASE(misaligned_atomic) {
    INDEX;
    atomicAdd(reinterpret_cast<unsigned long long*>(y + (ok ? 0 : 1)), 1ull); // defect
}
PAIR(misaligned_atomic)

// Life and space.

static __device__ int* kept;

extern "C" __global__ void keep(ARGUMENTS) { kept = z; }

CASE(use_after_free) {
    INDEX;
    (ok ? y : kept)[i] = 1; // defect
}
PAIR(use_after_free)

CASE(wrong_space) {
    __shared__ int s[64];
    INDEX;
    s[tid] = i;
    __syncthreads();
    if (ok) asm volatile("st.global.u32 [%0], %1;" ::"l"(y + i), "r"(s[tid]) : "memory");
    else asm volatile("st.shared.u32 [%0], %1;" ::"l"(y + i), "r"(s[tid]) : "memory"); // defect
}
PAIR(wrong_space)

// Bounds of shared and local memory.

CASE(shared_past_end) {
    __shared__ int s[64];
    INDEX;
    s[ok ? tid : tid + 1] = i; // defect
    __syncthreads();
    y[i] = s[63];
}
PAIR(shared_past_end)

CASE(shared_negative) {
    __shared__ int s[64];
    INDEX;
    s[tid] = i;
    __syncthreads();
    y[i] = s[ok ? (tid + 63) % 64 : tid - 1]; // defect
}
PAIR(shared_negative)

extern __shared__ int dynamic[];

CASE(dynamic_too_small) {
    INDEX;
    dynamic[tid] = i; // defect
    __syncthreads();
    y[i] = dynamic[0];
}
PAIR(dynamic_too_small)

static __device__ __noinline__ void put(int* p, int v) {
    *p = v; // defect generic
}

CASE(shared_by_pointer) {
    __shared__ int s[64];
    INDEX;
    put(&s[ok ? tid : 2 * tid], i);
    __syncthreads();
    y[i] = s[0];
}
PAIR(shared_by_pointer)

CASE(shared_neighbour) {
    __shared__ int a[64];
    __shared__ int b[64];
    INDEX;
    b[tid] = i;
    __syncthreads();
    a[ok ? tid : 64 - tid] = i; // defect
    __syncthreads();
    y[i] = a[63 - tid / 2] + b[tid];
}
PAIR(shared_neighbour)

CASE(local_past_end) {
    INDEX;
    int a[8];
    for (int k = 0; k < 8; k++) a[k] = k;
    a[ok ? x[i] & 7 : x[i] & 31] = 9; // defect
    y[i] = a[x[0] & 7];
}
PAIR(local_past_end)

// Reads of what was never written.

CASE(uninitialized_global) {
    INDEX;
    if (ok) z[i] = 0;
    y[i] = z[i] + 1; // defect
}
PAIR(uninitialized_global)

CASE(half_written) {
    INDEX;
    if (ok || i % 2 == 0) z[i] = 0;
    y[i] = z[i]; // defect
}
PAIR(half_written)

CASE(sum_not_zeroed) {
    INDEX;
    atomicAdd(ok ? y : z, x[i]); // defect
}
PAIR(sum_not_zeroed)

CASE(uninitialized_shared) {
    __shared__ int s[64];
    INDEX;
    if (ok || tid < 32) s[tid] = i;
    __syncthreads();
    y[i] = s[tid]; // defect
}
PAIR(uninitialized_shared)

CASE(tile_tail) {
    __shared__ int s[64];
    INDEX;
    if (i < n) s[tid] = x[i];
    else if (ok) s[tid] = 0;
    __syncthreads();
    if (i < n) y[i] = s[63 - tid]; // defect
}
PAIR(tile_tail)

CASE(count_not_zeroed) {
    __shared__ int count;
    INDEX;
    if (ok && tid == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, 1); // defect
    __syncthreads();
    y[i] = count;
}
PAIR(count_not_zeroed)

CASE(uninitialized_local) {
    INDEX;
    int a[8];
    for (int k = 0; k < (ok ? 8 : 4); k++) a[(x[0] + k) & 7] = k;
    y[i] = a[x[i] & 7]; // defect
}
PAIR(uninitialized_local)

CASE(uninitialized_register) {
    INDEX;
    int v;
    if (ok) asm volatile("{ .reg .u32 t; mov.u32 t, 7; add.u32 %0, t, 1; }" : "=r"(v));
    else asm volatile("{ .reg .u32 t; add.u32 %0, t, 1; }" : "=r"(v)); // defect
    y[i] = v;
}
PAIR(uninitialized_register)

// Races between warps.

CASE(race_read_after_write) {
    __shared__ int s[64];
    INDEX;
    s[tid] = i; // defect earlier
    if (ok) __syncthreads();
    y[i] = s[tid ^ 32]; // defect earlier
}
PAIR(race_read_after_write)

CASE(race_write_after_read) {
    __shared__ int s[64];
    INDEX;
    int sum = 0;
    for (int tile = 0; tile < 4; tile++) {
        s[tid] = x[i] + tile; // defect earlier
        __syncthreads();
        sum += s[63 - tid]; // defect earlier
        if (ok) __syncthreads();
    }
    y[i] = sum;
}
PAIR(race_write_after_read)

CASE(race_write_after_write) {
    __shared__ int s[64];
    INDEX;
    s[ok ? tid : tid % 32] = i; // defect earlier
    __syncthreads();
    y[i] = s[tid % 32];
}
PAIR(race_write_after_write)

CASE(race_syncwarp_for_block) {
    __shared__ int s[64];
    INDEX;
    s[tid] = i; // defect earlier
    if (ok) __syncthreads();
    else __syncwarp();
    y[i] = s[63 - tid]; // defect earlier
}
PAIR(race_syncwarp_for_block)

CASE(race_fence_for_barrier) {
    __shared__ int s[64];
    INDEX;
    s[tid] = i; // defect earlier
    if (ok) __syncthreads();
    else __threadfence_block();
    y[i] = s[63 - tid]; // defect earlier
}
PAIR(race_fence_for_barrier)

CASE(race_barrier_too_early) {
    __shared__ int s[64];
    INDEX;
    if (!ok) __syncthreads();
    s[tid] = i; // defect earlier
    if (ok) __syncthreads();
    y[i] = s[63 - tid]; // defect earlier
}
PAIR(race_barrier_too_early)

CASE(race_tree) {
    __shared__ int s[64];
    INDEX;
    s[tid] = x[i]; // defect earlier
    __syncthreads();
    for (int step = 32; step > 0; step /= 2) {
        if (tid < step) s[tid] += s[tid + step]; // defect earlier
        if (ok) __syncthreads();
    }
    if (tid == 0) y[blockIdx.x] = s[0];
}
PAIR(race_tree)

CASE(race_broadcast) {
    __shared__ int bound;
    INDEX;
    if (tid == 0) bound = x[n - 1]; // defect earlier
    if (ok) __syncthreads();
    y[i] = bound; // defect earlier
}
PAIR(race_broadcast)

CASE(race_double_buffer) {
    __shared__ int s[2][64];
    INDEX;
    int sum = 0;
    s[0][tid] = x[i];
    for (int k = 0; k < 4; k++) {
        __syncthreads();
        s[ok ? (k + 1) % 2 : k % 2][tid] = x[i] + k; // defect earlier
        sum += s[k % 2][63 - tid]; // defect earlier
    }
    y[i] = sum;
}
PAIR(race_double_buffer)

CASE(race_scan) {
    __shared__ int s[64];
    INDEX;
    s[tid] = x[i]; // defect earlier
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        int v = tid >= step ? s[tid - step] : 0; // defect earlier
        if (ok) __syncthreads();
        s[tid] += v; // defect earlier
        __syncthreads();
    }
    y[i] = s[tid];
}
PAIR(race_scan)

CASE(race_histogram) {
    __shared__ int bins[8];
    INDEX;
    if (tid < 8) bins[tid] = 0;
    __syncthreads();
    if (ok) atomicAdd(&bins[x[i] & 7], 1);
    else bins[x[i] & 7]++; // defect earlier
    __syncthreads();
    if (tid < 8) y[i] = bins[tid];
}
PAIR(race_histogram)

CASE(race_bytes) {
    __shared__ unsigned char s[64];
    INDEX;
    s[tid] = static_cast<unsigned char>(i); // defect earlier
    if (ok) __syncthreads();
    y[i] = s[tid ^ 33]; // defect earlier
}
PAIR(race_bytes)

CASE(race_transpose) {
    __shared__ int tile[8][9];
    INDEX;
    tile[tid / 8][tid % 8] = x[i]; // defect earlier
    if (ok) __syncthreads();
    y[i] = tile[tid % 8][tid / 8]; // defect earlier
}
PAIR(race_transpose)

CASE(race_named_barrier) {
    __shared__ int s[64];
    INDEX;
    s[tid] = i; // defect earlier
    if (ok) asm volatile("bar.sync 1, 64;" ::: "memory");
    else asm volatile("bar.sync %0, 32;" ::"r"(1 + tid / 32) : "memory");
    y[i] = s[63 - tid]; // defect earlier
}
PAIR(race_named_barrier)

CASE(race_arrive_too_early) {
    __shared__ int s[32];
    INDEX;
    if (tid < 32) {
        if (!ok) asm volatile("bar.arrive 1, 64;" ::: "memory");
        s[tid] = i; // defect earlier
        if (ok) asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        y[i] = s[tid - 32]; // defect earlier
    }
}
PAIR(race_arrive_too_early)

// Races inside a warp.

CASE(race_lanes_read_after_write) {
    __shared__ int s[64];
    INDEX;
    s[tid] = i; // defect earlier
    if (ok) __syncwarp();
    y[i] = s[tid ^ 1]; // defect earlier
}
PAIR(race_lanes_read_after_write)

CASE(race_lanes_write_after_read) {
    __shared__ int s[64];
    INDEX;
    s[tid] = i;
    __syncthreads();
    int v = s[tid ^ 1]; // defect earlier
    if (ok) __syncwarp();
    s[tid] = v + 1; // defect earlier
    __syncthreads();
    y[i] = s[63 - tid];
}
PAIR(race_lanes_write_after_read)

CASE(race_lanes_write_after_write) {
    __shared__ int s[64];
    INDEX;
    s[ok ? tid : tid / 2] = i; // defect earlier
    __syncthreads();
    y[i] = s[tid / 2];
}
PAIR(race_lanes_write_after_write)

CASE(same_value) {
    __shared__ int found;
    INDEX;
    if (tid == 0) found = 0;
    __syncthreads();
    if (x[i] % 3 == 0) found = ok ? 1 : tid; // defect earlier
    __syncthreads();
    y[i] = found;
}
PAIR(same_value)

// 000 2.7 of the notes.
CASE(race_volatile_last_warp) {
    __shared__ int s[64];
    INDEX;
    s[tid] = x[i];
    __syncthreads();
    if (tid < 32) {
        volatile int* v = s;
        int sum = v[tid];
        for (int step = 32; step > 0; step /= 2) {
            sum += v[tid + step]; // defect earlier
            if (ok) __syncwarp();
            v[tid] = sum; // defect earlier
            if (ok) __syncwarp();
        }
        if (tid == 0) y[blockIdx.x] = sum;
    }
}
PAIR(race_volatile_last_warp)

// 004 of the notes.
CASE(race_two_syncwarps) {
    __shared__ int s[64];
    INDEX;
    s[tid] = x[i];
    __syncthreads();
    if (tid < 32) {
        for (int step = 16; step > 0; step /= 2) {
            int v = ok ? s[tid + step] : 0;
            __syncwarp();
            s[tid] += ok ? v : s[tid + step]; // defect earlier
            __syncwarp();
        }
        if (tid == 0) y[blockIdx.x] = s[0];
    }
}
PAIR(race_two_syncwarps)

CASE(race_half_mask) {
    __shared__ int s[64];
    INDEX;
    s[tid] = i; // defect earlier
    __syncwarp(ok ? 0xffffffffu : tid % 32 < 16 ? 0x0000ffffu : 0xffff0000u);
    y[i] = s[tid ^ 16]; // defect earlier
}
PAIR(race_half_mask)

CASE(shuffle_for_barrier) {
    __shared__ int s[64];
    INDEX;
    s[tid] = i; // defect earlier
    int v = __shfl_xor_sync(0xffffffffu, i, 1);
    if (ok) __syncwarp();
    y[i] = s[tid ^ 1] + v; // defect earlier
}
PAIR(shuffle_for_barrier)

CASE(vote_for_barrier) {
    __shared__ int s[64];
    INDEX;
    s[tid] = i; // defect earlier
    int v = __ballot_sync(0xffffffffu, i & 1);
    if (ok) __syncwarp();
    y[i] = s[tid ^ 1] + v; // defect earlier
}
PAIR(vote_for_barrier)

// Barriers and masks.

CASE(barrier_in_branch) {
    INDEX;
    if (ok || tid < 40) {
        __syncthreads(); // defect
        y[i] = 1;
    }
    __syncthreads(); // defect
    z[i] = 1;
}
PAIR(barrier_in_branch)

// The block copy_if of 000: the loop has a barrier and another length in every
// thread.
CASE(barrier_in_loop) {
    INDEX;
    for (int k = 0; k < (ok ? 4 : 1 + tid / 8); k++) {
        y[i] += k;
        __syncthreads(); // defect
    }
    y[i]++;
    __syncthreads(); // defect
    z[i] = 1;
}
PAIR(barrier_in_loop)

// A return before a barrier is none on a GPU of today, as threads that have
// exited are not waited for; but warps that have exited do not count.
CASE(early_return) {
    __shared__ int s[64];
    INDEX;
    s[tid] = i;
    if (tid >= 32) return;
    if (ok) __syncthreads();
    else asm volatile("bar.sync 0, 64;" ::: "memory"); // defect
    y[i] = s[31 - tid];
}
PAIR(early_return)

CASE(barrier_count_too_large) {
    INDEX;
    y[i] = x[i];
    if (ok) asm volatile("bar.sync 1, 64;" ::: "memory");
    else asm volatile("bar.sync 1, 96;" ::: "memory"); // defect
    z[i] = 1;
}
PAIR(barrier_count_too_large)

CASE(barrier_count_no_warps) {
    INDEX;
    asm volatile("bar.sync 1, %0;" ::"r"(ok ? 64 : 64 + x[1]) : "memory"); // defect
    y[i] = 1;
}
PAIR(barrier_count_no_warps)

CASE(barrier_counts_differ) {
    INDEX;
    asm volatile("bar.sync 1, %0;" ::"r"(ok || tid < 32 ? 64 : 96) : "memory"); // defect
    y[i] = 1;
}
PAIR(barrier_counts_differ)

// 004 of the notes.
CASE(mask_28_bits) {
    INDEX;
    y[i] = x[i];
    __syncwarp(ok ? 0xffffffffu : 0xfffffffu); // defect
    z[i] = 1;
}
PAIR(mask_28_bits)

CASE(shuffle_mask) {
    INDEX;
    y[i] = __shfl_down_sync(ok ? 0xffffffffu : 0xffffu, x[i], 1); // defect
}
PAIR(shuffle_mask)

CASE(vote_mask) {
    INDEX;
    y[i] = __popc(__ballot_sync(ok ? 0xffffffffu : 0xfffffffeu, x[i] & 1)); // defect
}
PAIR(vote_mask)

CASE(shuffle_in_branch) {
    INDEX;
    int v = x[i];
    if (tid % 2) {
        v = __shfl_xor_sync(ok ? 0xaaaaaaaau : 0xffffffffu, v, 2); // defect
    } else {
        __syncwarp(ok ? 0x55555555u : 0xffffffffu); // defect
        v++;
    }
    y[i] = v;
}
PAIR(shuffle_in_branch)

CASE(trapped) {
    INDEX;
    if (!ok && x[i] == 70) __trap(); // defect
    y[i] = x[i];
}
PAIR(trapped)
