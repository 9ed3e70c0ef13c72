// More kernels with one defect each, as in defects.cu, whose rules hold here
// too: mistakes that are easily made in reductions, scans, histograms,
// transposes and tiles. mistakes.sanitizer.json holds what compute-sanitizer says.

#define ARGUMENTS const int* x, int* y, int* z, int n
#define INDEX const int tid = threadIdx.x, lane = tid % 32, i = blockIdx.x * blockDim.x + tid; (void)lane; (void)i
#define CASE(name) template <bool ok> static __device__ __forceinline__ void name(ARGUMENTS)
#define PAIR(name) \
    extern "C" __global__ void bad_##name(ARGUMENTS) { name<false>(x, y, z, n); } \
    extern "C" __global__ void ok_##name(ARGUMENTS) { name<true>(x, y, z, n); }

// Atomics and plain accesses.

CASE(histogram_before_zero) {
    __shared__ int bins[32];
    INDEX;
    if (tid < 32) bins[tid] = 0; // earlier
    if (ok) __syncthreads();
    atomicAdd(&bins[x[i] & 31], 1); // defect
    __syncthreads();
    if (tid < 32) atomicAdd(&y[tid], bins[tid]);
}
PAIR(histogram_before_zero)

CASE(histogram_zeroed_late) {
    __shared__ int bins[64];
    INDEX;
    if (ok) {
        bins[63 - tid] = 0;
        __syncthreads();
    } else {
        bins[63 - tid] = 0; // defect
    }
    atomicAdd(&bins[tid], 1); // earlier
    __syncthreads();
    y[i] = bins[tid];
}
PAIR(histogram_zeroed_late)

CASE(histogram_merged_early) {
    __shared__ int bins[32];
    INDEX;
    if (tid < 32) bins[tid] = 0;
    __syncthreads();
    atomicAdd(&bins[x[i] & 31], 1); // defect
    if (ok) __syncthreads();
    if (tid >= 32) atomicAdd(&y[tid - 32], bins[tid - 32]); // earlier
}
PAIR(histogram_merged_early)

CASE(maximum_behind_fence) {
    __shared__ int top;
    INDEX;
    if (tid == 0) top = 0;
    __syncthreads();
    atomicMax(&top, x[i]); // earlier
    if (ok) __syncthreads();
    else __threadfence_block();
    y[i] = top; // defect
}
PAIR(maximum_behind_fence)

CASE(compaction_counter) {
    __shared__ int count;
    INDEX;
    if (tid == 0) count = 0; // earlier
    if (ok) __syncthreads();
    int at = -1;
    if (x[i] % 3 == 1) at = atomicAdd(&count, 1); // defect
    __syncthreads();
    if (at >= 0) y[blockIdx.x * blockDim.x + at] = x[i];
}
PAIR(compaction_counter)

CASE(lock_before_zero) {
    __shared__ int lock, sum;
    INDEX;
    if (tid == 0) lock = sum = 0; // earlier
    if (ok) __syncthreads();
    for (bool done = false; !done;)
        if (atomicCAS(&lock, 0, 1) == 0) { // defect
            atomicAdd(&sum, x[i]);
            __threadfence_block();
            atomicExch(&lock, 0);
            done = true;
        }
    __syncthreads();
    y[i] = sum;
}
PAIR(lock_before_zero)

// Reductions and scans.

CASE(warp_sums_unset) {
    __shared__ int sums[32];
    INDEX;
    int v = x[i];
    for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(0xffffffffu, v, step);
    if (lane == 0) sums[tid / 32] = v;
    __syncthreads();
    if (tid < 32) {
        v = ok && tid >= blockDim.x / 32 ? 0 : sums[tid]; // defect
        for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(0xffffffffu, v, step);
        if (tid == 0) y[blockIdx.x] = v;
    }
}
PAIR(warp_sums_unset)

CASE(maximum_then_sum) {
    __shared__ int s[64];
    INDEX;
    s[tid] = x[i];
    __syncthreads();
    for (int step = 32; step > 0; step /= 2) {
        if (tid < step) s[tid] = max(s[tid], s[tid + step]);
        __syncthreads();
    }
    int top = s[0]; // earlier
    if (ok) __syncthreads();
    s[tid] = top - x[i]; // defect
    __syncthreads();
    y[i] = s[63 - tid];
}
PAIR(maximum_then_sum)

CASE(stride_one_too_far) {
    INDEX;
    int sum = 0;
    for (int j = i; ok ? j < n : j <= n; j += gridDim.x * blockDim.x) sum += x[j]; // defect
    atomicAdd(y, sum);
}
PAIR(stride_one_too_far)

CASE(sweep_without_if) {
    __shared__ int s[128];
    INDEX;
    s[2 * tid] = s[2 * tid + 1] = x[i];
    int offset = 1;
    for (int d = 64; d > 0; d /= 2, offset *= 2) {
        __syncthreads();
        if (!ok || tid < d) s[offset * (2 * tid + 2) - 1] += s[offset * (2 * tid + 1) - 1]; // defect
    }
    __syncthreads();
    y[i] = s[2 * tid + 1];
}
PAIR(sweep_without_if)

CASE(scan_shuffle_in_if) {
    INDEX;
    int v = x[i];
    for (int step = 1; step < 32; step *= 2) {
        if (ok) {
            int u = __shfl_up_sync(0xffffffffu, v, step);
            if (lane >= step) v += u;
        } else if (lane >= step) {
            v += __shfl_up_sync(0xffffffffu, v, step); // defect
        }
        __syncwarp();
    }
    y[i] = v;
}
PAIR(scan_shuffle_in_if)

CASE(ballot_in_branch) {
    INDEX;
    int at = 0;
    if (ok) at = __popc(__ballot_sync(0xffffffffu, x[i] % 32 > 10));
    else if (x[i] % 32 > 10) at = __popc(__ballot_sync(0xffffffffu, true)); // defect
    __syncwarp();
    y[i] = at;
}
PAIR(ballot_in_branch)

// Tiles.

CASE(return_before_tile) {
    __shared__ int tile[64];
    INDEX;
    if (!ok && i >= n) return;
    tile[tid] = i < n ? x[i] : 0;
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 64; k++) sum += tile[k]; // defect
    if (i < n) y[i] = sum;
}
PAIR(return_before_tile)

CASE(halo_unset) {
    __shared__ int s[66];
    INDEX;
    s[tid + 1] = x[i];
    if (tid == 0) s[0] = 0;
    if (ok && tid == 63) s[65] = 0;
    __syncthreads();
    y[i] = s[tid] + s[tid + 1] + s[tid + 2]; // defect
}
PAIR(halo_unset)

CASE(warp_transpose) {
    __shared__ int tile[2][8][9];
    INDEX;
    int(*t)[9] = tile[tid / 32];
    t[lane / 4][lane % 4] = x[i]; // earlier
    if (ok) __syncwarp();
    y[i] = t[lane % 8][lane / 8]; // defect
}
PAIR(warp_transpose)

CASE(signed_bin) {
    __shared__ int bins[128];
    INDEX;
    bins[tid] = bins[tid + 64] = 0;
    __syncthreads();
    signed char v = (signed char)(4 * x[tid]);
    atomicAdd(&bins[ok ? (unsigned char)v / 2 : (int)v], 1); // defect
    __syncthreads();
    y[i] = bins[tid] + bins[tid + 64];
}
PAIR(signed_bin)

CASE(doubles_behind_ints) {
    __shared__ __align__(8) char raw[1024];
    INDEX;
    double* d = reinterpret_cast<double*>(raw + 4 * (ok ? 64 : 63));
    d[tid] = x[i]; // defect
    __syncthreads();
    y[i] = (int)d[63 - tid];
}
PAIR(doubles_behind_ints)

CASE(nobody_arrives) {
    __shared__ int s[32];
    INDEX;
    if (tid < 32) {
        s[tid] = x[i];
        if (ok) asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory"); // defect
        y[i] = s[tid - 32];
    }
}
PAIR(nobody_arrives)
