// One loop over k for the later rungs: threads of 8 x 16 or 8 x 8 elements, any
// size and alignment on the fast way, and small code: a loop of two or four k is
// 4 to 9 KB. One of 16 k, 35 KB, costs a tenth of the speed of a long product
// and half of a short one, because the instructions do not stay in their cache.

// A block's tile and how it is cut: warps down and across, then slices along k. A
// thread has rows x columns elements in groups of four, a warp is 4 or 8 threads
// down. A step along k is so deep, so many are held in shared memory, and so many
// k are written out in the loop.
template <int warps_down, int warps_across, int slices_, int down, int rows_, int columns_, int depth_, int held_, int unroll_>
struct Shape {
    static constexpr int slices = slices_, across = 32 / down, rows = rows_, columns = columns_, depth = depth_, held = held_;
    static constexpr int unroll = unroll_;
    static constexpr int tile_rows = warps_down * down * rows, tile_columns = warps_across * across * columns;
    static constexpr int down_apart = down * 4, across_apart = across * 4; // groups of four of a thread
    static constexpr int slice = warps_down * warps_across * 32, threads = slice * slices, share = depth / slices;
    static constexpr int width = tile_rows + 4, stage = depth * (width + tile_columns); // in floats; rows of A are longer against conflicts
    static constexpr int a_threads = depth / 4, a_down = threads / a_threads, b_threads = tile_columns / 4, b_down = threads / b_threads;

    // Where a thread's elements start in the tile. Of two neighbouring lanes,
    // and of two that are two apart, one address is the same.
    static __device__ Place mine() {
        unsigned warp = threadIdx.x % slice / 32, lane = threadIdx.x % 32;
        unsigned y = lane % 16 / 2 % down, x = lane % 2 + lane / (2 * down) * 2;
        return {warp / warps_across * (down * rows) + y * 4, warp % warps_across * (across * columns) + x * 4};
    }
};

// Reads n floats in groups of four that lie apart.
template <int n> static __device__ void read(float (&to)[n], const float* from, int apart) {
#pragma unroll
    for (int i = 0; i < n; i += 4) *(float4*)(to + i) = *(const float4*)(from + i / 4 * apart);
}

// Copies one step along k to shared memory: B past the registers, A through
// them, where it is transposed. A tile that lies inside of aligned matrices asks
// nothing on the way; at an edge, what is outside counts as 0 and is not read.
template <class S> struct Copier {
    static constexpr int a_passes = S::tile_rows / S::a_down, b_passes = S::depth / S::b_down;
    const float *a, *b;
    size_t a_down, b_down;
    unsigned a_row, a_column, b_row, b_column, a_at, b_at;
    bool whole;
    float4 moving[a_passes];

    __device__ Copier(const Problem& p, Place tile) {
        unsigned tid = threadIdx.x;
        a_row = tile.row + tid / S::a_threads, a_column = tid % S::a_threads * 4;
        b_row = tid / S::b_threads, b_column = tile.column + tid % S::b_threads * 4;
        a = p.a + (size_t)a_row * p.lda + a_column, b = p.b + (size_t)b_row * p.ldb + b_column;
        a_down = (size_t)S::a_down * p.lda, b_down = (size_t)S::b_down * p.ldb;
        whole = ((size_t)p.a % 16 | (size_t)p.b % 16 | p.lda % 4 | p.ldb % 4) == 0 && tile.row + S::tile_rows <= p.m && tile.column + S::tile_columns <= p.n;
        a_at = a_column * S::width + tid / S::a_threads, b_at = S::depth * S::width + tid * 4;
    }

    // Starts to load the step at k = i.
    __device__ void load(const Problem& p, float* stage, unsigned i) {
        if (whole && i + S::depth <= p.k) {
            const float* from = a;
#pragma unroll
            for (int e = 0; e < a_passes; e++, from += a_down) moving[e] = *(const float4*)from;
            from = b;
#pragma unroll
            for (int e = 0; e < b_passes; e++, from += b_down) copy16(stage + b_at + e * S::threads * 4, from);
        } else load_edge(p, stage, i);
        a += S::depth, b += b_passes * b_down;
    }

    __device__ void load_edge(const Problem& p, float* stage, unsigned i) {
#pragma unroll
        for (int e = 0; e < a_passes; e++) {
            bool there = a_row + e * S::a_down < p.m;
            const float* from = a + e * a_down;
            unsigned k = i + a_column;
            moving[e].x = there && k < p.k ? from[0] : 0, moving[e].y = there && k + 1 < p.k ? from[1] : 0;
            moving[e].z = there && k + 2 < p.k ? from[2] : 0, moving[e].w = there && k + 3 < p.k ? from[3] : 0;
        }
#pragma unroll
        for (int e = 0; e < b_passes; e++)
#pragma unroll
            for (int j = 0; j < 4; j++) {
                bool inside = b_column + j < p.n && i + b_row + e * S::b_down < p.k;
                copy4(stage + b_at + e * S::threads * 4 + j, inside ? b + e * b_down + j : p.b, inside);
            }
    }

    // Stores what was loaded of A.
    __device__ void keep(float* stage) {
        float* s = stage + a_at;
#pragma unroll
        for (int e = 0; e < a_passes; e++) {
            s[e * S::a_down] = moving[e].x, s[e * S::a_down + S::width] = moving[e].y;
            s[e * S::a_down + 2 * S::width] = moving[e].z, s[e * S::a_down + 3 * S::width] = moving[e].w;
        }
    }
};

// Adds the outer product of a thread's rows of A and columns of B. Down a
// column and up the next: each product shares a register with the one before.
template <int rows, int columns>
static __device__ void serpentine(float (&sums)[rows][columns], const float (&a)[rows], const float (&b)[columns]) {
#pragma unroll
    for (int c = 0; c < columns; c++)
#pragma unroll
        for (int i = 0; i < rows; i++) {
            int r = c % 2 ? rows - 1 - i : i;
            sums[r][c] += a[r] * b[c];
        }
}

// Never runs, and asks the assembler for four sums in one vector register, in an
// order that puts each into the register bank that its element of A is not in.
// A product then reads one register of either bank, and its element of B is
// that of the product before. Left alone, the assembler finds 17 to 173 conflicts
// in 256 products of the same loop, so 15.
template <int rows, int columns> static __device__ void separate_banks(float (&sums)[rows][columns]) {
    unsigned at = (unsigned)__cvta_generic_to_shared(stages + threadIdx.x * 4);
#pragma unroll
    for (int r = 0; r < rows; r += 4)
#pragma unroll
        for (int c = 0; c < columns; c++)
            asm volatile("st.shared.v4.f32 [%4], {%0, %1, %2, %3}; ld.shared.v4.f32 {%0, %1, %2, %3}, [%4+16];"
                         : "+f"(sums[r + 1][c]), "+f"(sums[r][c]), "+f"(sums[r + 3][c]), "+f"(sums[r + 2][c]) : "r"(at));
}

// Multiplies a tile: a step is multiplied while others are on their way. The
// barrier stands before the last product of a step, so that the first row of
// the next one is read behind it.
template <class S>
static __device__ void multiply(const Problem& p, Place tile, float (&sums)[S::rows][S::columns]) {
    Place mine = S::mine();
    unsigned share = threadIdx.x / S::slice * S::share;
    unsigned a_mine = share * S::width + mine.row, b_mine = S::depth * S::width + share * S::tile_columns + mine.column;
    constexpr int down = S::down_apart, across = S::across_apart, held = S::held;
    float ra[2][S::rows], rb[2][S::columns];
    unsigned steps = (p.k + S::depth - 1) / S::depth;
    if (steps == 0) return;
    Copier<S> copier(p, tile);
#pragma unroll
    for (int s = 0; s < held - 1; s++) {
        if (s < steps) copier.load(p, stages + s * S::stage, s * S::depth), copier.keep(stages + s * S::stage);
        commit();
    }
    unsigned from = 0, to = (held - 1) * S::stage;
    wait<held - 2>();
    __syncthreads();
    read(ra[0], stages + a_mine, down);
    read(rb[0], stages + b_mine, across);
    for (unsigned s = 0; s < steps; s++) {
        bool more = s + held - 1 < steps;
        if (more) copier.load(p, stages + to, (s + held - 1) * S::depth);
        commit();
        const float *as = stages + from + a_mine, *bs = stages + from + b_mine;
        unsigned next = s + 1 == steps ? from : from + S::stage == held * S::stage ? 0 : from + S::stage; // after the last step what is there
#pragma unroll 1
        for (int j = 0; j < S::share; j += S::unroll) {
#pragma unroll
            for (int u = 0; u < S::unroll; u++) {
                if (u + 1 == S::unroll && j + S::unroll == S::share) {
                    if (more) copier.keep(stages + to);
                    wait<held - 2>();
                    __syncthreads();
                    as = stages + next + a_mine - S::unroll * S::width, bs = stages + next + b_mine - S::unroll * S::tile_columns;
                }
                read(ra[(u + 1) % 2], as + (u + 1) * S::width, down);
                read(rb[(u + 1) % 2], bs + (u + 1) * S::tile_columns, across);
                serpentine(sums, ra[u % 2], rb[u % 2]);
            }
            as += S::unroll * S::width, bs += S::unroll * S::tile_columns;
        }
        if (p.m == 0xffffffff) separate_banks(sums);
        to = from, from = next;
    }
    wait<0>();
}

// Adds the sums of the slices to those of the first, which alone returns true.
template <class S> static __device__ bool add_slices(float (&sums)[S::rows][S::columns]) {
#pragma unroll
    for (int half = S::slices / 2; half > 0; half /= 2) {
        __syncthreads();
        float4* shared = (float4*)stages + threadIdx.x % (half * S::slice);
        unsigned which = threadIdx.x / (half * S::slice);
        if (which == 1)
#pragma unroll
            for (int e = 0; e < S::rows * S::columns; e += 4) shared[e / 4 * half * S::slice] = *(float4*)&sums[e / S::columns][e % S::columns];
        __syncthreads();
        if (which == 0)
#pragma unroll
            for (int e = 0; e < S::rows * S::columns; e += 4) {
                float4 v = shared[e / 4 * half * S::slice];
                float* s = &sums[e / S::columns][e % S::columns];
                s[0] += v.x, s[1] += v.y, s[2] += v.z, s[3] += v.w;
            }
    }
    return threadIdx.x < S::slice;
}

// Stores a tile. One that is inside an aligned D needs no bounds check. The
// guarded stores of any other are 64 KB of code: as a loop they were a few KB, but
// the assembler then put reads of shared memory 8 instructions before their use in
// the loop that multiplies, not 20 (2.6 % of 8192). Small is that loop, through local
// memory, for those whose reads stay where they are.
template <class S, bool small = false> static __device__ void store_sums(const Problem& p, Place tile, const float (&sums)[S::rows][S::columns]) {
    Place mine = S::mine();
    unsigned column = tile.column + mine.column;
    if (p.beta != 0 || ((size_t)p.d % 16 | p.ldc % 4) != 0 || tile.row + S::tile_rows > p.m || tile.column + S::tile_columns > p.n) {
        if constexpr (small) {
            float4 copy[S::rows][S::columns / 4];
#pragma unroll
            for (int r = 0; r < S::rows; r++)
#pragma unroll
                for (int c = 0; c < S::columns; c += 4) copy[r][c / 4] = {sums[r][c], sums[r][c + 1], sums[r][c + 2], sums[r][c + 3]};
#pragma unroll 1
            for (unsigned e = 0; e < S::rows * S::columns / 4; e++) {
                unsigned r = e / (S::columns / 4), c = e % (S::columns / 4);
                store4(p, tile.row + mine.row + r / 4 * S::down_apart + r % 4, column + c * S::across_apart, copy[r][c]);
            }
        } else {
#pragma unroll
            for (int r = 0; r < S::rows; r++)
#pragma unroll
                for (int c = 0; c < S::columns; c += 4)
                    store4(p, tile.row + mine.row + r / 4 * S::down_apart + r % 4, column + c / 4 * S::across_apart, {sums[r][c], sums[r][c + 1], sums[r][c + 2], sums[r][c + 3]});
        }
        return;
    }
    float* to = p.d + (size_t)(tile.row + mine.row) * p.ldc + column;
#pragma unroll
    for (int c = 0; c < S::columns; c += 4) {
        float4 bias = {};
        if (p.bias) {
            const float* from = p.bias + column + c / 4 * S::across_apart;
            bias = {from[0], from[1], from[2], from[3]};
        }
#pragma unroll
        for (int r = 0; r < S::rows; r++) {
            float4 v = {p.alpha * sums[r][c], p.alpha * sums[r][c + 1], p.alpha * sums[r][c + 2], p.alpha * sums[r][c + 3]};
            if (p.bias) v = {relu(v.x + bias.x), relu(v.y + bias.y), relu(v.z + bias.z), relu(v.w + bias.w)};
            *(float4*)(to + (size_t)(r / 4 * S::down_apart + r % 4) * p.ldc + c / 4 * S::across_apart) = v;
        }
    }
}

template <class S> static __device__ void wide(const Problem& p) {
    Place tile = corner<S::tile_rows, S::tile_columns>(p);
    float sums[S::rows][S::columns] = {};
    multiply<S>(p, tile, sums);
    if (add_slices<S>(sums)) store_sums<S>(p, tile, sums);
}

// The first step of the stream that block `block` of so many takes.
static __device__ unsigned first_step(unsigned long long steps, unsigned block, unsigned blocks) { return steps * block / blocks; }

// Takes whole tiles in turn, then a share of the steps of all others, which
// may begin and end within a tile: then the sums are left for stream_k_2.
template <class S> static __device__ void stream_k(const Problem& p, unsigned whole, float* parts) {
    unsigned steps = (p.k + S::depth - 1) / S::depth, across = (p.n + S::tile_columns - 1) / S::tile_columns;
    unsigned tiles = (p.m + S::tile_rows - 1) / S::tile_rows * across;
    unsigned long long all = (unsigned long long)(tiles - whole) * steps;
    unsigned first = first_step(all, blockIdx.x, gridDim.x), begin = first, end = first_step(all, blockIdx.x + 1, gridDim.x);
    for (unsigned tile = blockIdx.x; ; tile += gridDim.x) {
        unsigned from = 0, to = steps;
        if (tile >= whole) {
            if (begin >= end) return;
            tile = whole + begin / steps, from = begin % steps, to = min(from + end - begin, steps);
        }
        Problem part = p;
        part.a += from * S::depth, part.b += (size_t)from * S::depth * p.ldb, part.k = min(p.k, to * S::depth) - from * S::depth;
        Place place = {tile / across * S::tile_rows, tile % across * S::tile_columns};
        float sums[S::rows][S::columns] = {};
        multiply<S>(part, place, sums);
        bool adds = S::slices == 1 || add_slices<S>(sums);
        __syncthreads();
        if (adds && to - from == steps) store_sums<S>(p, place, sums);
        else if (adds) {
            float4* mine = (float4*)parts + ((size_t)blockIdx.x * 2 + (begin != first)) * (S::rows * S::columns / 4 * S::slice) + threadIdx.x;
#pragma unroll
            for (int e = 0; e < S::rows * S::columns; e += 4) mine[e / 4 * S::slice] = *(float4*)&sums[e / S::columns][e % S::columns];
        }
        if (tile >= whole) begin += to - from, tile = whole;
    }
}

// Adds four elements of each thread over the blocks that have left some of
// their tile.
template <class S> static __device__ void stream_k_2(const Problem& p, unsigned whole, const float* parts, unsigned blocks) {
    unsigned steps = (p.k + S::depth - 1) / S::depth, across = (p.n + S::tile_columns - 1) / S::tile_columns;
    unsigned tiles = (p.m + S::tile_rows - 1) / S::tile_rows * across, tile = blockIdx.x, e = blockIdx.y;
    unsigned long long all = (unsigned long long)(tiles - whole) * steps, begin = (unsigned long long)tile * steps;
    unsigned block = begin * blocks / all;
    while (first_step(all, block + 1, blocks) <= begin) block++;
    if (first_step(all, block + 1, blocks) >= begin + steps) return; // one block had all of it
    float4 sum = {};
    for (; block < blocks && first_step(all, block, blocks) < begin + steps; block++) {
        if (first_step(all, block, blocks) == first_step(all, block + 1, blocks)) continue; // had nothing
        bool second = first_step(all, block, blocks) < begin;
        float4 v = ((const float4*)parts)[(((size_t)block * 2 + second) * (S::rows * S::columns / 4) + e) * S::slice + threadIdx.x];
        sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
    }
    Place mine = S::mine();
    unsigned r = e * 4 / S::columns, c = e * 4 % S::columns;
    tile += whole;
    store4(p, tile / across * S::tile_rows + mine.row + r / 4 * S::down_apart + r % 4,
           tile % across * S::tile_columns + mine.column + c / 4 * S::across_apart, sum);
}

#if __CUDA_ARCH__ >= 800
using Wide = Shape<2, 2, 1, 8, 8, 16, 32, 2, 4>;
#else // a block has 64 KB
using Wide = Shape<2, 2, 1, 8, 8, 16, 16, 3, 4>;
#endif

