// Float32 as the sum of parts in fewer bits, whose products the tensor cores add.
//
// Tensor cores cut their sums off and do not round them, always toward zero, so that
// errors grow with k and not with its root. Here they add over a chunk of k alone, into
// sums that begin at 0; threads add those to float32 sums of their own, which rounds. A
// warpgroup has 64 x 256 of these, and a chunk for half of them at a time. In a chunk
// small products come first: only those of first parts are cut off at the height of D.
//
// Infinity is split into 1 and, as the last part, itself, which meets first parts alone:
// these are 0 only for 0, so that D is infinite or NaN where a sum in float32 is.

static __device__ void begin(float (&sums)[128]) {
#pragma unroll
    for (int e = 0; e < 128; e++) sums[e] = 0;
}

// Adds a chunk to half of the sums.
static __device__ void promote(float (&sums)[128], const float (&chunk)[64], int half) {
#pragma unroll
    for (int e = 0; e < 64; e++) sums[half * 64 + e] += chunk[e];
}

// Places in shared memory for 64 k: all parts of A, and all of each half of B's columns.
// For two parts there are two places each, used in turn; for three so for A, and half of
// B is brought while the other half is multiplied.
template <unsigned parts> struct Places {
    Walk w;
    unsigned n; // chunks before this one

    static constexpr unsigned count = parts == 2 ? 6 : 4, bytes = parts * 2 * box;

    __device__ unsigned a() const { return n % 2; }
    __device__ unsigned b(unsigned half) const { return parts == 2 ? 2 + 2 * half + n % 2 : 2 + half; }
    __device__ unsigned phase(unsigned place) const { return (parts == 3 && place >= 2 ? n : n / 2) % 2; }
    __device__ unsigned filled(unsigned place) const { return w.full + place * 8; }
    __device__ unsigned freed(unsigned place) const { return w.empty + place * 8; }
    __device__ unsigned at(unsigned place, unsigned part) const { return address(memory) + place * bytes + part * 2 * box; }
};

struct Maps { const TensorMap *a[3], *b[3]; };

// Brings all parts of a place: of A 128 x 64, of half of B 64 x 128 in two boxes, of
// which this block brings one for both.
template <unsigned parts> static __device__ void bring_parts(Places<parts> p, const Maps& maps, const Result& r) {
    unsigned rank = rank_in_cluster();
    auto open = [&](unsigned place) { barrier_wait(p.freed(place), p.phase(place) ^ 1), barrier_expect(p.filled(place), p.bytes); };
    for (unsigned t = blockIdx.x / cluster; t < tiles(r); t += gridDim.x / cluster) {
        Tile tile = place(t, r);
        for (unsigned i = 0; i < r.k; i += 64, p.n++) {
            open(p.a());
#pragma unroll
            for (int part = 0; part < parts; part++) copy_box(p.at(p.a(), part), *maps.a[part], i, tile.row + rank * 128, p.filled(p.a()));
            for (unsigned half = 0; half < 2; half++) {
                open(p.b(half));
#pragma unroll
                for (int part = 0; part < parts; part++)
                    copy_box_to(p.at(p.b(half), part) + rank * box, *maps.b[part], tile.column + half * 128 + rank * 64, i, p.filled(p.b(half)), 3);
            }
        }
    }
}

static __device__ void wgmma_parts(const Places<3>&, float (&d)[64], unsigned long long a, unsigned long long b, int add) { wgmma_bf16(d, a, b, add); }
static __device__ void wgmma_parts(const Places<2>&, float (&d)[64], unsigned long long a, unsigned long long b, int add) { wgmma_f16(d, a, b, add); }

static __device__ float power(int exponent) { return __uint_as_float((exponent + 127) << 23); }

// By which power of two a row or column is scaled whose largest number has these bits:
// up to 2^14 and more.
static __device__ int scale(unsigned most) { return min(126, 14 + 127 - int(most >> 23)); }

// Takes the scales back, in two steps, as one may be none that float32 has. There are
// bits for each row and column of whole tiles.
static __device__ void unscale(float (&sums)[128], const unsigned* rows, const unsigned* columns, unsigned row, unsigned column) {
    unsigned warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    rows += row + warp * 16 + lane / 4, columns += column + lane % 4 * 2;
    int of_row[2] = {scale(rows[0]), scale(rows[8])};
#pragma unroll
    for (int e = 0; e < 128; e++) {
        int exponent = -of_row[e / 2 % 2] - scale(columns[e / 4 * 8 + e % 2]), half = exponent / 2;
        sums[e] = sums[e] * power(half) * power(exponent - half);
    }
}

// Multiplies 64 rows of the tile. Two parts are of scaled rows and columns.
template <unsigned parts> static __device__ void multiply_parts(Places<parts> p, Outlet<float, 32, 0> out, const unsigned* rows, const unsigned* columns, const Result& r) {
    float sums[128], chunk[64];
    unsigned group = warpgroup();
    constexpr unsigned of_a[] = {2, 1, 0, 1, 0, 0}, of_b[] = {0, 1, 2, 0, 1, 0}; // the last three are those of two parts
    constexpr int first = parts == 2 ? 3 : 0;
    for (unsigned t = blockIdx.x / cluster; t < tiles(r); t += gridDim.x / cluster) {
        begin(sums);
        for (unsigned i = 0; i < r.k; i += 64, p.n++) {
            barrier_wait(p.filled(p.a()), p.phase(p.a()));
#pragma unroll
            for (int half = 0; half < 2; half++) {
                unsigned b = p.b(half);
                barrier_wait(p.filled(b), p.phase(b));
                wgmma_fence();
#pragma unroll
                for (int q = first; q < 6; q++)
#pragma unroll
                    for (int j = 0; j < 4; j++)
                        wgmma_parts(p, chunk, tile_at(p.at(p.a(), of_a[q]) + group * box + j * 32, 1, 1024), tile_at(p.at(b, of_b[q]) + j * 2048, box, 1024), q > first || j);
                wgmma_commit();
                wgmma_wait<0>();
                release(p.freed(b));
                if (half) release(p.freed(p.a()));
                promote(sums, chunk, half);
            }
        }
        Tile tile = place(t, r);
        unsigned row = tile.row + rank_in_cluster() * 128 + group * 64;
        if (parts == 2) unscale(sums, rows, columns, row, tile.column);
        store16(out, sums, row, tile.column);
    }
    store_wait<0>();
}

template <unsigned parts>
static __device__ void product_of_parts(const Maps& maps, const unsigned* rows, const unsigned* columns, const TensorMap& c, const TensorMap& d, const Result& r) {
    using P = Places<parts>;
    __shared__ __align__(8) unsigned long long barriers[2 * P::count + 2];
    if (threadIdx.x == 0) prefetch(*maps.a[0]), prefetch(*maps.b[0]), prefetch(d);
    Walk w = start<P::count>(barriers);
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x < 32 && elected()) bring_parts(P{w, 0}, maps, r);
        __syncwarp();
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        multiply_parts(P{w, 0}, Outlet<float, 32, 0>(c, d, r, P::count * P::bytes, w), rows, columns, r);
    }
    cluster_sync();
}

// Splits v into three bfloat16 numbers.
static __device__ void split(float v, __nv_bfloat16& first, __nv_bfloat16& second, __nv_bfloat16& third) {
    bool infinite = isinf(v);
    first = v;
    if (isinf(float(first))) first = infinite ? __float2bfloat16_rn(copysignf(1, v)) : __float2bfloat16_rz(v);
    float rest = infinite ? 0 : v - float(first);
    second = rest;
    third = infinite ? v : rest - float(second);
}

// Splits v, scaled, into two float16 numbers.
static __device__ void split(float v, __half& first, __half& second) {
    bool infinite = isinf(v);
    first = infinite ? copysignf(1, v) : v;
    second = infinite ? v : v - float(first);
}

// Bits of |v|, which are in the order of numbers, and 0 for what is not finite.
static __device__ unsigned magnitude(float v) {
    unsigned bits = __float_as_uint(v) & 0x7fffffff;
    return bits < 0x7f800000 ? bits : 0;
}

// Reads N floats of a row, 0 behind its end; as vectors where they are inside and
// aligned.
template <int N> static __device__ void read(float (&to)[N], const float* row, unsigned column, unsigned columns) {
    bool vectors = column + N <= columns && (size_t)(row + column) % 16 == 0;
#pragma unroll
    for (int e = 0; e < N; e += 4)
        if (vectors) *(float4*)(to + e) = *(const float4*)(row + column + e);
        else
#pragma unroll
            for (int i = e; i < e + 4; i++) to[i] = column + i < columns ? row[column + i] : 0;
}

// To nearest and, between two, to even, which is one instruction; .rna are three.
static __device__ unsigned tf32(float x) {
    unsigned r;
    asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
    return r;
}

// Splits v into two TF32 numbers, the next to it and that to what is left. What would
// round to infinity is cut off.
static __device__ void split(float v, float& first, float& second) {
    first = __uint_as_float(tf32(v)), second = __uint_as_float(tf32(v - first));
    if (!isinf(first)) return;
    auto cut = [](float x) { return __uint_as_float(__float_as_uint(x) & 0xffffe000); };
    bool infinite = isinf(v);
    first = infinite ? copysignf(1, v) : cut(v);
    second = infinite ? v : cut(v - first);
}

// Multiplies 64 columns of the tile, as multiply32 does, in chunks of 32 k.
static __device__ void multiply_tf32(Walk w, Outlet<float, 0, 32> out, const Result& r) {
    float sums[128], chunk[64];
    unsigned group = warpgroup();
    unsigned high[4][4], low[4][4];
    Mine mine;
    for (unsigned t = blockIdx.x / cluster; t < tiles(r); t += gridDim.x / cluster) {
        begin(sums);
        for (unsigned i = 0; i < r.k; i += 32, w.next()) {
            barrier_wait(w.filled(), w.phase);
#pragma unroll
            for (int j = 0; j < 4; j++)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    float2 v = mine.at(memory + w.stage * bytes32<2> + 8 * box, j, h);
                    split(v.x, (float&)high[j][h * 2], (float&)low[j][h * 2]);
                    split(v.y, (float&)high[j][h * 2 + 1], (float&)low[j][h * 2 + 1]);
                }
#pragma unroll
            for (int half = 0; half < 2; half++) {
                unsigned a = address(memory) + w.stage * bytes32<2> + half * 2 * box;
                wgmma_fence();
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    wgmma_tf32(chunk, low[j], tile_at(a + j * 32, 1, 1024), j);
                    wgmma_tf32(chunk, high[j], tile_at(a + 4 * box + j * 32, 1, 1024), 1);
                }
#pragma unroll
                for (int j = 0; j < 4; j++) wgmma_tf32(chunk, high[j], tile_at(a + j * 32, 1, 1024), 1);
                wgmma_commit();
                wgmma_wait<0>();
                if (half) release(w.freed());
                promote(sums, chunk, half);
            }
        }
        Tile tile = place(t, r);
        store32(out, sums, tile.row, tile.column + rank_in_cluster() * 128 + group * 64);
    }
    store_wait<0>();
}

static __device__ void product_of_tf32(const TensorMap& first, const TensorMap& second, const TensorMap& b, const TensorMap& c, const TensorMap& d, const Result& r) {
    constexpr unsigned stages = 2;
    __shared__ __align__(8) unsigned long long barriers[2 * stages + 2];
    if (threadIdx.x == 0) prefetch(first), prefetch(b), prefetch(d);
    Walk w = start<stages>(barriers);
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x < 32 && elected()) bring32<2>(w, first, second, b, r);
        __syncwarp();
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        multiply_tf32(w, Outlet<float, 0, 32>(c, d, r, stages * bytes32<2>, w), r);
    }
    cluster_sync();
}
