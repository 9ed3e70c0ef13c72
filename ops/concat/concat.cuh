// What the rungs of concat share: the rows of two parts, and y in tiles and in vectors.

// Two parts with rows of wa and wb floats; a row of y is one of each, of w floats.
struct Parts {
    const float *a, *b;
    unsigned wa, wb;

    __device__ size_t w() const { return (size_t)wa + wb; }
    __device__ const float* at(size_t r, size_t c) const { return c < wa ? a + r * wa + c : b + r * wb + (c - wa); }
};

// The elements of a tile of y, and the row and column that it begins at.
constexpr unsigned tile = 4096;

// Steps so many columns on, at most a tile, with a subtraction where rows are long, and
// a division of 32 bits where they are short.
static __device__ __forceinline__ void step(const Parts& p, size_t& r, size_t& c, unsigned columns) {
    c += columns;
    if (c < p.w()) return;
    if (p.w() >= tile) {
        c -= p.w(), r++;
    } else {
        r += (unsigned)c / (unsigned)p.w(), c = (unsigned)c % (unsigned)p.w();
    }
}

// A tile of y float by float.
template <unsigned threads>
static __device__ __forceinline__ void copy_tile(const Parts& p, float* __restrict__ y, size_t n, size_t first, size_t r0, size_t c0) {
#pragma unroll 4
    for (unsigned e = threadIdx.x; e < tile && first + e < n; e += threads) {
        size_t r = r0, c = c0;
        step(p, r, c, e);
        y[first + e] = *p.at(r, c);
    }
}

// Four neighbours of y from (r, c) on: one load where they lie in one part, at a
// multiple of 16 bytes, and else four.
static __device__ __forceinline__ float4 load_four(const Parts& p, size_t r, size_t c) {
    const float* from = p.at(r, c);
    bool whole = c + 4 <= p.wa || c >= p.wa && c + 4 <= p.w();
    if (whole && (size_t)from % 16 == 0) return __ldg((const float4*)from);
    float v[4];
#pragma unroll
    for (unsigned j = 0; j < 4; j++) {
        v[j] = *p.at(r, c);
        if (++c == p.w()) c = 0, r++;
    }
    return {v[0], v[1], v[2], v[3]};
}

// A tile of y in stores of 16 bytes, four per thread and iteration in flight.
template <unsigned threads>
static __device__ __forceinline__ void vector_tile(const Parts& p, float* __restrict__ y, size_t n, size_t first, size_t r0, size_t c0) {
    if ((size_t)y % 16 || n - first < tile) return copy_tile<threads>(p, y, n, first, r0, c0);
    for (unsigned e = 4 * threadIdx.x; e < tile; e += 16 * threads) {
        float4 v[4];
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            size_t r = r0, c = c0;
            step(p, r, c, e + 4 * k * threads);
            v[k] = load_four(p, r, c);
        }
#pragma unroll
        for (unsigned k = 0; k < 4; k++) __stcs((float4*)(y + first + e + 4 * k * threads), v[k]);
    }
}

// A divisor of numbers below 2^31: e / divisor is the product of e and factor, shifted.
struct Reciprocal {
    unsigned factor, shift;

    __device__ unsigned quotient(unsigned e) const { return (unsigned)((unsigned long long)e * factor >> shift); }
};

// A load through the read-only path, without a hint for L2.
struct Plain {
    static __device__ __forceinline__ float one(const float* p) { return __ldg(p); }
    static __device__ __forceinline__ float4 four(const float* p) { return __ldg((const float4*)p); }
};

// Rows of two parts, fewer than 2^31 floats in all, so that indices have 32 bits.
template <typename Load> struct Rows {
    const float *a, *b;
    unsigned wa, wb, rows;
    Reciprocal by_w;

    __device__ unsigned w() const { return wa + wb; }
    __device__ float one(unsigned r, unsigned c) const { return Load::one(c < wa ? a + (r * wa + c) : b + (r * wb + (c - wa))); }
};

// Elements e to e + 3 of y: one load where they lie in one part, at a multiple of 16
// bytes, and else four.
template <typename Load> static __device__ __forceinline__ float4 load_four(const Rows<Load>& p, unsigned e) {
    unsigned r = p.by_w.quotient(e), c = e - r * p.w();
    bool in_a = c < p.wa, whole = c + 4 <= (in_a ? p.wa : p.w());
    const float* from = in_a ? p.a + (r * p.wa + c) : p.b + (r * p.wb + (c - p.wa));
    if (whole && (size_t)from % 16 == 0) return Load::four(from);
    float v[4];
#pragma unroll
    for (unsigned j = 0; j < 4; j++) {
        v[j] = p.one(r, c);
        if (++c == p.w()) c = 0, r++;
    }
    return {v[0], v[1], v[2], v[3]};
}

// The vector of y of a thread, whose index is given: vectors begin at a multiple of 16
// bytes, so that the first and the last one may have fewer floats.
template <typename Load> static __device__ __forceinline__ void copy_four(const Rows<Load>& p, float* __restrict__ y, unsigned thread) {
    unsigned n = p.rows * p.w(), e = 4 * thread - (size_t)y / 4 % 4;  // before the first float it wraps
    if (e < n && e + 4 <= n) {
        *(float4*)(y + e) = load_four(p, e);
        return;
    }
    for (unsigned j = 0; j < 4; j++, e++)
        if (e < n) {
            unsigned r = p.by_w.quotient(e);
            y[e] = p.one(r, e - r * p.w());
        }
}
