// Kernels with one mistake of a learner each, as in defects.cu, whose rules hold
// here too: shuffles that read from threads which are not there, barriers that
// part of a block skips, and indices that were made for another shape.

#define ARGUMENTS const int* x, int* y, int* z, int n
#define INDEX const int tid = threadIdx.x, lane = tid % 32, i = blockIdx.x * blockDim.x + tid; (void)lane; (void)i
#define CASE(name) template <bool ok> static __device__ __forceinline__ void name(ARGUMENTS)
#define PAIR(name) \
    extern "C" __global__ void bad_##name(ARGUMENTS) { name<false>(x, y, z, n); } \
    extern "C" __global__ void ok_##name(ARGUMENTS) { name<true>(x, y, z, n); }

#define FULL 0xffffffffu

// Shuffles that read from threads that are not there.

CASE(sum_after_return) {
    INDEX;
    if (i >= 108) { if (!ok) return; }
    int v = ok && i >= 108 ? 0 : x[i];
    for (int step = 16; step > 0; step /= 2)
        v += __shfl_down_sync(ok ? FULL : __activemask(), v, step); // defect
    if (lane == 0) y[i / 32] = v;
}
PAIR(sum_after_return)

CASE(sum_full_mask_after_return) {
    INDEX;
    int v = 0;
    if (i >= 100) { if (!ok) return; } else v = x[i];
    for (int step = 1; step < 32; step *= 2)
        v += __shfl_down_sync(FULL, v, step); // defect
    if (lane == 0) y[i / 32] = v;
}
PAIR(sum_full_mask_after_return)

CASE(odd_lanes_shuffle) {
    INDEX;
    int v = x[i];
    if (ok) {
        int left = __shfl_up_sync(FULL, v, 1);
        if (tid & 1) v += left;
        y[i] = v;
    } else if (tid & 1) {
        v += __shfl_up_sync(FULL, v, 1); // defect
        y[i] = v;
    }
}
PAIR(odd_lanes_shuffle)

CASE(neighbour_in_if) {
    INDEX;
    int v = x[i];
    if (ok) {
        int right = __shfl_down_sync(FULL, v, 1);
        if (lane < 16) y[i] = right - v;
    } else if (lane < 16) {
        y[i] = __shfl_down_sync(__activemask(), v, 1) - v; // defect
    }
}
PAIR(neighbour_in_if)

CASE(broadcast_from_exited) {
    INDEX;
    if (lane == 0 && !ok) return;
    y[i] = __shfl_sync(FULL, x[i], 0); // defect
}
PAIR(broadcast_from_exited)

CASE(broadcast_wrong_leader) {
    INDEX;
    unsigned mask = __ballot_sync(FULL, x[i] % 3 == 1);
    if (x[i] % 3 == 1) {
        int leader = ok ? __ffs(mask) - 1 : 0;
        y[i] = __shfl_sync(mask, x[i], leader); // defect
    }
}
PAIR(broadcast_wrong_leader)

CASE(maximum_of_half) {
    INDEX;
    int v = x[i];
    if (ok || lane < 24)
        for (int step = 16; step > 0; step /= 2) {
            int other = __shfl_xor_sync(ok ? FULL : 0x00ffffffu, v, step); // defect
            v = max(v, other);
        }
    if (ok || lane < 24) y[i] = v;
}
PAIR(maximum_of_half)

CASE(scan_of_rest) {
    INDEX;
    if (i >= 90 && !ok) return;
    int v = i < 90 ? x[i] : 0;
    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_sync(FULL, v, (lane + step) & 31); // defect
        v += other;
    }
    y[i] = v;
}
PAIR(scan_of_rest)

CASE(vote_by_shuffle) {
    __shared__ int any;
    INDEX;
    if (tid == 0) any = 0;
    __syncthreads();
    if (ok || x[i] % 2 == 0) {
        int other = __shfl_xor_sync(ok ? FULL : __activemask(), x[i], 1); // defect
        if (other > 90) atomicExch(&any, 1);
    }
    __syncthreads();
    y[i] = any;
}
PAIR(vote_by_shuffle)

CASE(index_by_shuffle) {
    INDEX;
    if (!ok && lane >= 30) return;
    int next = __shfl_down_sync(FULL, i, 2); // defect
    if (ok && lane >= 30) next = i;
    y[i] = x[next & 127];
}
PAIR(index_by_shuffle)

// Barriers that part of a block skips.

CASE(even_threads_meet) {
    INDEX;
    y[i] = x[i];
    if (ok || tid % 2 == 0) __syncthreads(); // defect
}
PAIR(even_threads_meet)

CASE(return_of_zeros) {
    __shared__ int s[64];
    INDEX;
    s[tid] = x[i];
    if (!ok && x[i] % 5 == 2) return;
    __syncthreads(); // defect
    if (x[i] % 5 != 2) y[i] = s[63 - tid];
}
PAIR(return_of_zeros)

CASE(found_and_gone) {
    INDEX;
    for (int k = 0; k < 4; k++) {
        if (!ok && x[i] % 4 == k) return;
        __syncthreads(); // defect
    }
    y[i] = 1;
}
PAIR(found_and_gone)

CASE(first_lane_skips) {
    __shared__ int s[64];
    INDEX;
    s[tid] = x[i];
    if (ok || lane != 0) {
        __syncthreads(); // defect
        y[i] = s[tid ^ 1];
    }
}
PAIR(first_lane_skips)

CASE(barrier_in_switch) {
    INDEX;
    switch (x[i] % 3) {
    case 0: y[i] = 1; break;
    case 1: if (!ok) __syncthreads(); y[i] = 2; break; // defect
    default: y[i] = 3;
    }
    if (ok) __syncthreads();
}
PAIR(barrier_in_switch)

CASE(loop_of_own_length) {
    INDEX;
    int sum = 0;
    for (int k = 0; k < (ok ? 8 : 4 + tid % 3); k++) {
        sum += x[(i + k) & 127];
        __syncthreads(); // defect
    }
    y[i] = sum;
}
PAIR(loop_of_own_length)

// Indices and sizes.

CASE(grid_without_block) {
    INDEX;
    int at = ok ? i : (blockIdx.x + 1) * 64 + tid;
    y[at] = x[i]; // defect
}
PAIR(grid_without_block)

CASE(bytes_as_elements) {
    INDEX;
    if (tid < 16) y[ok ? i : tid * (int)sizeof(int) + 96] = x[i]; // defect
}
PAIR(bytes_as_elements)

CASE(one_based) {
    INDEX;
    y[ok ? i : i + 1] = x[i]; // defect
}
PAIR(one_based)

CASE(reversed_by_n) {
    INDEX;
    y[ok ? n - 1 - i : n - i] = x[i]; // defect
}
PAIR(reversed_by_n)

CASE(columns_for_rows) {
    __shared__ int t[4][16];
    INDEX;
    int row = ok ? tid / 16 : tid % 16, column = ok ? tid % 16 : tid / 16;
    t[row][column] = x[i]; // defect
    __syncthreads();
    y[i] = t[tid / 16][tid % 16];
}
PAIR(columns_for_rows)

CASE(countdown_past_zero) {
    INDEX;
    int sum = 0;
    for (int k = 3; ok ? k >= 0 : k >= -1; k--) sum += x[k]; // defect
    y[i] = sum;
}
PAIR(countdown_past_zero)

CASE(output_never_zeroed) {
    INDEX;
    if (ok) z[i] = 0;
    z[i] += x[i]; // defect
}
PAIR(output_never_zeroed)

CASE(sum_without_start) {
    INDEX;
    int part[4];
    for (int k = ok ? 0 : 1; k < 4; k++) part[k] = x[(i + k) & 127];
    int sum = 0;
    #pragma unroll 1
    for (int k = 0; k < 4; k++) sum += part[(k + n) & 3]; // defect
    y[i] = sum;
}
PAIR(sum_without_start)

// Shared memory without a barrier.

CASE(tile_read_early) {
    __shared__ int s[64];
    INDEX;
    s[tid] = x[i]; // defect earlier
    if (ok) __syncthreads();
    y[i] = s[(tid + 32) % 64]; // defect earlier
}
PAIR(tile_read_early)

CASE(tile_refilled) {
    __shared__ int s[64];
    INDEX;
    int sum = 0;
    for (int k = 0; k < 2; k++) {
        s[tid] = x[(i + k) & 127]; // defect earlier
        __syncthreads();
        sum += s[63 - tid]; // defect earlier
        if (ok) __syncthreads();
    }
    y[i] = sum;
}
PAIR(tile_refilled)

CASE(tree_without_barrier) {
    __shared__ int s[64];
    INDEX;
    s[tid] = x[i];
    __syncthreads();
    for (int step = 32; step > 0; step /= 2) {
        if (tid < step) s[tid] += s[tid + step]; // defect earlier
        if (ok) __syncthreads();
    }
    if (tid == 0) y[blockIdx.x] = s[0];
}
PAIR(tree_without_barrier)

CASE(last_warp_of_old) {
    __shared__ int s[64];
    INDEX;
    s[tid] = x[i];
    __syncthreads();
    if (tid < 32) {
        s[tid] += s[tid + 32]; // defect earlier
        if (ok) __syncwarp();
        #pragma unroll
        for (int step = 16; step > 0; step /= 2) {
            if (tid < step) s[tid] += s[tid + step]; // defect earlier
            if (ok) __syncwarp();
        }
    }
    if (tid == 0) y[blockIdx.x] = s[0];
}
PAIR(last_warp_of_old)

CASE(flag_by_one) {
    __shared__ int flag;
    INDEX;
    if (tid == 0) flag = x[i] + 7; // defect earlier
    if (ok) __syncthreads();
    y[i] = flag; // defect earlier
}
PAIR(flag_by_one)

CASE(total_by_plain_add) {
    __shared__ int total;
    INDEX;
    if (tid == 0) total = 0;
    __syncthreads();
    if (ok) atomicAdd(&total, x[i]);
    else total += x[i]; // defect earlier
    __syncthreads();
    y[i] = total;
}
PAIR(total_by_plain_add)

// Blocks that race on global memory; the search for races between blocks is on.

CASE(blocks_stencil_in_place) {
    INDEX;
    int* v = y;
    if (ok) {
        y[i] = x[i] + (i > 0 ? x[i - 1] : 0);
    } else {
        int left = i > 0 ? v[i - 1] : 0; // defect earlier
        __syncthreads();
        v[i] = left + x[i] + 1; // defect earlier
    }
}
PAIR(blocks_stencil_in_place)

CASE(blocks_sum_by_plain_add) {
    INDEX;
    if (tid == 0) {
        if (ok) atomicAdd(&y[0], blockIdx.x + 1);
        else y[0] += blockIdx.x + 1; // defect earlier
    }
}
PAIR(blocks_sum_by_plain_add)

CASE(blocks_zero_then_add) {
    INDEX;
    if (!ok && i == 0) y[5] = 7; // defect earlier
    atomicAdd(&y[5], 1); // defect earlier
}
PAIR(blocks_zero_then_add)

CASE(blocks_read_neighbours_result) {
    INDEX;
    y[i] = x[i] * 2 + 1; // defect earlier
    __syncthreads();
    z[i] = y[ok ? blockIdx.x * 64 + 63 - tid : n - 1 - i]; // defect earlier
}
PAIR(blocks_read_neighbours_result)

CASE(blocks_last_without_fence) {
    __shared__ bool last;
    INDEX;
    y[i] = x[i] + 3; // defect earlier
    if (ok) __threadfence();
    __syncthreads();
    if (tid == 0) last = atomicAdd(&z[0], 1) == 1;
    __syncthreads();
    if (last) {
        if (ok) __threadfence();
        int sum = 0;
        for (int k = 0; k < n; k++) sum += y[k]; // defect earlier
        z[1 + tid] = sum;
    }
}
PAIR(blocks_last_without_fence)

CASE(blocks_last_fence_of_block) {
    __shared__ bool last;
    INDEX;
    y[i] = x[i] + 3; // defect earlier
    if (ok) __threadfence();
    else __threadfence_block();
    __syncthreads();
    if (tid == 0) last = atomicAdd(&z[0], 1) == 1;
    __syncthreads();
    if (last) {
        if (ok) __threadfence();
        z[1 + tid] = y[n - 1 - tid] + y[tid]; // defect earlier
    }
}
PAIR(blocks_last_fence_of_block)

CASE(blocks_overlap) {
    INDEX;
    int at = ok ? i : blockIdx.x * 60 + tid;
    y[at] = x[i] + 1; // defect earlier
}
PAIR(blocks_overlap)

CASE(blocks_flag_without_fence) {
    INDEX;
    volatile int* flag = z;
    if (blockIdx.x == 0) {
        if (tid == 0) {
            y[0] = 42; // defect earlier
            if (ok) __threadfence();
            atomicExch(&z[0], 1);
        }
    } else if (tid == 0) {
        while (*flag == 0) {}
        if (ok) __threadfence();
        y[1] = y[0] + 1; // defect earlier
    }
}
PAIR(blocks_flag_without_fence)

CASE(blocks_transposed_in_place) {
    INDEX;
    int row = i / 8, column = i % 8;
    int v = y[(column * 8 + row) & 127] + 1; // defect earlier
    __syncthreads();
    if (ok) z[i] = v;
    else y[127 - i] = v + i; // defect earlier
}
PAIR(blocks_transposed_in_place)

CASE(blocks_maximum) {
    INDEX;
    if (ok) atomicMax(&y[0], x[i]);
    else if (tid == 0 && x[i] >= y[0]) y[0] = x[i] + 1; // defect earlier
}
PAIR(blocks_maximum)

// More of the same, as they are met in scans, sorts, matrices and histograms.

CASE(prefix_in_place) {
    __shared__ int s[64];
    INDEX;
    s[tid] = x[i];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        int v = tid >= step ? s[tid - step] : 0; // defect earlier
        if (ok) __syncthreads();
        s[tid] += v; // defect earlier
        __syncthreads();
    }
    y[i] = s[tid];
}
PAIR(prefix_in_place)

CASE(swap_of_pairs) {
    __shared__ int s[64];
    INDEX;
    s[tid] = x[i]; // defect earlier
    __syncthreads();
    for (int phase = 0; phase < 4; phase++) {
        int a = tid * 2 + phase % 2;
        if (tid < 32 && a + 1 < 64 && s[a] < s[a + 1]) { // defect earlier
            int t = s[a]; // defect earlier
            s[a] = s[a + 1], s[a + 1] = t; // defect earlier
        }
        if (ok) __syncthreads();
    }
    __syncthreads();
    y[i] = s[tid];
}
PAIR(swap_of_pairs)

CASE(row_of_next) {
    INDEX;
    const int width = 16, height = 8;
    int row = i / width, column = i % width;
    int below = ok ? (row + 1 < height ? x[(row + 1) * width + column] : 0) : x[(row + 1) * width + column]; // defect
    y[i] = below;
}
PAIR(row_of_next)

CASE(left_of_first) {
    INDEX;
    y[i] = x[i] - (ok && i == 0 ? 0 : x[i - 1]); // defect
}
PAIR(left_of_first)

CASE(pitch_as_width) {
    INDEX;
    const int pitch = 12, width = 10, rows = 10;
    if (i < rows * width) {
        int row = i / width, column = i % width;
        y[ok ? row * pitch + column : row * pitch + column * 3] = x[i]; // defect
    }
}
PAIR(pitch_as_width)

CASE(matrix_of_other_order) {
    INDEX;
    const int m = 4, k = 32;
    int row = i / k, column = i % k;
    y[i] = x[ok ? row * k + column : column * k + row * m]; // defect
}
PAIR(matrix_of_other_order)

CASE(histogram_of_more_bins) {
    __shared__ int bins[32];
    INDEX;
    if (tid < 32) bins[tid] = 0;
    __syncthreads();
    atomicAdd(&bins[x[i] % (ok ? 32 : 33)], 1); // defect
    __syncthreads();
    if (tid < 32) atomicAdd(&y[tid], bins[tid]);
}
PAIR(histogram_of_more_bins)

CASE(private_bins_unset) {
    INDEX;
    int bins[4];
    if (ok) bins[0] = bins[1] = bins[2] = bins[3] = 0;
    #pragma unroll 1
    for (int k = 0; k < 4; k++) bins[x[(i + k) & 127] & 3]++; // defect
    y[i] = bins[n & 3];
}
PAIR(private_bins_unset)

CASE(halo_of_one_side) {
    __shared__ int s[66];
    INDEX;
    s[tid + 1] = x[i];
    if (tid == 0) s[0] = 0;
    if (ok && tid == 63) s[65] = 0;
    __syncthreads();
    y[i] = s[tid] + s[tid + 1] + s[tid + 2]; // defect
}
PAIR(halo_of_one_side)

CASE(halo_one_too_small) {
    __shared__ int s[65];
    INDEX;
    s[tid] = x[i];
    if (tid == 0) s[64] = 0;
    __syncthreads();
    y[i] = s[tid] + (ok ? s[tid + 1] : s[tid + 2]); // defect
}
PAIR(halo_one_too_small)

CASE(vector_of_odd) {
    INDEX;
    int2 v = *(const int2*)&x[ok ? i & ~1 : i]; // defect
    y[i] = v.x + v.y;
}
PAIR(vector_of_odd)

CASE(vector_past_end) {
    INDEX;
    if (i * 4 < (ok ? n : n + 4)) {
        int4 v = ((const int4*)x)[i]; // defect
        y[i] = v.x + v.w;
    }
}
PAIR(vector_past_end)

CASE(double_in_words) {
    INDEX;
    double* d = (double*)y;
    if (i < (ok ? n / 2 : n)) d[i] = 1.0; // defect
}
PAIR(double_in_words)

CASE(shared_words_as_doubles) {
    __shared__ int s[64];
    INDEX;
    double* d = (double*)s;
    if (tid < (ok ? 32 : 64)) d[tid] = x[i]; // defect
    __syncthreads();
    y[i] = (int)d[tid / 2];
}
PAIR(shared_words_as_doubles)

CASE(grid_stride_of_block) {
    INDEX;
    for (int k = i; k < (ok ? n : n + 1); k += blockDim.x * gridDim.x) y[k] = x[k]; // defect
}
PAIR(grid_stride_of_block)

CASE(index_from_data) {
    INDEX;
    int at = x[i] * (ok ? 1 : 2);
    y[at] = i; // defect
}
PAIR(index_from_data)

CASE(negative_shift) {
    INDEX;
    int at = ok ? (i + 125) & 127 : i - 3;
    y[i] = x[at]; // defect
}
PAIR(negative_shift)

CASE(queue_without_bound) {
    __shared__ int queue[32], count;
    INDEX;
    if (tid == 0) count = 0;
    __syncthreads();
    if (x[i] % 4 < (ok ? 1 : 3)) {
        int at = atomicAdd(&count, 1);
        queue[at] = x[i]; // defect
    }
    __syncthreads();
    if (tid < 16) y[i] = tid < count ? queue[tid] : 0;
}
PAIR(queue_without_bound)

CASE(producer_and_consumer) {
    __shared__ int s[32];
    INDEX;
    if (tid < 32) s[tid] = x[i] + 1; // defect earlier
    if (ok) __syncthreads();
    if (tid >= 32) y[i] = s[tid - 32]; // defect earlier
}
PAIR(producer_and_consumer)

CASE(two_buffers_one_barrier) {
    __shared__ int s[2][64];
    INDEX;
    int sum = 0;
    for (int k = 0; k < 4; k++) {
        int b = ok ? k % 2 : 0;
        s[b][tid] = x[(i + k) & 127] + k; // defect earlier
        __syncthreads();
        sum += s[b][63 - tid]; // defect earlier
    }
    y[i] = sum;
}
PAIR(two_buffers_one_barrier)

CASE(warp_is_not_a_block) {
    __shared__ int s[64];
    INDEX;
    s[tid] = x[i]; // defect earlier
    if (ok) __syncthreads();
    else __syncwarp();
    y[i] = s[63 - tid]; // defect earlier
}
PAIR(warp_is_not_a_block)

CASE(first_thread_decides) {
    __shared__ int limit;
    INDEX;
    if (tid == 63) limit = x[i] / 2 + 3; // defect earlier
    if (ok) __syncthreads();
    if (tid < 32) y[i] = limit; // defect earlier
}
PAIR(first_thread_decides)

CASE(reused_without_barrier) {
    __shared__ int s[64];
    INDEX;
    s[tid] = x[i];
    __syncthreads();
    int sum = s[63 - tid]; // defect earlier
    if (ok) __syncthreads();
    s[tid] = sum + 1; // defect earlier
    __syncthreads();
    y[i] = s[(tid + 1) % 64];
}
PAIR(reused_without_barrier)

CASE(ballot_of_half) {
    INDEX;
    unsigned votes = 0;
    if (ok || lane < 16) votes = __ballot_sync(ok ? FULL : 0x0000ff00u, x[i] & 1); // defect
    y[i] = votes;
}
PAIR(ballot_of_half)

CASE(mask_without_self) {
    INDEX;
    int v = __shfl_sync(ok ? FULL : FULL & ~(1u << 5), x[i], 0); // defect
    y[i] = v;
}
PAIR(mask_without_self)
