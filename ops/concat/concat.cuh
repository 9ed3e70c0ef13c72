// What the rungs of concat share: the rows of two parts, and tiles of y in vectors.

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

// A tile of y in stores of 16 bytes, four a thread and turn in flight.
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
