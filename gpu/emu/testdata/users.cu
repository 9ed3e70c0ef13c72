// More kernels with one mistake each, as in defects.cu, whose rules hold here
// too: pointers that land in another buffer, divisions by zero, writes of
// constant memory, and what goes wrong when operators are written for the first
// time.

#define ARGUMENTS const int* x, int* y, int* z, int n
#define INDEX const int tid = threadIdx.x, lane = tid % 32, i = blockIdx.x * blockDim.x + tid; (void)lane; (void)i
#define CASE(name) template <bool ok> static __device__ __forceinline__ void name(ARGUMENTS)
#define PAIR(name) \
    extern "C" __global__ void bad_##name(ARGUMENTS) { name<false>(x, y, z, n); } \
    extern "C" __global__ void ok_##name(ARGUMENTS) { name<true>(x, y, z, n); }

#define FULL 0xffffffffu

// Pointers that leave their buffer and land in another one.

CASE(packed_key_as_index) {
    INDEX;
    long long key = (long long)(i / 8) << 32 | (i % 8);
    y[i] = x[ok ? (key >> 32) * 8 + (key & 7) : key]; // defect
}
PAIR(packed_key_as_index)

CASE(row_below_zero_unsigned) {
    INDEX;
    struct Row { int v[8]; };
    const Row* rows = (const Row*)x;
    unsigned row = i / 8;
    y[i] = ok && row == 0 ? 0 : rows[row - 1].v[i % 8]; // defect
}
PAIR(row_below_zero_unsigned)

CASE(stride_in_wrong_unit) {
    INDEX;
    long long stride = ok ? 1 : 1ll << 34;
    int* out = y;
    for (int k = 0; k < 2; k++, out += stride) out[i / 2] = ok ? 7 : k; // defect
}
PAIR(stride_in_wrong_unit)

CASE(address_arithmetic_by_hand) {
    INDEX;
    unsigned long long at = (unsigned long long)x;
    at += (unsigned long long)i * (ok ? 4 : 4ull << 34);
    y[i] = *(const int*)at; // defect
}
PAIR(address_arithmetic_by_hand)

CASE(hash_not_reduced) {
    INDEX;
    unsigned long long h = (unsigned long long)(x[i] + 1) * 0x9e3779b97f4a7c15ull;
    int* slot = y + (ok ? h % 128 : h >> 28); // defect
    atomicAdd(slot, 1); // defect
}
PAIR(hash_not_reduced)

CASE(linked_list_of_indices) {
    INDEX;
    long long next = i;
    int sum = 0;
    for (int k = 0; k < 3; k++) {
        sum += x[next]; // defect
        next = ok ? (next + 1) % n : next * (1ll << 34) + (1ll << 35);
    }
    y[i] = sum;
}
PAIR(linked_list_of_indices)

// Integer divisions by zero.

CASE(mean_of_nothing) {
    INDEX;
    int count = x[i] % 3;
    y[i] = ok && count == 0 ? 0 : n / count; // defect
}
PAIR(mean_of_nothing)

CASE(width_of_bins) {
    INDEX;
    int width = ok ? max(n / 256, 1) : n / 256;
    y[x[i] / width % 128] = 1; // defect
}
PAIR(width_of_bins)

CASE(rows_of_empty_matrix) {
    INDEX;
    unsigned columns = x[0];
    if (ok && columns == 0) return;
    y[(i / columns * 4 + i % columns) & 127] = i; // defect
}
PAIR(rows_of_empty_matrix)

CASE(ratio_of_totals) {
    __shared__ int total;
    INDEX;
    if (tid == 0) total = 0;
    __syncthreads();
    if (x[i] > 1000) atomicAdd(&total, 1);
    __syncthreads();
    if (ok && total == 0) y[i] = 0;
    else y[i] = 100 * x[i] / total; // defect
}
PAIR(ratio_of_totals)

CASE(long_modulus) {
    INDEX;
    long long period = ok ? x[i] + 1 : x[i];
    y[i] = (int)(((long long)i << 33) % (period << 33)); // defect
}
PAIR(long_modulus)

CASE(threads_per_row) {
    INDEX;
    int per = blockDim.x / (ok ? n : 4 * n);
    if (ok) per = 1;
    y[i] = tid / per; // defect
}
PAIR(threads_per_row)

CASE(short_divisor) {
    INDEX;
    short d = (short)(ok ? x[i] * 2 + 1 : x[i] << 16);
    y[i] = (short)i / d; // defect
}
PAIR(short_divisor)

// Writes of constant memory.

__constant__ int factors[64];
__constant__ int mutable_factor;

CASE(constant_as_output) {
    INDEX;
    int* f = const_cast<int*>(factors);
    if (!ok && tid < 32) f[tid] = x[i]; // defect
    y[i] = factors[tid];
}
PAIR(constant_as_output)

CASE(constant_counter) {
    INDEX;
    int* counter = const_cast<int*>(&mutable_factor);
    if (ok) atomicAdd(z, 0);
    else atomicAdd(counter, 1); // defect
    y[i] = mutable_factor;
}
PAIR(constant_counter)

CASE(constant_chosen) {
    INDEX;
    int* to = n > 100 && !ok ? const_cast<int*>(factors) : y;
    to[tid] = x[i]; // defect
}
PAIR(constant_chosen)

CASE(constant_scaled_in_place) {
    INDEX;
    int* f = const_cast<int*>(factors);
    for (int k = 0; k < 2; k++) {
        int* to = ok || x[k] == 7 ? y : f;
        to[tid] = 2 * factors[tid]; // defect
    }
}
PAIR(constant_scaled_in_place)

// Matrix products and tiles.

CASE(product_tile_one_barrier) {
    __shared__ int a[8][8], b[8][8];
    INDEX;
    int row = tid / 8, column = tid % 8, sum = 0;
    for (int k = 0; k < 2; k++) {
        a[row][column] = x[row * 16 + k * 8 + column]; // defect earlier
        b[row][column] = x[(k * 8 + row) * 8 + column]; // defect earlier
        __syncthreads();
        for (int j = 0; j < 8; j++) sum += a[row][j] * b[j][column]; // defect earlier
        if (ok) __syncthreads();
    }
    y[i] = sum;
}
PAIR(product_tile_one_barrier)

CASE(product_edge_not_filled) {
    __shared__ int a[8][8];
    INDEX;
    int row = tid / 8, column = tid % 8, sum = 0;
    if (column < 6) a[row][column] = x[row * 6 + column];
    else if (ok) a[row][column] = 0;
    __syncthreads();
    for (int j = 0; j < 8; j++) sum += a[row][j]; // defect
    y[i] = sum;
}
PAIR(product_edge_not_filled)

CASE(product_k_from_other) {
    INDEX;
    const int m = 16, k = 8;
    int row = i / 8, column = i % 8, sum = 0;
    for (int j = 0; j < (ok ? k : m); j++) sum += x[row * k + j] * x[j * 8 + column]; // defect
    y[i] = sum;
}
PAIR(product_k_from_other)

CASE(transpose_without_swap) {
    __shared__ int t[8][9];
    INDEX;
    int row = tid / 8, column = tid % 8;
    t[row][column] = x[i]; // earlier
    if (ok) __syncthreads();
    y[i] = t[column][row]; // defect
}
PAIR(transpose_without_swap)

CASE(transpose_of_rectangle) {
    INDEX;
    const int rows = 8, columns = 16;
    int row = i / columns, column = i % columns;
    y[ok ? column * rows + row : column * columns + row] = x[i]; // defect
}
PAIR(transpose_of_rectangle)

CASE(padded_index_unpadded_size) {
    __shared__ int t[64];
    INDEX;
    int row = tid / 8, column = tid % 8;
    t[ok ? tid : row * 9 + column] = x[i]; // defect
    __syncthreads();
    y[i] = t[63 - tid];
}
PAIR(padded_index_unpadded_size)

CASE(tile_of_two_blocks) {
    __shared__ int t[64];
    INDEX;
    t[ok ? tid : i] = x[i]; // defect
    __syncthreads();
    y[i] = t[tid ^ 1];
}
PAIR(tile_of_two_blocks)

// Sums, maxima and norms.

CASE(softmax_maximum_reused) {
    __shared__ int s[64];
    INDEX;
    s[tid] = x[i];
    __syncthreads();
    for (int step = 32; step > 0; step /= 2) {
        if (tid < step) s[tid] = max(s[tid], s[tid + step]);
        __syncthreads();
    }
    int top = s[0]; // defect earlier
    if (ok) __syncthreads();
    s[tid] = x[i] - top; // defect earlier
    __syncthreads();
    for (int step = 32; step > 0; step /= 2) {
        if (tid < step) s[tid] += s[tid + step];
        __syncthreads();
    }
    y[i] = s[0];
}
PAIR(softmax_maximum_reused)

CASE(mean_read_by_all_early) {
    __shared__ int mean;
    INDEX;
    int v = x[i];
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(FULL, v, step);
    if (tid == 0) mean = v / 32 + 1; // defect earlier
    if (ok) __syncthreads();
    y[i] = x[i] - mean; // defect earlier
}
PAIR(mean_read_by_all_early)

CASE(variance_over_mean) {
    __shared__ int total;
    INDEX;
    if (tid == 0) total = 1;
    __syncthreads();
    atomicAdd(&total, x[i]); // defect earlier
    __syncthreads();
    int mean = total / 64; // defect earlier
    if (ok) __syncthreads();
    if (tid == 0) total = 2; // defect earlier
    __syncthreads();
    atomicAdd(&total, (x[i] - mean) * (x[i] - mean));
    __syncthreads();
    y[i] = total;
}
PAIR(variance_over_mean)

CASE(tree_of_odd_length) {
    __shared__ int s[50];
    INDEX;
    if (tid < 50) s[tid] = x[i];
    __syncthreads();
    for (int step = 32; step > 0; step /= 2) {
        if (tid < step && (!ok || tid + step < 50)) s[tid] += s[tid + step]; // defect
        __syncthreads();
    }
    if (tid == 0) y[blockIdx.x] = s[0];
}
PAIR(tree_of_odd_length)

CASE(sum_of_warps_by_first_warp) {
    __shared__ int sums[2];
    INDEX;
    int v = x[i];
    for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(FULL, v, step);
    if (lane == 0) sums[tid / 32] = v; // defect earlier
    if (ok) __syncthreads();
    if (tid == 0) y[blockIdx.x] = sums[0] + sums[1]; // defect earlier
}
PAIR(sum_of_warps_by_first_warp)

CASE(sums_by_thread_number) {
    __shared__ int sums[2];
    INDEX;
    int v = x[i];
    for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(FULL, v, step);
    if (lane == 0) sums[ok ? tid / 32 : tid] = v; // defect
    __syncthreads();
    if (tid == 0) y[blockIdx.x] = sums[0] + sums[1];
}
PAIR(sums_by_thread_number)

CASE(block_sum_in_global) {
    INDEX;
    int v = x[i];
    for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(FULL, v, step);
    if (lane == 0 && tid == 0) {
        if (ok) atomicAdd(&y[7], v + 1);
        else y[7] = y[7] + v + 1; // defect earlier
    }
}
PAIR(block_sum_in_global)

CASE(partial_sums_unwritten) {
    INDEX;
    if (tid == 0 && (ok || blockIdx.x == 0)) z[blockIdx.x] = x[i];
    __syncthreads();
    if (tid == 0) y[blockIdx.x] = z[blockIdx.x]; // defect
}
PAIR(partial_sums_unwritten)

// Scans, compactions and sorts.

CASE(exclusive_from_minus_one) {
    __shared__ int s[64];
    INDEX;
    s[tid] = x[i];
    __syncthreads();
    y[i] = ok && tid == 0 ? 0 : s[tid - 1]; // defect
}
PAIR(exclusive_from_minus_one)

CASE(double_buffer_swapped_late) {
    __shared__ int s[2][64];
    INDEX;
    int from = 0;
    s[0][tid] = x[i];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        int to = ok ? 1 - from : from;
        int v = s[from][tid]; // defect earlier
        if (tid >= step) v += s[from][tid - step]; // defect earlier
        s[to][tid] = v; // defect earlier
        from = to;
        __syncthreads();
    }
    y[i] = s[from][tid];
}
PAIR(double_buffer_swapped_late)

CASE(offsets_before_total) {
    __shared__ int offset;
    INDEX;
    unsigned keep = __ballot_sync(FULL, x[i] % 2);
    if (tid == 0) offset = 0;
    __syncthreads();
    if (tid == 32) offset = __popc(keep); // defect earlier
    if (ok) __syncthreads();
    if (x[i] % 2) atomicMax(&y[blockIdx.x * 64 + (offset + __popc(keep & ((1u << lane) - 1))) % 64], x[i]); // defect earlier
}
PAIR(offsets_before_total)

CASE(compaction_inclusive) {
    __shared__ int kept[32];
    INDEX;
    unsigned keep = __ballot_sync(FULL, true);
    int at = __popc(keep & (ok ? (1u << lane) - 1 : 2u * (1u << lane) - 1));
    if (tid < 32) kept[at] = x[i]; // defect
    __syncthreads();
    if (tid < 16) y[i] = kept[tid + 1];
}
PAIR(compaction_inclusive)

CASE(bitonic_partner_outside) {
    __shared__ int s[64];
    INDEX;
    s[tid] = x[i];
    __syncthreads();
    int partner = ok ? tid ^ 32 : tid + 32;
    int other = s[partner]; // defect
    __syncthreads();
    s[tid] = max(s[tid], other);
    y[i] = s[tid];
}
PAIR(bitonic_partner_outside)

CASE(bitonic_without_barrier) {
    __shared__ int s[64];
    INDEX;
    s[tid] = x[127 - i];
    __syncthreads();
    for (int j = 32; j > 0; j /= 2) {
        int other = tid ^ j;
        if (other > tid && s[tid] > s[other]) { // defect earlier
            int t = s[tid]; // defect earlier
            s[tid] = s[other]; // defect earlier
            s[other] = t; // defect earlier
        }
        if (ok) __syncthreads();
    }
    if (!ok) __syncthreads();
    y[i] = s[tid];
}
PAIR(bitonic_without_barrier)

CASE(radix_count_of_byte) {
    __shared__ int count[16];
    INDEX;
    if (tid < 16) count[tid] = 0;
    __syncthreads();
    atomicAdd(&count[ok ? x[i] & 15 : x[i] & 255], 1); // defect
    __syncthreads();
    if (tid < 16) atomicAdd(&y[tid], count[tid]);
}
PAIR(radix_count_of_byte)

CASE(queue_of_next_level) {
    __shared__ int queue[64], size;
    INDEX;
    if (tid == 0) size = 0;
    __syncthreads();
    if (x[i] % 2 == 0) queue[atomicAdd(&size, 1)] = x[i]; // defect earlier
    if (ok) __syncthreads();
    if (tid < size) y[i] = queue[tid]; // defect earlier
}
PAIR(queue_of_next_level)

// Stencils and images.

CASE(halo_by_wrong_thread) {
    __shared__ int s[66];
    INDEX;
    s[tid + 1] = x[i];
    if (tid == 0) s[0] = i > 0 ? x[i - 1] : 0;
    if (tid == (ok ? 63 : 64)) s[65] = i + 1 < n ? x[i + 1] : 0;
    __syncthreads();
    y[i] = s[tid] + s[tid + 2]; // defect
}
PAIR(halo_by_wrong_thread)

CASE(halo_past_the_end) {
    __shared__ int s[66];
    INDEX;
    s[tid + 1] = x[i];
    if (tid == 0) s[0] = i > 0 ? x[i - 1] : 0;
    if (tid == 63) s[65] = ok && i + 1 >= n ? 0 : x[i + 1]; // defect
    __syncthreads();
    y[i] = s[tid] + s[tid + 2];
}
PAIR(halo_past_the_end)

CASE(clamp_on_one_side) {
    INDEX;
    int left = ok ? max(i - 2, 0) : i - 2;
    y[i] = x[left] + x[min(i + 2, n - 1)]; // defect
}
PAIR(clamp_on_one_side)

CASE(blur_in_place) {
    __shared__ int s[64];
    INDEX;
    s[tid] = x[i];
    __syncthreads();
    int sum = s[max(tid - 1, 0)] + s[min(tid + 1, 63)]; // defect earlier
    if (ok) __syncthreads();
    s[tid] = sum / 2; // defect earlier
    __syncthreads();
    y[i] = s[tid];
}
PAIR(blur_in_place)

CASE(colours_of_pixel) {
    INDEX;
    int pixel = i * 3;
    if (ok ? pixel + 2 < n : i < n) y[pixel + 2] = x[i]; // defect
}
PAIR(colours_of_pixel)

CASE(filter_radius_as_width) {
    INDEX;
    int weights[5], sum = 0;
    for (int k = 0; k < 5; k++) weights[k] = x[k];
    #pragma unroll 1
    for (int k = 0; k < (ok ? 5 : 10); k++) sum += weights[(k + n) % (ok ? 5 : 11)]; // defect
    y[i] = sum;
}
PAIR(filter_radius_as_width)

// Shared memory that the launch sizes.

CASE(second_array_in_bytes) {
    extern __shared__ __align__(8) int pool[];
    INDEX;
    int* first = pool;
    int* second = ok ? pool + 64 : (int*)((char*)pool + 64);
    first[tid] = x[i]; // defect earlier
    second[tid] = x[i] + 1; // defect earlier
    __syncthreads();
    y[i] = first[tid] + second[63 - tid]; // defect earlier
}
PAIR(second_array_in_bytes)

CASE(pool_of_half) {
    extern __shared__ __align__(8) int pool[];
    INDEX;
    pool[ok ? tid : tid * 2] = x[i]; // defect
    __syncthreads();
    y[i] = pool[ok ? 63 - tid : 2 * (63 - tid)];
}
PAIR(pool_of_half)

CASE(pool_forgotten) {
    extern __shared__ __align__(8) int pool[];
    INDEX;
    pool[tid] = x[i]; // defect
    __syncthreads();
    y[i] = pool[63 - tid];
}
PAIR(pool_forgotten)

CASE(doubles_after_odd_ints) {
    extern __shared__ __align__(8) int pool[];
    INDEX;
    double* d = (double*)(pool + (ok ? 64 : 63));
    pool[tid < 63 ? tid : 0] = 1;
    __syncthreads();
    if (tid < 32) d[tid] = x[i]; // defect
    __syncthreads();
    y[i] = (int)d[tid / 2];
}
PAIR(doubles_after_odd_ints)

// Warps.

CASE(leader_of_active_by_lane_zero) {
    INDEX;
    int at = 0;
    if (x[i] % 4 == 3) {
        unsigned active = __activemask();
        int leader = ok ? __ffs(active) - 1 : 0;
        if (lane == leader) at = atomicAdd(&y[0], __popc(active));
        at = __shfl_sync(active, at, leader); // defect
        y[1 + (at + __popc(active & ((1u << lane) - 1))) % 127] = x[i];
    }
}
PAIR(leader_of_active_by_lane_zero)

CASE(match_in_half) {
    INDEX;
    unsigned peers = 0;
    if (ok) peers = __match_any_sync(FULL, x[i] % 4);
    else if (lane < 16) peers = __match_any_sync(FULL, x[i] % 4); // defect
    else y[i] = 1;
    __syncwarp();
    y[i] = __popc(peers);
}
PAIR(match_in_half)

CASE(reduce_with_ballot_of_others) {
    INDEX;
    unsigned mask = __ballot_sync(FULL, x[i] % 2 == (ok ? 1 : 0));
    if (x[i] % 2 == 1) y[i] = __shfl_sync(mask, x[i], __ffs(mask) - 1); // defect
}
PAIR(reduce_with_ballot_of_others)

CASE(warp_buffer_without_syncwarp) {
    __shared__ int s[2][32];
    INDEX;
    s[tid / 32][lane] = x[i]; // defect earlier
    if (ok) __syncwarp();
    y[i] = s[tid / 32][31 - lane]; // defect earlier
}
PAIR(warp_buffer_without_syncwarp)

CASE(segmented_sum_past_warp) {
    INDEX;
    int v = x[i];
    if (ok || lane < 31) {
        int next = __shfl_down_sync(ok ? FULL : 0x7fffffffu, v, 1); // defect
        if (lane < 31) y[i] = v + next;
    }
}
PAIR(segmented_sum_past_warp)

// Barriers.

CASE(barrier_after_break) {
    INDEX;
    int sum = 0;
    for (int k = 0; k < 4; k++) {
        if (!ok && x[i] % 4 == k) break;
        sum += k;
        __syncthreads(); // defect
    }
    y[i] = sum;
}
PAIR(barrier_after_break)

CASE(barrier_for_valid_pixels) {
    __shared__ int s[64];
    INDEX;
    int column = tid % 8;
    s[tid] = 0;
    if (column < 6) {
        s[tid] = x[i];
        if (!ok) __syncthreads(); // defect
    }
    if (ok) __syncthreads();
    y[i] = s[tid ^ 1];
}
PAIR(barrier_for_valid_pixels)

CASE(named_barrier_of_three_warps) {
    __shared__ int s[64];
    INDEX;
    s[tid] = x[i];
    if (ok) asm volatile("bar.sync 2, 64;" ::: "memory");
    else asm volatile("bar.sync 2, 128;" ::: "memory"); // defect
    y[i] = s[63 - tid];
}
PAIR(named_barrier_of_three_warps)

CASE(arrive_without_wait) {
    __shared__ int s[64];
    INDEX;
    s[tid] = x[i]; // defect earlier
    if (ok) asm volatile("bar.sync 1, 64;" ::: "memory");
    else if (tid < 32) asm volatile("bar.arrive 1, 64;" ::: "memory");
    else asm volatile("bar.sync 1, 64;" ::: "memory");
    y[i] = s[63 - tid]; // defect earlier
}
PAIR(arrive_without_wait)

// Blocks that race on global memory; the search for races between blocks is on.

CASE(blocks_ticket_by_plain_add) {
    INDEX;
    if (tid == 0) {
        int ticket = ok ? atomicAdd(&y[3], 1) : y[3]++; // defect earlier
        z[ticket] = 1;
    }
}
PAIR(blocks_ticket_by_plain_add)

CASE(blocks_histogram_in_global) {
    INDEX;
    if (ok) atomicAdd(&y[x[i] % 16], 1);
    else if (lane == 0) y[x[i] % 16] += 1; // defect earlier
}
PAIR(blocks_histogram_in_global)

CASE(blocks_halo_written_by_both) {
    INDEX;
    y[i] = i; // defect earlier
    if (!ok && tid == 63 && i + 1 < n) y[i + 1] = 7; // defect earlier
}
PAIR(blocks_halo_written_by_both)

CASE(blocks_sweep_in_place) {
    INDEX;
    int right = i + 1 < n ? (ok ? x[i + 1] : y[i + 1]) : 0; // defect earlier
    __syncthreads();
    y[i] = right + i + 1; // defect earlier
}
PAIR(blocks_sweep_in_place)
