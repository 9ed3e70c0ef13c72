// What the rungs with tall panels of B share: the lists of entries and the product. The file
// of a rung defines the constants tall (rows of B in a panel), warps (of a block), steps (of
// four rows of C per warp), and slots (entries of a row and panel that are in shared memory at
// once).

constexpr unsigned wide = 64, box = tall / 2; // columns of B in a panel; rows of a copy
constexpr unsigned row_bytes = wide * 4, panel_bytes = tall * row_bytes;
constexpr unsigned list_bytes = slots * 8 + 16; // 16 more: the lists of four rows lie in different banks
constexpr unsigned step_bytes = 4 * list_bytes, ring = 2 * panel_bytes, barriers = ring + warps * 2 * step_bytes;

struct alignas(64) TensorMap { unsigned long long words[16]; };

static __device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// Keeps a number in a register: it is not computed again at each use. With keep = false the
// compiler decides.
template <bool keep = true, class T> static __device__ T kept(T v) {
    if constexpr (!keep) return v;
    else if constexpr (sizeof(T) == 8) asm volatile("mov.u64 %0, %0;" : "+l"(v));
    else asm volatile("mov.u32 %0, %0;" : "+r"(v));
    return v;
}

static __device__ void barrier_init(unsigned barrier, unsigned arrivals) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory"); }

static __device__ void barrier_wait(unsigned barrier, unsigned phase) {
    asm volatile("{.reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @!done bra again;}" ::"r"(barrier), "r"(phase) : "memory");
}

static __device__ float4 load4(unsigned from) {
    float4 v;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(from));
    return v;
}

static __device__ float2 load2(unsigned from) {
    float2 v;
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "r"(from));
    return v;
}

// Copies two entries to shared memory where i < n.
static __device__ void copy_pair(unsigned to, const uint4* from, int i, int n) {
    asm volatile("{.reg .pred there; setp.lt.s32 there, %2, %3; @there cp.async.cg.shared.global [%0], [%1], 16;}" ::"r"(to), "l"(from), "r"(i), "r"(n) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
}

static __device__ void wait_for_pairs() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }

static __device__ void add(float4& sum, float v, float4 x) { sum.x += v * x.x, sum.y += v * x.y, sum.z += v * x.z, sum.w += v * x.w; }

// An entry as the product reads it: where its row of B is in the two panels, in bytes, and
// its value.
static __device__ uint2 entry(unsigned column, unsigned p, float value) { return make_uint2(p % 2 * panel_bytes + (column - p * tall) * row_bytes, __float_as_uint(value)); }

// The entries of each row by panels of B, one warp per row. Within a panel they stay in their
// order. They begin at even places, so that 16 bytes are two of one row: panel p at
// starts[p * rows + row] without its lowest bit, which is set where the panel before has an
// odd number. Rows that are not sorted are read twice for each panel.
static __device__ __forceinline__ void list_entries(const int* __restrict__ offsets, const int* __restrict__ columns, const float* __restrict__ values, uint2* __restrict__ entries, int* __restrict__ starts, unsigned rows, int panels) {
    extern __shared__ int of_rows[]; // of eight rows, in A and in entries
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, n = panels + 1;
    unsigned row0 = blockIdx.x * 8, row = row0 + warp;
    int *from = of_rows + warp * 2 * n, *to = from + n;
    if (row < rows) {
        int begin = offsets[row], end = offsets[row + 1], last = -1;
        bool falls = false;
        // The panels of 32 entries from first on: where they begin.
        auto mark = [&](int first, int column) {
            int i = first + lane, p = i < end ? (int)(column / tall) : panels, before = __shfl_up_sync(0xffffffff, p, 1);
            if (lane == 0) before = last;
            falls = falls || __any_sync(0xffffffff, before > p);
            for (int q = before + 1; q <= p && !falls; q++) from[q] = min(i, end);
            last = __shfl_sync(0xffffffff, p, 31);
        };
        auto put = [&](int i, int column, float value) {
            int p = column / tall;
            if (i < end) entries[(to[p] & ~1) + i - from[p]] = entry(column, p, value);
        };
        int column[8];
        float value[8];
        bool few = end - begin <= 256; // they stay in registers
        if (few) {
#pragma unroll
            for (int u = 0; u < 8; u++) {
                int i = begin + u * 32 + lane;
                column[u] = i < end ? columns[i] : 0, value[u] = i < end ? values[i] : 0;
            }
#pragma unroll
            for (int u = 0; u < 8; u++)
                if (begin + u * 32 < end) mark(begin + u * 32, column[u]);
        } else
            for (int first = begin; first < end; first += 32) mark(first, first + lane < end ? columns[first + lane] : 0);
        for (int p = last + 1 + lane; p <= panels; p += 32) from[p] = end;
        if (falls) {
            __syncwarp();
            int at = begin;
            for (int p = 0; p <= panels; p++) {
                if (lane == 0) from[p] = at;
                for (int i = begin + lane; i - lane < end; i += 32) at += __popc(__ballot_sync(0xffffffff, i < end && (int)(columns[i] / tall) == p));
            }
        }
        __syncwarp();
        int base = begin + row * n & ~1, odd = 0; // each panel has one place more than it needs
        for (int first = 0; first <= panels; first += 32) {
            int p = first + lane, count = p < panels ? from[p + 1] - from[p] : 0;
            unsigned all = __ballot_sync(0xffffffff, count & 1);
            if (p <= panels) {
                int at = base + from[p] - begin + odd + __popc(all & ((1u << lane) - 1));
                to[p] = at | (p > 0 && (from[p] - from[p - 1]) & 1);
                if (count & 1) entries[at + count] = make_uint2(0, 0);
            }
            odd += __popc(all);
        }
        __syncwarp();
        if (falls)
            for (int p = 0; p < panels; p++) {
                int at = to[p] & ~1;
                for (int i = begin + lane; i - lane < end; i += 32) {
                    bool here = i < end && (int)(columns[i] / tall) == p;
                    unsigned all = __ballot_sync(0xffffffff, here);
                    if (here) entries[at + __popc(all & ((1u << lane) - 1))] = entry(columns[i], p, values[i]);
                    at += __popc(all);
                }
            }
        else if (few)
#pragma unroll
            for (int u = 0; u < 8; u++) put(begin + u * 32 + lane, column[u], value[u]);
        else
            for (int i = begin + lane; i < end; i += 32) put(i, columns[i], values[i]);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n * 8; i += 256)
        if (row0 + i % 8 < rows) starts[(size_t)(i / 8) * rows + row0 + i % 8] = of_rows[i % 8 * 2 * n + n + i / 8];
}

// A block has 64 columns of C in registers, and 4 * steps rows per warp, eight lanes per row and
// eight columns per lane: a warp takes four rows at once. One panel is read while the copy
// engine brings the next one, and the entries of the next step come while those of a step
// are added. In each iteration a row takes two of its entries if pairs, else one. Pairs need
// registers for two rows of B on their way.
template <bool pairs>
static __device__ __forceinline__ void multiply(const TensorMap& map, const uint4* __restrict__ entries, const int* __restrict__ starts, float* __restrict__ c, unsigned rows, unsigned width, unsigned k, int panels) {
    extern __shared__ __align__(128) char staged[]; // two panels, the entries of two steps of each warp, four barriers
    unsigned base = shared_address(staged), full = base + barriers, read = full + 16;
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / 8, own = lane % 8;
    unsigned groups = (k + wide - 1) / wide, j0 = blockIdx.x % groups * wide, row0 = (blockIdx.x / groups * warps + warp) * 4 * steps;
    unsigned lists = kept(base + ring + warp * 2 * step_bytes + group * list_bytes), to = kept<pairs>(lists + own * 16);
    unsigned mine = kept(pairs ? own * 16 : base + own * 16);
    int pair = kept<pairs>(own < slots / 2 ? 2 * own : 0x7fffffff); // of a list, that the lane copies
    const uint4* from = kept<pairs>(entries + own);
    if (threadIdx.x == 0) {
        for (unsigned i = 0; i < 2; i++) barrier_init(full + 8 * i, 1), barrier_init(read + 8 * i, warps);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();

    auto fetch = [&](unsigned p) {
        unsigned barrier = full + p % 2 * 8, boxes = min(tall / box, (width - p * tall + box - 1) / box);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(boxes * box * row_bytes) : "memory");
#pragma unroll 1
        for (unsigned i = 0; i < boxes; i++)
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(base + p % 2 * panel_bytes + i * box * row_bytes), "l"(&map), "r"(j0), "r"(p * tall + i * box), "r"(barrier) : "memory");
    };
    // Of the rows of a group, a lane each: the first pair and the number of the entries
    // in this panel, and where those of the next two panels start.
    int first, count, next, later;
    auto start = [&](int p) {
        unsigned row = row0 + own % steps * 4 + group;
        return row < rows ? starts[(size_t)min(p, panels) * rows + row] : 0;
    };
    auto count_of = [](int start, int end) { return (end & ~1) - (start & ~1) - (end & 1); };
    later = start(0), next = start(1), first = (unsigned)later / 2, count = count_of(later, next), later = start(2);
    int coming; // the number of entries on their way
    auto fetch_list = [&](unsigned step, int first, int count) {
        int at = __shfl_sync(0xffffffff, first, step, 8);
        coming = __shfl_sync(0xffffffff, count, step, 8);
        copy_pair(to + step % 2 * step_bytes, from + at, pair, coming);
    };
    if (threadIdx.x == 0) {
        fetch(0);
        if (panels > 1) fetch(1);
    }
    fetch_list(0, first, count);
    float4 sum[steps][2];
#pragma unroll
    for (unsigned s = 0; s < steps; s++) sum[s][0] = sum[s][1] = make_float4(0, 0, 0, 0);

    for (int p = 0; p < panels; p++) {
        barrier_wait(full + p % 2 * 8, p / 2 & 1);
        int first_of_next = (unsigned)next / 2, count_of_next = count_of(next, later);
#pragma unroll
        for (unsigned s = 0; s < steps; s++) {
            wait_for_pairs();
            __syncwarp(); // the entries are here, and those of the step before are read
            int n = coming;
            if (s + 1 < steps) fetch_list(s + 1, first, count);
            else fetch_list(0, first_of_next, count_of_next);
            if (s == steps / 2 - 1 && p > 0 && p + 1 < panels) { // all warps wait: one that goes ahead would wait at the next panel, with too few left to fill the port
                barrier_wait(read + (p + 1) % 2 * 8, (p - 1) / 2 & 1);
                if (threadIdx.x == 0) fetch(p + 1);
                __syncwarp();
            }
            unsigned of_step = s % 2 * step_bytes;
            auto walk = [&](int left) {
                if constexpr (pairs) {
#pragma unroll 1
                    for (unsigned list = lists + of_step; left > 0; left -= 2, list += 16) {
                        float4 two = load4(list), x[2], y[2];
                        for (unsigned h = 0; h < 2; h++) x[h] = load4(base + (__float_as_uint(two.x) ^ mine) + h * 128);
                        if (left > 1)
                            for (unsigned h = 0; h < 2; h++) y[h] = load4(base + (__float_as_uint(two.z) ^ mine) + h * 128);
                        for (unsigned h = 0; h < 2; h++) add(sum[s][h], two.y, x[h]);
                        if (left > 1)
                            for (unsigned h = 0; h < 2; h++) add(sum[s][h], two.w, y[h]);
                    }
                } else {
#pragma unroll 1
                    for (unsigned list = lists + of_step; left > 0; left--, list += 8) {
                        float2 one = load2(list);
                        float4 x[2];
                        for (unsigned h = 0; h < 2; h++) x[h] = load4(mine + __float_as_uint(one.x) + h * 128);
                        for (unsigned h = 0; h < 2; h++) add(sum[s][h], one.y, x[h]);
                    }
                }
            };
            walk(min(n, (int)slots));
            if (n > (int)slots) { // the entries for which the list has no place
                unsigned of_row = 0xffu << group * 8;
                int at = __shfl_sync(of_row, first, s, 8);
#pragma unroll 1
                for (int i = slots; i < n; i += slots) {
                    __syncwarp(of_row);
                    copy_pair(to + of_step, from + at + i / 2, pair, n - i);
                    wait_for_pairs();
                    __syncwarp(of_row);
                    walk(min(n - i, (int)slots));
                }
            }
        }
        __syncwarp();
        if (lane == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(read + p % 2 * 8) : "memory");
        first = first_of_next, count = count_of_next, next = later, later = start(p + 3);
    }
    wait_for_pairs();
#pragma unroll
    for (unsigned s = 0; s < steps; s++)
        for (unsigned q = 0; q < 2; q++) {
            unsigned row = row0 + s * 4 + group, j = j0 + q * 32 + own * 4;
            if (row >= rows || j >= k) continue;
            float* at = c + (size_t)row * k + j;
            float4 v = sum[s][q];
            if ((size_t)c % 16 == 0) *(float4*)at = v;
            else at[0] = v.x, at[1] = v.y, at[2] = v.z, at[3] = v.w;
        }
}
