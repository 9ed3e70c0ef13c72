// C = A B with panels of B in shared memory that are tall and narrow: 820 rows of 32
// columns. A row of A has entries enough in each of them, and a block reads B once for 1024
// rows of C. Bulk copies need sm_90.

constexpr unsigned tall = 820, wide = 32, warps = 16, steps = 16, slots = 16;
constexpr unsigned panel_bytes = tall * wide * 4;
constexpr unsigned list_bytes = slots * 8 + 16; // of a row; 16 more, so that the lists of four rows begin in different banks
constexpr unsigned ring_bytes = 4 * list_bytes; // of a step

static __device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// Keeps an address in a register: it is not computed again at each use.
static __device__ unsigned kept(unsigned v) {
    asm volatile("mov.u32 %0, %0;" : "+r"(v));
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

// Copies an entry to shared memory where i < n.
static __device__ void copy_entry(unsigned to, const uint2* from, int i, int n) {
    asm volatile("{.reg .pred there; setp.lt.s32 there, %2, %3; @there cp.async.ca.shared.global [%0], [%1], 8;}" ::"r"(to), "l"(from), "r"(i), "r"(n) : "memory");
}

static __device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

static __device__ void wait_for_entries() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }

// The entries of each row by panels of B, a warp four rows: an entry is where its row of B is
// in the panel, in bytes, and its value. Those of panel p begin at starts[p * rows + row].
// Within a panel they stay in their order. Rows that are not sorted are read once more for
// each panel.
extern "C" __global__ void __launch_bounds__(256) spmm_tall(const int* __restrict__ offsets, const int* __restrict__ columns, const float* __restrict__ values, uint2* __restrict__ entries, int* __restrict__ starts, unsigned rows, int panels) {
    extern __shared__ int of_rows[]; // starts of 32 rows, a panel 33 apart
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, row0 = blockIdx.x * 32;
    auto entry = [](int column, int p, float value) { return make_uint2((column - p * tall) * wide * 4, __float_as_uint(value)); };
    for (unsigned r = warp * 4; r < warp * 4 + 4 && row0 + r < rows; r++) {
        int begin = offsets[row0 + r], end = offsets[row0 + r + 1], last = -1;
        bool falls = false;
        for (int first = begin; first < end; first += 128) {
            int column[4];
            float value[4];
#pragma unroll
            for (int u = 0; u < 4; u++) {
                int i = first + u * 32 + lane;
                column[u] = i < end ? columns[i] : 0, value[u] = i < end ? values[i] : 0;
            }
#pragma unroll
            for (int u = 0; u < 4; u++) {
                if (first + u * 32 >= end) break;
                int i = first + u * 32 + lane, p = i < end ? (int)(column[u] / tall) : panels, before = __shfl_up_sync(0xffffffff, p, 1);
                if (lane == 0) before = last;
                falls = falls || __any_sync(0xffffffff, before > p);
                for (int q = before + 1; q <= p && !falls; q++) of_rows[q * 33 + r] = min(i, end);
                last = __shfl_sync(0xffffffff, p, 31);
                if (i < end) entries[i] = entry(column[u], p, value[u]);
            }
        }
        for (int p = last + 1 + lane; p <= panels; p += 32) of_rows[p * 33 + r] = end;
        if (!falls) continue;
        __syncwarp();
        int at = begin;
        for (int p = 0; p <= panels; p++) {
            if (lane == 0) of_rows[p * 33 + r] = at;
            for (int i = begin + lane; i - (int)lane < end; i += 32) {
                bool here = i < end && (int)(columns[i] / tall) == p;
                unsigned all = __ballot_sync(0xffffffff, here);
                if (here) entries[at + __popc(all & ((1u << lane) - 1))] = entry(columns[i], p, values[i]);
                at += __popc(all);
            }
        }
    }
    __syncthreads();
    for (int p = warp; p <= panels; p += 8)
        if (row0 + lane < rows) starts[(size_t)p * rows + row0 + lane] = of_rows[p * 33 + lane];
}

// A block has 1024 rows and 32 columns of C in registers, eight lanes a row and four columns
// a lane: a warp takes four rows at once, in 16 steps a panel. One panel is read while the
// next one comes, and the entries of the next step come while those of a step are added.
extern "C" __global__ void __launch_bounds__(512) spmm_tall_2(const uint2* __restrict__ entries, const int* __restrict__ starts, const float* __restrict__ b, float* __restrict__ c, unsigned rows, unsigned width, unsigned k, int panels) {
    extern __shared__ __align__(128) char staged[]; // two panels, then the entries of two steps of each warp
    __shared__ unsigned long long full[2], read[2];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = kept(lane / 8), own = kept(lane % 8);
    unsigned groups = (k + wide - 1) / wide, j0 = blockIdx.x % groups * wide, there = min(wide, k - j0);
    unsigned row0 = (blockIdx.x / groups * warps + warp) * 4 * steps;
    unsigned lists = kept(shared_address(staged) + 2 * panel_bytes + warp * 2 * ring_bytes + group * list_bytes), to = kept(lists + own * 8);
    bool vectors = k % 4 == 0 && ((size_t)b | (size_t)c) % 16 == 0;
    if (threadIdx.x < 2) {
        barrier_init(shared_address(full + threadIdx.x), 1);
        barrier_init(shared_address(read + threadIdx.x), warps);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    if (there < wide) // the columns beyond B, which no copy writes
        for (unsigned i = threadIdx.x; i < 2 * tall * wide; i += 512)
            if (i % wide >= there) ((float*)staged)[i] = 0;
    for (unsigned i = threadIdx.x; i < warps * 2 * ring_bytes / 4; i += 512) ((float*)(staged + 2 * panel_bytes))[i] = 0; // four entries are loaded at once, also where a list has fewer
    __syncthreads();

    // Rows of B that do not begin at a multiple of 16 bytes are copied by the threads.
    auto fetch = [&](unsigned p) {
        unsigned first = p * tall, n = min(tall, width - first), stage = p % 2, barrier = shared_address(full + stage);
        float* panel = (float*)(staged + stage * panel_bytes);
        const float* from = b + (size_t)first * k + j0;
        if (!vectors) {
            for (unsigned i = threadIdx.x; i < n * wide; i += 512)
                if (i % wide < there) panel[i] = from[(size_t)(i / wide) * k + i % wide];
            return;
        }
        if (threadIdx.x == 0) asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(n * there * 4) : "memory");
        for (unsigned i = threadIdx.x; i < n; i += 512)
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(panel + i * wide)), "l"(from + (size_t)i * k), "r"(there * 4), "r"(barrier) : "memory");
    };
    // Lane l has where the entries of the rows l and l + 32 of the warp begin in panel p.
    auto begins = [&](int p, int* of) {
        for (unsigned q = 0; q < 2; q++) of[q] = row0 + q * 32 + lane < rows ? starts[(size_t)min(p, panels) * rows + row0 + q * 32 + lane] : 0;
    };
    int now[2], next[2], later[2]; // in this panel and the next two
    begins(0, now), begins(1, next), begins(2, later);
    int first[2], count[2]; // the entries of a step, which are in the ring or on their way
    auto fetch_entries = [&](unsigned step, const int* from, const int* end) {
        unsigned at = step % 8 * 4 + group;
        int begin = __shfl_sync(0xffffffff, from[step / 8], at), n = __shfl_sync(0xffffffff, end[step / 8], at) - begin;
        first[step % 2] = begin, count[step % 2] = n;
        const uint2* of = entries + begin + own;
        copy_entry(to + step % 2 * ring_bytes, of, own, n);
        copy_entry(to + step % 2 * ring_bytes + 64, of + 8, own + 8, n);
        commit();
    };
    if (vectors) {
        fetch(0);
        if (panels > 1) fetch(1);
    }
    fetch_entries(0, now, next);
    float4 sum[steps];
#pragma unroll
    for (unsigned r = 0; r < steps; r++) sum[r] = make_float4(0, 0, 0, 0);

    for (int p = 0; p < panels; p++) {
        if (vectors) barrier_wait(shared_address(full + p % 2), p / 2 & 1);
        else {
            __syncthreads();
            fetch(p);
            __syncthreads();
        }
        unsigned panel = kept(shared_address(staged) + p % 2 * panel_bytes + own * 16);
#pragma unroll
        for (unsigned r = 0; r < steps; r++) {
            wait_for_entries();
            __syncwarp(); // the entries are here, and those of the step before are read
            if (r + 1 < steps) fetch_entries(r + 1, now, next);
            else fetch_entries(0, next, later);
            if (r == 6 && vectors && p > 0 && p + 1 < panels) {
                barrier_wait(shared_address(read + (p + 1) % 2), (p - 1) / 2 & 1);
                fetch(p + 1);
            }
            // Adds up to four entries of a list.
            auto add = [&](unsigned list, int n) {
                float4 pair[2], x[4];
#pragma unroll
                for (int u = 0; u < 2; u++) pair[u] = load4(list + u * 16);
#pragma unroll
                for (int u = 0; u < 4; u++)
                    if (u < n) x[u] = load4(panel + __float_as_uint(u % 2 ? pair[u / 2].z : pair[u / 2].x));
#pragma unroll
                for (int u = 0; u < 4; u++)
                    if (u < n) {
                        float v = u % 2 ? pair[u / 2].w : pair[u / 2].y;
                        sum[r].x += v * x[u].x, sum[r].y += v * x[u].y, sum[r].z += v * x[u].z, sum[r].w += v * x[u].w;
                    }
            };
            unsigned list = lists + r % 2 * ring_bytes;
            int n = count[r % 2];
#pragma unroll 1
            for (int left = min(n, (int)slots), i = 0; left > 0; left -= 4, i += 32) add(list + i, left);
            if (n > slots) { // the entries for which the list has no place
                unsigned of_row = 0xffu << group * 8;
#pragma unroll 1
                for (int i = slots; i < n; i += slots) {
                    __syncwarp(of_row);
                    const uint2* of = entries + first[r % 2] + i + own;
                    copy_entry(to + r % 2 * ring_bytes, of, own, n - i);
                    copy_entry(to + r % 2 * ring_bytes + 64, of + 8, own + 8, n - i);
                    commit();
                    wait_for_entries();
                    __syncwarp(of_row);
#pragma unroll 1
                    for (int left = min(n - i, (int)slots), at = 0; left > 0; left -= 4, at += 32) add(list + at, left);
                }
            }
        }
        __syncwarp();
        if (vectors && lane == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(read + p % 2)) : "memory");
        for (unsigned q = 0; q < 2; q++) now[q] = next[q], next[q] = later[q];
        begins(p + 3, later);
    }
    wait_for_entries();
#pragma unroll
    for (unsigned r = 0; r < steps; r++) {
        unsigned row = row0 + r * 4 + group, j = j0 + own * 4;
        if (row >= rows) break;
        float* to = c + (size_t)row * k + j;
        if (vectors) {
            if (j < k) *(float4*)to = sum[r];
            continue;
        }
        if (j < k) to[0] = sum[r].x;
        if (j + 1 < k) to[1] = sum[r].y;
        if (j + 2 < k) to[2] = sum[r].z;
        if (j + 3 < k) to[3] = sum[r].w;
    }
}
