// What the rungs of softmax share: a row and its forms, the exponential, and the
// teams of threads that share a row.
//
// Every sum is of exponentials of x - shift, where shift is the maximum of the
// row. Then every exponential is at most 1, and one of them is 1.

constexpr unsigned all_lanes = 0xffffffff;

static __device__ float minus_infinity() { return __int_as_float(0xff800000); }

constexpr float log2_e = 1.4426950408889634f;

// 2^x, within 2^-22 of it, as a share; subnormal results are kept.
static __device__ float power_of_two(float x) {
    float y;
    asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// e^x as 2^(x log2 e).
static __device__ float exponential(float x) { return power_of_two(x * log2_e); }

// What is subtracted from the elements of a row, or of a part of it. Of a part
// that has only -inf it is 0: -inf - -inf would be NaN.
static __device__ float shift_of(float maximum) { return maximum == minus_infinity() ? 0 : maximum; }

// The maximum of some elements, and the sum of their exponentials after the shift.
// fmaxf drops a NaN; the sum keeps it, so that the whole row becomes NaN.
struct Partial {
    float maximum, sum;
};

// The forms: y = e^(x - max) / sum, its logarithm, and the first with elements
// left out where mask is 0.
enum Form { plain, logarithm, masked };

template <Form form> struct Row {
    const float* x;
    const unsigned char* mask;
    float* y;
    unsigned columns;

    __device__ Row(const float* x, const unsigned char* mask, float* y, unsigned row, unsigned columns)
        : x(x + (size_t)row * columns), mask(form == masked ? mask + (size_t)row * columns : mask), y(y + (size_t)row * columns), columns(columns) {}

    __device__ float at(unsigned c) const { return form == masked && !mask[c] ? minus_infinity() : x[c]; }

    // Whether the row consists of whole vectors of four.
    __device__ bool wide() const {
        return columns % 4 == 0 && ((size_t)x | (size_t)y) % 16 == 0 && (form != masked || (size_t)mask % 4 == 0);
    }

    template <typename Team> __device__ float4 vector_at(unsigned v) const {
        float4 w = Team::load((const float4*)x + v);
        if (form != masked) return w;
        uchar4 keep = __ldcs((const uchar4*)mask + v);
        return {keep.x ? w.x : minus_infinity(), keep.y ? w.y : minus_infinity(), keep.z ? w.z : minus_infinity(), keep.w ? w.w : minus_infinity()};
    }
};

// What turns an element into its output: the logarithm of the sum, or 1 / sum. A
// masked row that keeps nothing above -inf has the sum 0, and its outputs are 0.
template <Form form> static __device__ float scale_of(float sum) {
    if (form == logarithm) return logf(sum);
    return form == masked && sum == 0 ? 0 : 1 / sum;
}

template <Form form> static __device__ float output_of(float x, float shift, float scale) {
    return form == logarithm ? x - shift - scale : exponential(x - shift) * scale;
}

template <bool maximum> static __device__ float combine(float a, float b) { return maximum ? fmaxf(a, b) : a + b; }

// The maximum or sum of `lanes` neighbours, in each of them.
template <bool maximum, unsigned lanes> static __device__ float across_lanes(float v) {
#pragma unroll
    for (unsigned step = lanes / 2; step > 0; step /= 2) v = combine<maximum>(v, __shfl_xor_sync(all_lanes, v, step));
    return v;
}

// The maximum or sum of a block, in every thread. It is called once for each.
template <bool maximum, unsigned block> static __device__ float across_block(float v) {
    __shared__ float of_warp[block / 32];
    v = across_lanes<maximum, 32>(v);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = v;
    __syncthreads();
    return across_lanes<maximum, block / 32>(of_warp[threadIdx.x % (block / 32)]);
}

// A load of a vector that is read once: its line leaves L2 first.
struct Streamed {
    static __device__ float4 load(const float4* p) { return __ldcs(p); }
};

// A warp that has a row of its own.
struct Warp : Streamed {
    static constexpr unsigned threads = 32;
    static __device__ unsigned id() { return threadIdx.x % 32; }
    static __device__ float max(float v) { return across_lanes<true, 32>(v); }
    static __device__ float sum(float v) { return across_lanes<false, 32>(v); }
};

// A block that has a row of its own.
template <unsigned block> struct Block : Streamed {
    static constexpr unsigned threads = block;
    static __device__ unsigned id() { return threadIdx.x; }
    static __device__ float max(float v) { return across_block<true, block>(v); }
    static __device__ float sum(float v) { return across_block<false, block>(v); }
};

// The result of the whole row. A warp or a block has it; blocks of a cluster exchange theirs.
template <typename Team> static __device__ Partial whole_of(Partial part) { return part; }

// A row of any length, in two passes: the first keeps a running maximum, and
// rescales the sum where it grows; the second reads x again and writes y.
template <Form form, typename Team> static __device__ void online(Row<form> row) {
    Partial own = {minus_infinity(), 0};
    for (unsigned c = Team::id(); c < row.columns; c += Team::threads) {
        float x = row.at(c), maximum = fmaxf(own.maximum, x), shift = shift_of(maximum);
        own = {maximum, own.sum * exponential(own.maximum - shift) + exponential(x - shift)};
    }
    float maximum = Team::max(own.maximum);
    Partial whole = whole_of<Team>({maximum, Team::sum(own.sum * exponential(own.maximum - shift_of(maximum)))});
    float shift = shift_of(whole.maximum), scale = scale_of<form>(whole.sum);
    for (unsigned c = Team::id(); c < row.columns; c += Team::threads) row.y[c] = output_of<form>(row.at(c), shift, scale);
}

// A row that fits the team's registers: x is read once. A thread has so many
// vectors of four, or as many single elements where the row is not of whole vectors.
template <Form form, typename Team, unsigned vectors> static __device__ void in_registers(Row<form> row) {
    float v[4 * vectors];
    bool wide = row.wide();
    if (wide) {
#pragma unroll
        for (unsigned i = 0; i < vectors; i++) {
            unsigned at = Team::id() + i * Team::threads;
            float4 w = at < row.columns / 4 ? row.template vector_at<Team>(at) : make_float4(minus_infinity(), minus_infinity(), minus_infinity(), minus_infinity());
            v[4 * i] = w.x, v[4 * i + 1] = w.y, v[4 * i + 2] = w.z, v[4 * i + 3] = w.w;
        }
    } else {
#pragma unroll
        for (unsigned i = 0; i < 4 * vectors; i++) {
            unsigned at = Team::id() + i * Team::threads;
            v[i] = at < row.columns ? row.at(at) : minus_infinity();
        }
    }
    Partial own = {minus_infinity(), 0};
#pragma unroll
    for (unsigned i = 0; i < 4 * vectors; i++) own.maximum = fmaxf(own.maximum, v[i]);
    own.maximum = Team::max(own.maximum);
#pragma unroll
    for (unsigned i = 0; i < 4 * vectors; i++) {
        float e = exponential(v[i] - shift_of(own.maximum));
        own.sum += e;
        if (form != logarithm) v[i] = e;
    }
    own.sum = Team::sum(own.sum);
    // The exponentials are of the maximum of this part: the row's is a factor away, which is
    // 0 for a part without a number above -inf.
    Partial whole = whole_of<Team>(own);
    float shift = shift_of(whole.maximum), scale = scale_of<form>(whole.sum);
    if (form != logarithm) scale *= exponential(own.maximum - shift);
#pragma unroll
    for (unsigned i = 0; i < 4 * vectors; i++) v[i] = form == logarithm ? v[i] - shift - scale : v[i] * scale;
    if (wide) {
#pragma unroll
        for (unsigned i = 0; i < vectors; i++) {
            unsigned at = Team::id() + i * Team::threads;
            if (at < row.columns / 4) __stcs((float4*)row.y + at, make_float4(v[4 * i], v[4 * i + 1], v[4 * i + 2], v[4 * i + 3]));
        }
    } else {
#pragma unroll
        for (unsigned i = 0; i < 4 * vectors; i++) {
            unsigned at = Team::id() + i * Team::threads;
            if (at < row.columns) row.y[at] = v[i];
        }
    }
}

// A row in registers where it fits, and else in two passes.
template <Form form, typename Team, unsigned vectors> static __device__ void fitted(Row<form> row) {
    if (row.columns <= 4 * vectors * Team::threads) in_registers<form, Team, vectors>(row);
    else online<form, Team>(row);
}
