// Conversions between the offsets of CSR and the row of each entry in COO. Columns and
// values are the same in both.
//
// Each rung makes one change to the rung before it.

#include "heads.cuh"
#include "merge.cuh"

// One thread per row writes its number to all of its entries.
extern "C" __global__ void __launch_bounds__(256) csr_to_coo_scalar_row(const int* __restrict__ offsets, int* __restrict__ row, unsigned rows) {
    unsigned r = blockIdx.x * 256 + threadIdx.x;
    if (r >= rows) return;
    for (int i = offsets[r], end = offsets[r + 1]; i < end; i++) row[i] = r;
}

// One warp per row: lanes write neighbours.
extern "C" __global__ void __launch_bounds__(256) csr_to_coo_warp_row(const int* __restrict__ offsets, int* __restrict__ row, unsigned rows) {
    unsigned r = blockIdx.x * 8 + threadIdx.x / 32;
    if (r >= rows) return;
    for (int i = offsets[r] + threadIdx.x % 32, end = offsets[r + 1]; i < end; i += 32) row[i] = r;
}

// The number of offsets that are at most entry: one more than the row of the entry.
static __device__ unsigned rows_up_to(const int* __restrict__ offsets, unsigned rows, unsigned entry) {
    unsigned low = 0, high = rows;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if ((unsigned)offsets[middle] <= entry) low = middle + 1;
        else high = middle;
    }
    return low;
}

// A block writes 2048 entries, whatever their rows. Each row that begins among them marks
// its first entry, of several there the last wins, and a scan of maxima fills the gaps.
extern "C" __global__ void __launch_bounds__(256) csr_to_coo_marks(const int* __restrict__ offsets, int* __restrict__ row, unsigned rows, unsigned nnz) {
    __shared__ int mark[2048], of_warp[8];
    __shared__ unsigned bound[2];
    unsigned base = blockIdx.x * 2048, end = min(base + 2048, nnz), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (unsigned i = threadIdx.x; i < 2048; i += 256) mark[i] = 0;
    if (threadIdx.x < 2) bound[threadIdx.x] = rows_up_to(offsets, rows, threadIdx.x ? end - 1 : base);
    __syncthreads();
    unsigned before = bound[0] - 1; // the row of the first entry
    for (unsigned r = bound[0] + threadIdx.x; r < bound[1]; r += 256) atomicMax(&mark[offsets[r] - base], (int)r);
    __syncthreads();

    int own[8], most = before;
#pragma unroll
    for (unsigned k = 0; k < 8; k++) own[k] = most = max(most, mark[8 * threadIdx.x + k]);
#pragma unroll
    for (unsigned d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(0xffffffff, most, d);
        if (lane >= d) most = max(most, other);
    }
    if (lane == 31) of_warp[warp] = most;
    int earlier = __shfl_up_sync(0xffffffff, most, 1);
    if (lane == 0) earlier = before;
    __syncthreads();
    for (unsigned w = 0; w < warp; w++) earlier = max(earlier, of_warp[w]);
#pragma unroll
    for (unsigned k = 0; k < 8; k++) own[k] = max(own[k], earlier);
    unsigned first = base + 8 * threadIdx.x;
    if (first + 8 <= end && (size_t)row % 16 == 0) {
        *(int4*)(row + first) = make_int4(own[0], own[1], own[2], own[3]);
        *(int4*)(row + first + 4) = make_int4(own[4], own[5], own[6], own[7]);
    } else {
#pragma unroll
        for (unsigned k = 0; k < 8; k++)
            if (first + k < end) row[first + k] = own[k];
    }
}

// start[t] is the number of rows that have ended at step 8188 t of the merge path.
extern "C" __global__ void __launch_bounds__(256) csr_to_coo_bits(const int* __restrict__ offsets, unsigned* __restrict__ start, unsigned rows, unsigned nnz, unsigned tiles) {
    unsigned t = blockIdx.x * 8 + threadIdx.x / 32;
    if (t > tiles) return;
    unsigned ended = rows_ended(t < tiles ? t * 8188 : rows + nnz, rows, nnz, offsets);
    if (threadIdx.x % 32 == 0) start[t] = ended;
}

// A block writes the entries of 8188 steps of the path, with as many rows at most: 8192 from a
// multiple of 4 on. A mark is a bit for an entry at which a row begins, and the row at its place.
extern "C" __global__ void __launch_bounds__(512) csr_to_coo_bits_2(const int* __restrict__ offsets, int* __restrict__ row, const unsigned* __restrict__ start, unsigned rows, unsigned nnz) {
    constexpr unsigned steps = 8188, N = 4; // vectors of a thread
    __shared__ unsigned head[256];
    __shared__ int row_of[8192 + 256];
    unsigned row0 = start[blockIdx.x], row1 = start[blockIdx.x + 1], step = blockIdx.x * steps, lane = threadIdx.x % 32;
    unsigned begin = step - row0, end = step + min(steps, rows + nnz - step) - row1, base = begin / 4 * 4;
    if (threadIdx.x < 256) head[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned r = row0 + 1 + threadIdx.x; r <= row1 && r < rows; r += 512) {
        unsigned from = offsets[r] - base, to = offsets[r + 1] - base;
        if (from < min(to, end - base)) atomicOr(&head[from / 32], 1u << from % 32), row_of[padded(from)] = r;
    }
    __syncthreads();

    unsigned of_warp = threadIdx.x / 32 * 128 * N;
    int last = last_row(head, row_of, of_warp / 32, row0);
#pragma unroll
    for (unsigned k = 0; k < N; k++) {
        unsigned i = of_warp + 128 * k + 4 * lane, own = head[i / 32] >> i % 32 & 15, any = __ballot_sync(0xffffffff, own != 0);
        int r[4] = {last, last, last, last};
        if (any != 0) {
            int at = -1;
#pragma unroll
            for (unsigned j = 0; j < 4; j++) {
                if (own >> j & 1) at = row_of[padded(i + j)];
                r[j] = at;
            }
            unsigned before = any & ((1u << lane) - 1); // lanes
            int earlier = __shfl_sync(0xffffffff, at, before ? 31 - __clz(before) : 0);
#pragma unroll
            for (unsigned j = 0; j < 4; j++)
                if (r[j] < 0) r[j] = before ? earlier : last;
            last = __shfl_sync(0xffffffff, at, 31 - __clz(any));
        }
        if (base + i >= begin && base + i + 4 <= end && (size_t)row % 16 == 0) {
            __stcs((int4*)(row + base + i), make_int4(r[0], r[1], r[2], r[3]));
        } else {
#pragma unroll
            for (unsigned j = 0; j < 4; j++)
                if (base + i + j >= begin && base + i + j < end) row[base + i + j] = r[j];
        }
    }
}

// offsets[r] is the number of entries of rows before r: a thread searches it among the
// rows, which are sorted.
extern "C" __global__ void __launch_bounds__(256) coo_to_csr_search(const int* __restrict__ row, int* __restrict__ offsets, unsigned rows, unsigned nnz) {
    unsigned r = blockIdx.x * 256 + threadIdx.x;
    if (r > rows) return;
    unsigned low = 0, high = nnz;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if ((unsigned)row[middle] < r) low = middle + 1;
        else high = middle;
    }
    offsets[r] = low;
}

// The rows after one and up to another begin at entry i.
static __device__ void begin(int* __restrict__ offsets, int after, int up_to, unsigned i) {
    for (int r = after + 1; r <= up_to; r++) offsets[r] = i;
}

// One thread per entry: where the row changes, it writes the offsets of the rows between.
extern "C" __global__ void __launch_bounds__(256) coo_to_csr_edges(const int* __restrict__ row, int* __restrict__ offsets, unsigned rows, unsigned nnz) {
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    if (i > nnz) return;
    begin(offsets, i > 0 ? row[i - 1] : -1, i < nnz ? row[i] : rows, i);
}

// Eight entries per thread in loads of 16 bytes. Runs of empty rows longer than 32 are
// written by all lanes of the warp.
extern "C" __global__ void __launch_bounds__(256) coo_to_csr_wide(const int* __restrict__ row, int* __restrict__ offsets, unsigned rows, unsigned nnz) {
    unsigned first = (blockIdx.x * 256 + threadIdx.x) * 8, lane = threadIdx.x % 32;
    int r[9];
    r[0] = first > 0 && first <= nnz ? row[first - 1] : -1;
    if (first + 8 <= nnz && (size_t)row % 16 == 0) {
        int4 a = __ldcs((const int4*)(row + first)), b = __ldcs((const int4*)(row + first + 4));
        r[1] = a.x, r[2] = a.y, r[3] = a.z, r[4] = a.w, r[5] = b.x, r[6] = b.y, r[7] = b.z, r[8] = b.w;
    } else {
#pragma unroll
        for (unsigned k = 0; k < 8; k++) r[k + 1] = first + k < nnz ? row[first + k] : first + k == nnz ? rows : r[k];
    }
#pragma unroll
    for (unsigned k = 0; k < 8; k++) {
        bool wide = r[k + 1] - r[k] > 32;
        if (!wide) begin(offsets, r[k], r[k + 1], first + k);
        for (unsigned left = __ballot_sync(0xffffffff, wide); left; left &= left - 1) {
            unsigned from = __ffs(left) - 1;
            int after = __shfl_sync(0xffffffff, r[k], from), up_to = __shfl_sync(0xffffffff, r[k + 1], from);
            unsigned i = __shfl_sync(0xffffffff, first + k, from);
            for (int to = after + 1 + lane; to <= up_to; to += 32) offsets[to] = i;
        }
    }
}
