// Convolution of float32 volumes and images in registers: a thread has 8 channels by 14
// neighbouring places of a row under filters of 3 x 3 a depth.
//
// A multiplication reads three registers from two banks, of even and of odd numbers: one a
// cycle is issued only if a bank gives one register and the third is kept from the
// multiplication before. So sums of a filter lie in the bank that the filter is not in, and
// an element of x meets eight filters in turn. The assembler keeps neither by itself:
// see `pin`.
//
// Four warps bring stages of x and of the filters, and two warpgroups multiply. Each
// warpgroup takes an equal share of the stages of all tiles, which may begin and end within a
// tile: its sums are then handed to the next.

#include "conv2d.cuh"

constexpr unsigned places = 14, patch_rows = 4, patches = 8, chunk = 4, channels = 32, taps = 9; // of a patch, a tile and a stage
constexpr unsigned window = places + 2, pitch = window + 4, box_rows = patch_rows + 2;                       // rows are an odd number of vectors apart, so that they start at other banks
constexpr unsigned box_floats = box_rows * pitch, patch_floats = chunk * box_floats, filter_floats = chunk * taps * channels, stage_floats = patches * patch_floats + filter_floats;
constexpr unsigned multiplying = 2, warpgroup = 128, bringing = 64, vectors = 8 * places / 4; // warpgroups; threads of one, and those that bring its stages; sums of a thread
static_assert(window == 16 && pitch / 4 % 2 == 1 && stage_floats % 4 == 0);

// How a call is cut: fourteens of fourteens.go. `tiles` are those of a depth of y: of
// patches, of which `across` are in a row and `down` in a column, and of `blocks` of
// 32 channels of y. `all` are the stages of all tiles, shared by `workers`,
// and `stages` those that a ring has room for.
struct Fourteens { unsigned across, down, tiles, blocks, chunks, all, workers, stages; };

static __device__ unsigned address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
static __device__ void barrier_init(unsigned barrier, unsigned arrivals) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals)); }
static __device__ void barrier_arrive(unsigned barrier) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory"); }
static __device__ void barrier_wait(unsigned barrier, unsigned phase) {
    asm volatile("{.reg .pred done; again: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], %1; @!done bra again;}" ::"r"(barrier), "r"(phase) : "memory");
}

// The stages of a ring: a barrier counts the threads that have filled one, and a second one
// the warps that have multiplied it.
struct Ring {
    float* floats;
    unsigned barriers, stages, stage = 0, phase = 0;

    __device__ Ring(float* memory, unsigned group, unsigned stages)
        : floats(memory + group * stages * stage_floats), barriers(address(memory + multiplying * stages * stage_floats) + group * stages * 16), stages(stages) {}
    __device__ void init() const {
        for (unsigned i = 0; i < stages; i++) barrier_init(barriers + i * 16, bringing), barrier_init(barriers + i * 16 + 8, warpgroup / 32);
    }
    __device__ void next() { if (++stage == stages) stage = 0, phase ^= 1; }
    __device__ float* at() const { return floats + stage * stage_floats; }
    __device__ unsigned filled() const { return barriers + stage * 16; }
    __device__ unsigned freed() const { return barriers + stage * 16 + 8; }
};

// The depths of filters that meet x, of a depth of y, or one that meets padding.
static __device__ unsigned first_depth(const Shape& s, unsigned od) { return min((int)s.t - 1, max(0, s.depth_padding - (int)od)); }
static __device__ unsigned depths(const Shape& s, unsigned od) {
    return max(1, min((int)s.t, (int)s.d + s.depth_padding - (int)od) - (int)first_depth(s, od));
}

// A part of a tile: stages from one on to before another, of so many.
struct Part {
    unsigned od, tile, from, to, of;

    // The last part of stages `begin` to `end`, whose end becomes its begin.
    __device__ Part(const Shape& s, const Fourteens& f, unsigned begin, unsigned& end) {
        unsigned before = 0;
        for (od = 0;; od++) {
            of = depths(s, od) * f.chunks;
            unsigned next = before + f.tiles * of;
            if (end <= next) break;
            before = next;
        }
        tile = (end - 1 - before) / of;
        unsigned start = before + tile * of;
        from = max(begin, start) - start, to = end - start, end = start + from;
    }
};

// Where a patch is in y, and the first of its channels.
struct Patch {
    unsigned image, row, column, channel;

    __device__ Patch(const Fourteens& f, unsigned tile, unsigned i) {
        channel = tile % f.blocks * channels;
        unsigned p = tile / f.blocks * patches + i;
        column = p % f.across * places, p /= f.across;
        row = p % f.down * patch_rows, image = p / f.down;
    }
};

static __device__ unsigned first_stage(const Fourteens& f, unsigned worker) { return (unsigned long long)f.all * worker / f.workers; }

// Filters as (block of channels of y, depth, channel of x, tap, channel of y), zeros beyond the
// last channels, and flags of workers that have handed over nothing.
extern "C" __global__ void conv3d_fourteens(const float* __restrict__ w, float* __restrict__ to, unsigned* __restrict__ flags, Shape s, Fourteens f, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < f.workers) flags[i] = 0;
    if (i >= n) return;
    unsigned all = f.chunks * chunk, tap = i / channels % taps, c = i / channels / taps % all, t = i / channels / taps / all % s.t, k = i / channels / taps / all / s.t * channels + i % channels;
    to[i] = k < s.k && c < s.c ? w[(size_t)k * s.wk + (size_t)c * s.wc + (size_t)t * s.wt + tap / 3 * s.wr + tap % 3 * s.ws] : 0;
}

// Never runs. The sums of four channels are one vector, the second first, so that the
// assembler puts each into the bank that its filter is not in. The filters are read, so that it
// does not finish with one after the other: it would turn the order of multiplications around.
static __device__ __forceinline__ void pin(float (&sum)[8][places], const float (&f)[8], unsigned at) {
#pragma unroll
    for (unsigned i = 0; i < 8; i += 4)
#pragma unroll
        for (unsigned j = 0; j < places; j++)
            asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "+f"(sum[i + 1][j]), "+f"(sum[i][j]), "+f"(sum[i + 3][j]), "+f"(sum[i + 2][j]) : "r"(at));
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4}; st.shared.v4.f32 [%0+16], {%5, %6, %7, %8};"
                 ::"r"(at), "f"(f[0]), "f"(f[1]), "f"(f[2]), "f"(f[3]), "f"(f[4]), "f"(f[5]), "f"(f[6]), "f"(f[7]));
}

// Brings the stages of a worker: two warps, each four patches. Half a warp has a row of a patch.
static __device__ void bring(const float* __restrict__ x, const float* __restrict__ filters, const Shape& s, const Fourteens& f, unsigned worker, Ring ring) {
    constexpr unsigned pairs = patches / 2 * (box_rows / 2); // of rows, of a warp
    unsigned lane = threadIdx.x % 32, second = threadIdx.x / 32 % 2, begin = first_stage(f, worker), end = first_stage(f, worker + 1);
    unsigned to_x = second * (patches / 2) * patch_floats + lane / 16 * pitch + lane % 16, to_f = (second * 32 + lane) * 4;
    while (end > begin) {
        Part part(s, f, begin, end);
        int at[pairs];
        unsigned inside = 0; // bits of the elements that are in x
#pragma unroll
        for (unsigned e = 0; e < pairs; e++) {
            Patch patch(f, part.tile, second * (patches / 2) + e / 3);
            int row = (int)(patch.row + e % 3 * 2 + lane / 16) - s.padding, column = (int)(patch.column + lane % 16) - s.padding;
            bool in = patch.image < s.images && row >= 0 && row < (int)s.h && column >= 0 && column < (int)s.w;
            at[e] = in ? patch.image * s.xn + row * s.xh + column * s.xw : 0, inside |= in ? 1u << e : 0;
        }
        unsigned t = first_depth(s, part.od) + part.from / f.chunks, i = part.from % f.chunks;
        const float* of_w = filters + ((size_t)(part.tile % f.blocks * s.t + t) * f.chunks + i) * filter_floats + to_f;
        for (unsigned n = part.from; n < part.to; n++, of_w += filter_floats) {
            int depth = (int)(part.od + t) - s.depth_padding;
            bool deep = depth >= 0 && depth < (int)s.d;
            const float* of_x = x + (size_t)(i * chunk) * s.xc + (deep ? (size_t)depth * s.xd : 0);
            barrier_wait(ring.freed(), ring.phase ^ 1);
            unsigned to = address(ring.at() + to_x);
#pragma unroll 1
            for (unsigned c = i * chunk; c < (i + 1) * chunk; c++, of_x += s.xc, to += box_floats * 4) {
                unsigned bits = deep && c < s.c ? inside : 0;
                const float* from = bits ? of_x : x;
#pragma unroll
                for (unsigned e = 0; e < pairs; e++)
                    asm volatile("{.reg .pred in; .reg .u32 bit, bytes; and.b32 bit, %2, %3; setp.ne.u32 in, bit, 0; selp.u32 bytes, 4, 0, in; cp.async.ca.shared.global [%0], [%1], 4, bytes;}"
                                 ::"r"(to + (e / 3 * patch_floats + e % 3 * 2 * pitch) * 4), "l"(from + at[e]), "r"(bits), "r"(1u << e) : "memory");
            }
            to = address(ring.at() + patches * patch_floats + to_f);
#pragma unroll
            for (unsigned e = 0; e < filter_floats; e += bringing * 4)
                if (filter_floats % (bringing * 4) == 0 || e + to_f < filter_floats) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + e * 4), "l"(of_w + e) : "memory");
            asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(ring.filled()) : "memory");
            if (++i == f.chunks) i = 0, t++;
            ring.next();
        }
    }
}

// The patch, its row and the eight channels of a thread. Lanes are dealt so that lane xor 1
// reads the same filters and lane xor 2 the same pixels: a read of 16 bytes takes two
// wavefronts. Half a warp has a patch. It is computed where it is used: registers are full
// between.
struct Mine {
    unsigned tid, patch, row, channel;

    __device__ Mine() {
        asm volatile("mov.u32 %0, %%tid.x;" : "=r"(tid));
        tid %= warpgroup;
        patch = tid / 16, row = tid & 1 | tid >> 1 & 2, channel = (tid >> 1 & 1 | tid >> 2 & 2) * 8;
    }
    __device__ unsigned of_x() const { return patch * patch_floats + row * pitch; }
    __device__ unsigned of_filters() const { return patches * patch_floats + channel; }
};

extern "C" __global__ void __launch_bounds__(multiplying * (warpgroup + bringing), 1)
conv3d_fourteens_2(const float* __restrict__ x, const float* __restrict__ filters, const float* __restrict__ bias, float* __restrict__ y, float* __restrict__ parts, unsigned* __restrict__ flags, Shape s, Fourteens f, unsigned never) {
    extern __shared__ __align__(16) float memory[];
    unsigned tid = threadIdx.x, brings = tid >= multiplying * warpgroup, group = __shfl_sync(~0u, brings ? (tid - multiplying * warpgroup) / bringing : tid / warpgroup, 0);
    Ring ring(memory, group, f.stages);
    if (tid == 0)
        for (unsigned i = 0; i < multiplying; i++) Ring(memory, i, f.stages).init();
    __syncthreads();
    unsigned worker = blockIdx.x + gridDim.x * group, begin = first_stage(f, worker), end = first_stage(f, worker + 1);
    if (worker >= f.workers) return;
    if (__shfl_sync(~0u, brings, 0)) return bring(x, filters, s, f, worker, ring);

    float sum[8][places], v[window], of[3][8];
    auto read_x = [&](const float* from, unsigned i) {
        float4 a = *(const float4*)(from + i);
        v[i] = a.x, v[i + 1] = a.y, v[i + 2] = a.z, v[i + 3] = a.w;
    };
    auto read_filters = [&](const float* from, unsigned q) {
        float4 a = *(const float4*)from, b = *(const float4*)(from + 4);
        of[q][0] = a.x, of[q][1] = a.y, of[q][2] = a.z, of[q][3] = a.w, of[q][4] = b.x, of[q][5] = b.y, of[q][6] = b.z, of[q][7] = b.w;
    };
    // Of neighbouring elements of x one meets the filters from the first on, one from the last
    // on: where the element changes, the filter stays.
    auto multiply = [&](unsigned q, unsigned j) {
#pragma unroll
        for (unsigned n = 0; n < 8; n++) {
            unsigned i = (q + j) % 2 ? 7 - n : n;
            sum[i][j] += of[q][i] * v[q + j];
        }
    };
    while (end > begin) {
        Part part(s, f, begin, end);
#pragma unroll
        for (unsigned i = 0; i < 8; i++)
#pragma unroll
            for (unsigned j = 0; j < places; j++) sum[i][j] = 0;
        barrier_wait(ring.filled(), ring.phase);
        const float *row_x = ring.at() + Mine().of_x(), *row_f = ring.at() + Mine().of_filters();
#pragma unroll
        for (unsigned i = 0; i < window; i += 4) read_x(row_x, i);
        read_filters(row_f, 0);
        for (unsigned n = part.from; n < part.to; n++) {
            unsigned freed = ring.freed(), left = chunk;
#pragma unroll 1
            do {
#pragma unroll
                for (unsigned r = 0; r < 3; r++) {
                    // The next row. Its elements of x replace those of this row after the last
                    // multiplication with them. The last row reads its own elements again.
                    const float* next_f = row_f + 3 * channels;
                    row_x += r == 2 ? (box_rows - 2) * pitch : pitch;
                    if (r == 2 && --left == 0) {
                        const float* here = ring.at();
                        ring.next();
                        if (n + 1 < part.to) here = ring.at(), barrier_wait(ring.filled(), ring.phase);
                        row_x = here + Mine().of_x(), next_f = here + Mine().of_filters();
                    }
#pragma unroll
                    for (unsigned q = 0; q < 3; q++) {
                        read_filters(q < 2 ? row_f + (q + 1) * channels : next_f, (q + 1) % 3);
#pragma unroll
                        for (unsigned j = 0; j < places; j++) {
                            multiply(q, j);
                            if (q == 2 && (j % 4 == 1 || j == places - 1)) read_x(row_x, (j + 2) / 4 * 4);
                        }
                        if (never) pin(sum, of[q], never);
                    }
                    row_f = next_f;
                }
            } while (left);
            __syncwarp();
            if (Mine().tid % 32 == 0) barrier_arrive(freed);
        }

        // Sums of the worker before, and sums for the one behind. A worker begins with its last
        // part: the one before has long handed its sums over when they are needed.
        if (part.from > 0) {
            unsigned ready;
            do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(ready) : "l"(flags + worker - 1) : "memory");
            while (!ready);
            const float4* from = (const float4*)parts + (size_t)(worker - 1) * vectors * warpgroup + Mine().tid;
#pragma unroll
            for (unsigned i = 0; i < 8; i += 4)
#pragma unroll
                for (unsigned j = 0; j < places; j++) {
                    float4 a = __ldcg(from + (i / 4 * places + j) * warpgroup);
                    sum[i + 1][j] += a.x, sum[i][j] += a.y, sum[i + 3][j] += a.z, sum[i + 2][j] += a.w;
                }
        }
        if (part.to < part.of) {
            float4* to = (float4*)parts + (size_t)worker * vectors * warpgroup + Mine().tid;
#pragma unroll
            for (unsigned i = 0; i < 8; i += 4)
#pragma unroll
                for (unsigned j = 0; j < places; j++) __stcg(to + (i / 4 * places + j) * warpgroup, make_float4(sum[i + 1][j], sum[i][j], sum[i + 3][j], sum[i + 2][j]));
            __threadfence();
            asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "n"(warpgroup) : "memory");
            if (Mine().tid == 0) asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flags + worker), "r"(1) : "memory");
            continue;
        }
        Mine mine;
        Patch at(f, part.tile, mine.patch);
        unsigned row = at.row + mine.row, channel = at.channel + mine.channel;
        if (at.image >= s.images || row >= s.oh) continue;
        float* to = y + (size_t)at.image * s.yn + (size_t)channel * s.yk + (size_t)part.od * s.yd + (size_t)row * s.yh + (size_t)at.column * s.yw;
        bool whole = s.yw == 1 && at.column + places <= s.ow && (s.yh | s.yd | s.yk | s.yn) % 2 == 0 && (size_t)y % 8 == 0;
#pragma unroll
        for (unsigned i = 0; i < 8; i++, to += s.yk) {
            if (channel + i >= s.k) break;
#pragma unroll
            for (unsigned j = 0; j < places; j++) sum[i][j] = finish(sum[i][j], bias, channel + i, s);
            if (whole) {
#pragma unroll
                for (unsigned j = 0; j < places; j += 2) *(float2*)(to + j) = make_float2(sum[i][j], sum[i][j + 1]);
            } else {
#pragma unroll
                for (unsigned j = 0; j < places; j++)
                    if (at.column + j < s.ow) to[(size_t)j * s.yw] = sum[i][j];
            }
        }
    }
}
