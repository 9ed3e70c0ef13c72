// The rungs of gemm.cu that copy to shared memory past the registers: cp.async,
// from compute capability 8.0 on.

// Multiplies a tile that is inside aligned matrices, k in steps of 16:
// nothing is asked on the way. Two more steps are in flight while one is
// multiplied: B past the registers, A through them, where it is transposed.
// The barrier stands before the last product of a step, so that the first row
// of the next one is read behind it.
//
// A serpentine through the 8 x 8 products shares a register between each and
// the one before, which then reads one less from the register file. By columns,
// because the assembler then finds banks with 171 conflicts in 1024 products;
// by rows, with the same code otherwise, it leaves 603.
template <bool serpentine> static __device__ void inside(const Problem& p) {
    constexpr int depth = 16, held = 3, width = 132, stage = depth * (width + 128);
    Place tile = corner<128, 128>(p);
    unsigned tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
    unsigned row = warp / 4 * 64 + lane % 16 / 2 * 4, column = warp % 4 * 32 + (lane % 2 + lane / 16 * 2) * 4;
    const float* a = p.a + (size_t)(tile.row + tid / 4) * p.lda + tid % 4 * 4;
    size_t a_down = (size_t)64 * p.lda;
    size_t b_down = (size_t)8 * p.ldb;
    const float* b = p.b + (size_t)warp * p.ldb + tile.column + lane * 4;
    unsigned a_at = tid % 4 * 4 * width + tid / 4, b_at = depth * width + tid / 32 * 128 + tid % 32 * 4;
    float4 moving[2];
    float sums[8][8] = {}, ra[2][8], rb[2][8];
    auto load = [&](unsigned to) {
        float* s = stages + to;
        const float* from = a;
#pragma unroll
        for (int e = 0; e < 2; e++, from += a_down) moving[e] = *(const float4*)from;
        from = b;
#pragma unroll
        for (int e = 0; e < 2; e++, from += b_down) copy16(s + b_at + e * 1024, from);
        a += depth, b = from;
    };
    auto keep = [&](unsigned to) {
        float* s = stages + to + a_at;
#pragma unroll
        for (int e = 0; e < 2; e++) {
            s[e * 64] = moving[e].x, s[e * 64 + width] = moving[e].y;
            s[e * 64 + 2 * width] = moving[e].z, s[e * 64 + 3 * width] = moving[e].w;
        }
    };
    auto multiply = [&](int from) {
#pragma unroll
        for (int c = 0; c < 8; c++)
#pragma unroll
            for (int i = 0; i < 8; i++) {
                int r = serpentine && c % 2 ? 7 - i : i;
                sums[r][c] += ra[from][r] * rb[from][c];
            }
    };
    unsigned steps = p.k / depth;
#pragma unroll
    for (int s = 0; s < held - 1; s++) {
        if (s < steps) { load(s * stage); keep(s * stage); }
        commit();
    }
    unsigned from = 0, to = (held - 1) * stage;
    wait<held - 2>();
    __syncthreads();
    read8(ra[0], stages + row, 32);
    read8(rb[0], stages + depth * width + column, 16);
    for (unsigned s = 0; s < steps; s++) {
        bool more = s + held - 1 < steps;
        if (more) load(to);
        commit();
        const float *as = stages + from + row, *bs = stages + from + depth * width + column;
        unsigned next = from + stage == held * stage ? 0 : from + stage;
#pragma unroll
        for (int j = 0; j < depth; j++) {
            if (j + 1 < depth) {
                read8(ra[(j + 1) % 2], as + (j + 1) * width, 32);
                read8(rb[(j + 1) % 2], bs + (j + 1) * 128, 16);
            } else {
                if (more) keep(to);
                wait<held - 2>();
                __syncthreads();
                read8(ra[0], stages + next + row, 32);
                read8(rb[0], stages + next + depth * width + column, 16);
            }
            multiply(j % 2);
        }
        to = from;
        from = next;
    }
    store_tile(p, {tile.row + row, tile.column + column}, 32, 16, sums);
}

// Tiles at an edge, a k that is no multiple of 16 and matrices that are not
// aligned go the way of gemm_warp_tile.
template <bool serpentine> static __device__ void pipelined(const Problem& p) {
    Place tile = corner<128, 128>(p);
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned row = warp / 4 * 64 + lane % 16 / 2 * 4, column = warp % 4 * 32 + (lane % 2 + lane / 16 * 2) * 4;
    bool aligned = ((size_t)p.a % 16 | (size_t)p.b % 16 | p.lda % 4 | p.ldb % 4 | p.k % 16) == 0;
    if (aligned && p.k > 0 && tile.row + 128 <= p.m && tile.column + 128 <= p.n) inside<serpentine>(p);
    else prefetched<132, 32, 16>(p, row, column);
}

// Copies go to shared memory past the registers, two steps ahead.
extern "C" __global__ void __launch_bounds__(256, 2) gemm_cp_async(MATRICES) {
    pipelined<false>(PROBLEM);
}

// The products of a thread are taken in a serpentine: neighbours share a
// register, and fewer of them wait for one register bank.
extern "C" __global__ void __launch_bounds__(256, 2) gemm_serpentine(MATRICES) {
    pipelined<true>(PROBLEM);
}

// A small tile of D whose block is cut along k: each slice of warps takes its
// share of every step, and the first adds what the others have. All copies
// are of cp.async, A float by float into columns; a thread has r x c elements.
template <int rows, int columns, int depth, int slices, int r, int c>
static __device__ void sliced(const Problem& p) {
    constexpr int across = columns / (4 * c), slice = 32 * across, threads = slice * slices, held = 3, step = depth / slices;
    constexpr int width = rows + 4, stage = depth * (width + columns), vector = r < 4 ? r : 4;
    constexpr int a_down = threads / 8 < rows ? threads / 8 : rows, a_right = threads / a_down; // of A in one pass
    constexpr int b_down = threads * 4 / columns;
    static_assert(rows == 8 * r && depth % a_right == 0 && depth % b_down == 0 && rows % a_down == 0, "");
    unsigned tid = threadIdx.x, lane = tid % 32, mine = tid / slice;
    unsigned row = lane % 16 / 2 * vector, column = tid % slice / 32 * 4 * c + (lane % 2 + lane / 16 * 2) * 4;
    unsigned a_row = tid / 8 % a_down, a_column = tid % 8 + tid / 8 / a_down * 8;
    unsigned b_row = tid * 4 / columns, b_column = tid * 4 % columns;
    Place tile = corner<rows, columns>(p);
    float sums[r][c] = {};
    auto load = [&](float* s, unsigned i) {
#pragma unroll
        for (int x = 0; x < rows; x += a_down)
#pragma unroll
            for (int y = 0; y < depth; y += a_right) {
                unsigned at = tile.row + a_row + x, k = i + a_column + y;
                bool is = at < p.m && k < p.k;
                copy4(s + (a_column + y) * width + a_row + x, is ? p.a + (size_t)at * p.lda + k : p.a, is);
            }
#pragma unroll
        for (int y = 0; y < depth; y += b_down) {
            unsigned k = i + b_row + y, at = tile.column + b_column;
            const float* from = p.b + (size_t)k * p.ldb + at;
            float* to = s + depth * width + (b_row + y) * columns + b_column;
            if (k < p.k && at < p.n && p.n - at >= 4 && (size_t)from % 16 == 0) copy16(to, from);
            else
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    bool is = k < p.k && at + j < p.n;
                    copy4(to + j, is ? from + j : p.b, is);
                }
        }
    };
    for (int s = 0; s < held - 1; s++) load(stages + s * stage, s * depth), commit();
    unsigned from = 0, to = (held - 1) * stage;
    for (unsigned i = 0; i < p.k; i += depth) {
        wait<held - 2>();
        __syncthreads();
        if (i + (held - 1) * depth < p.k) load(stages + to, i + (held - 1) * depth);
        commit();
        const float *as = stages + from + mine * step * width + row;
        const float *bs = stages + from + depth * width + mine * step * columns + column;
#pragma unroll
        for (int j = 0; j < step; j++) {
            float ra[r], rb[c];
#pragma unroll
            for (int x = 0; x < r; x += vector)
                if (vector == 4) *(float4*)(ra + x) = *(const float4*)(as + j * width + x * 8);
                else *(float2*)(ra + x) = *(const float2*)(as + j * width + x * 8);
#pragma unroll
            for (int y = 0; y < c; y += 4) *(float4*)(rb + y) = *(const float4*)(bs + j * columns + y * 4);
#pragma unroll
            for (int x = 0; x < r; x++)
#pragma unroll
                for (int y = 0; y < c; y++) sums[x][y] += ra[x] * rb[y];
        }
        to = from, from = from + stage == held * stage ? 0 : from + stage;
    }
    wait<0>();
    __syncthreads();
    float* share = stages + tid % slice;
    if (mine > 0)
#pragma unroll
        for (int e = 0; e < r * c; e++) share[((mine - 1) * r * c + e) * slice] = sums[e / c][e % c];
    __syncthreads();
    if (mine > 0) return;
#pragma unroll
    for (int s = 0; s < slices - 1; s++)
#pragma unroll
        for (int e = 0; e < r * c; e++) sums[e / c][e % c] += share[(s * r * c + e) * slice];
#pragma unroll
    for (int x = 0; x < r; x++)
#pragma unroll
        for (int y = 0; y < c; y += 4)
            store4(p, tile.row + row + x / vector * vector * 8 + x % vector, tile.column + column + y * 4,
                   {sums[x][y], sums[x][y + 1], sums[x][y + 2], sums[x][y + 3]});
}

// A block's warps share 32 x 64 elements of D and cut k in four: a small D
// still fills the GPU.
extern "C" __global__ void __launch_bounds__(256, 2) gemm_sliced_k(MATRICES) {
    sliced<32, 64, 32, 4, 4, 8>(PROBLEM);
}

// Smaller tiles yet, for a D of a few hundred rows and columns.
extern "C" __global__ void __launch_bounds__(256, 2) gemm_sliced_k_16(MATRICES) {
    sliced<16, 32, 64, 4, 2, 4>(PROBLEM);
}
