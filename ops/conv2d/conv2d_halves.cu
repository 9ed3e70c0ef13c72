// Convolution of float32 on Hopper's tensor cores: each factor is the sum of two float16
// numbers, of which the second is 2^11 times as large as it counts, and three of the four
// products of parts are added.
//
// A launch splits x and w, channels innermost, and takes the largest of both. float16 has few
// exponents, so a tensor is scaled by a power of two: by 2^7 first, as most tensors fit so,
// and where one does not, a second launch splits it again. The products are those of
// conv2d_resident.cu where filters fit, and those of conv2d_split.cu elsewhere.
//
// Tensor cores cut their sums off toward zero. Products with second parts are 2^-11 of the
// others, so that it is no loss to add them over all taps of 64 channels. The products of
// first parts are added over the taps of one row of filters, into sums that begin at 0;
// threads add both to float32 sums of their own.

#include "conv2d_boxes.cuh"

constexpr unsigned parts = 2, filter_bytes = 64 * 128, filter_groups = 8; // of filters, one for each of the first boxes of x
constexpr float low = 0x1p-11f; // what a second part counts
constexpr int usual_shift = 7, least = -4, most = 7; // exponents of the largest element that is scaled by 2^7

// Splits v into two. Infinity is split into 1 and, as the second part, itself, which meets first
// parts alone: these are 0 only for 0, so that y is infinite or NaN where a sum in float32 is.
static __device__ void split(float v, __half& first, __half& second) {
    bool infinite = isinf(v);
    first = __float2half_rn(infinite ? copysignf(1, v) : v);
    if (v != 0 && (__half_as_ushort(first) & 0x7fff) == 0) first = __ushort_as_half(__half_as_ushort(first) | 1);
    second = __float2half_rn(infinite ? v : (v - __half2float(first)) * (1 / low));
}

// The bits of |v|, 0 where it is infinite or NaN.
static __device__ unsigned size_of(float v) {
    unsigned bits = __float_as_uint(v) & 0x7fffffff;
    return bits < 0x7f800000 ? bits : 0;
}

static __device__ unsigned largest(unsigned v) {
    __shared__ unsigned of[8];
    v = __reduce_max_sync(~0u, v);
    __syncthreads();
    if (threadIdx.x % 32 == 0) of[threadIdx.x / 32] = v;
    __syncthreads();
    for (unsigned i = 0; i < 8; i++) v = max(v, of[i]);
    return v;
}

// Eight channels in parts, 16 bytes each.
struct Eight {
    alignas(16) __half part[parts][8];
    __device__ const uint4& operator[](unsigned p) const { return *(const uint4*)part[p]; }
};

// Splits x: the parts are (part, image, row, column, channel), channels a multiple of eight. A
// block has 128 pixels of 64 channels: a thread reads four pixels, or a pixel at a time where
// channels are innermost, and returns the bits of its largest element.
static __device__ unsigned split_x(const float* x, uint4* to, const Shape& s, unsigned block, bool vectors, float scale) {
    __shared__ uint4 staged[parts][128][8];
    unsigned tid = threadIdx.x, hw = s.h * s.w, pixels = s.images * hw, groups = (s.c + 7) / 8, across = (groups + 7) / 8, from = block / across * 128, most = 0;
    bool innermost = s.xc == 1;
    unsigned group = innermost ? tid % 8 : tid / 32, c = (block % across * 8 + group) * 8;
    float v[4][8];
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        unsigned pixel = from + (innermost ? i * 32 + tid / 8 : tid % 32 * 4 + i);
        if (vectors && i) continue;
        const float* at = x + (size_t)(pixel / hw) * s.xn + (size_t)(pixel % hw / s.w) * s.xh + (size_t)(pixel % s.w) * s.xw + (size_t)c * s.xc;
#pragma unroll
        for (unsigned e = 0; e < 8; e++) {
            bool inside = pixel < pixels && c + e < s.c;
            if (vectors) {
                float4 four = inside ? *(const float4*)(at + (size_t)e * s.xc) : make_float4(0, 0, 0, 0);
                v[0][e] = four.x, v[1][e] = four.y, v[2][e] = four.z, v[3][e] = four.w;
            } else {
                v[i][e] = inside ? at[(size_t)e * s.xc] : 0;
            }
        }
    }
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        Eight eight;
        unsigned p = innermost ? i * 32 + tid / 8 : tid % 32 * 4 + i;
#pragma unroll
        for (unsigned e = 0; e < 8; e++) most = max(most, size_of(v[i][e])), split(v[i][e] * scale, eight.part[0][e], eight.part[1][e]);
#pragma unroll
        for (unsigned part = 0; part < parts; part++) staged[part][p][group ^ p / 4 % 8] = eight[part];
    }
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < parts * 4; i++) {
        unsigned part = i / 4, p = i % 4 * 32 + tid / 8, g = tid % 8;
        if (from + p < pixels && block % across * 8 + g < groups) to[((size_t)part * pixels + from + p) * groups + block % across * 8 + g] = staged[part][p][g ^ p / 4 % 8];
    }
    __syncthreads();
    return most;
}

// Splits w: the parts are (part, row, column, filter, channel), filters a multiple of 16. Of 16
// filters the even ones come first, then the odd ones, so that a thread of the product has two
// neighbours.
static __device__ unsigned split_w(const float* w, uint4* to, const Shape& s, unsigned block, float scale) {
    unsigned i = block * 256 + threadIdx.x, groups = (s.c + 7) / 8, rows = (s.k + 15) / 16 * 16, all = groups * rows * s.r * s.s, most = 0;
    if (i >= all) return 0;
    unsigned c = i % groups * 8, row = i / groups % rows, tap = i / groups / rows, k = row / 16 * 16 + row % 8 * 2 + row / 8 % 2;
    const float* from = w + (size_t)k * s.wk + tap / s.s * s.wr + tap % s.s * s.ws + (size_t)c * s.wc;
    Eight eight;
#pragma unroll
    for (unsigned e = 0; e < 8; e++) {
        float v = k < s.k && c + e < s.c ? from[(size_t)e * s.wc] : 0;
        most = max(most, size_of(v)), split(v * scale, eight.part[0][e], eight.part[1][e]);
    }
#pragma unroll
    for (unsigned part = 0; part < parts; part++) to[(size_t)part * all + i] = eight[part];
    return most;
}

// How the splits are cut: blocks of x and then of w.
struct Splits { unsigned x_blocks, w_blocks, vectors; };

extern "C" __global__ void __launch_bounds__(256) conv2d_fp16x3(const float* __restrict__ x, const float* __restrict__ w, uint4* __restrict__ of_x, uint4* __restrict__ of_w, unsigned* __restrict__ sizes, Splits c, Shape s) {
    unsigned b = blockIdx.x, v = b < c.x_blocks ? split_x(x, of_x, s, b, c.vectors, power(usual_shift)) : split_w(w, of_w, s, b - c.x_blocks, power(usual_shift));
    v = largest(v);
    if (threadIdx.x == 0) sizes[b] = v;
}

// The exponent of the scale of a tensor whose largest element has these bits.
static __device__ int shift_of(unsigned bits) {
    int exponent = int(bits >> 23) - 127;
    return bits == 0 || exponent >= least && exponent <= most ? usual_shift : min(126, 14 - exponent);
}

// Splits tensors again that are not scaled by 2^7, and writes the shifts of x and w.
extern "C" __global__ void __launch_bounds__(256) conv2d_fp16x3_2(const float* __restrict__ x, const float* __restrict__ w, uint4* __restrict__ of_x, uint4* __restrict__ of_w, const unsigned* __restrict__ sizes, int* __restrict__ shifts, Splits c, Shape s) {
    unsigned size_x = 0, size_w = 0;
    for (unsigned i = threadIdx.x; i < c.x_blocks + c.w_blocks; i += 256) {
        unsigned v = sizes[i];
        if (i < c.x_blocks) size_x = max(size_x, v);
        else size_w = max(size_w, v);
    }
    int x_shift = shift_of(largest(size_x)), w_shift = shift_of(largest(size_w));
    if (blockIdx.x == 0 && threadIdx.x == 0) shifts[0] = x_shift, shifts[1] = w_shift;
    for (unsigned b = blockIdx.x; x_shift != usual_shift && b < c.x_blocks; b += gridDim.x) split_x(x, of_x, s, b, c.vectors, power(x_shift));
    for (unsigned b = blockIdx.x; w_shift != usual_shift && b < c.w_blocks; b += gridDim.x) split_w(w, of_w, s, b, power(w_shift));
}

// Where y has the places of a product's columns: their numbers, those that there are of
// them, and y at number 0 and at the first channel of the warp, of so many.
struct Outlet {
    float* y;
    const unsigned* places;
    unsigned all, channels;
};

constexpr unsigned outlet_row = 36; // floats, for 32 columns of a channel: a warp has rows of 16 channels

// The thread within the warpgroups that multiply, read again where it is needed, so that
// what depends on it keeps no register while products are added.
static __device__ unsigned thread_now() {
    unsigned thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    return thread - 128;
}

// Stores 16 channels of n columns per warp, by way of shared memory, so that a warp stores
// neighbours: columns, or channels where they are innermost.
template <unsigned n> static __device__ __forceinline__ void store(float (&sums)[n / 2], float* staged, const Outlet& to, const float (&add)[2], int shift, bool relu, const Shape& s) {
    unsigned thread = thread_now(), lane = thread % 32;
    int half = shift / 2; // in two steps, as one may be none that float32 has
    float scale = power(-half), rest = power(half - shift), floor = floor_of(relu);
    bool innermost = s.yk == 1;
    staged += thread / 32 * 16 * outlet_row;
    float* mine = staged + lane / 4 * 2 * outlet_row + lane % 4 * 2;
#pragma unroll
    for (unsigned j = 0; j < n / 8; j += 4) {
        __syncwarp();
#pragma unroll
        for (unsigned i = 0; i < 4 && j + i < n / 8; i++) {
            float v[4];
#pragma unroll
            for (unsigned e = 0; e < 4; e++) v[e] = at_least(sums[(j + i) * 4 + e] * scale * rest + add[e / 2], floor);
            *(float2*)(mine + i * 8) = make_float2(v[0], v[1]);
            *(float2*)(mine + outlet_row + i * 8) = make_float2(v[2], v[3]);
        }
        __syncwarp();
        if (!innermost) {
            unsigned at = j * 8 + lane < n ? to.places[j * 8 + lane] : no_place;
            if (at >= to.all) continue;
            float* y = to.y + (size_t)at * s.yw;
            if (to.channels >= 16) {
#pragma unroll
                for (unsigned i = 0; i < 16; i++) y[(size_t)i * s.yk] = staged[i * outlet_row + lane];
            } else {
                for (unsigned i = 0; i < to.channels; i++) y[(size_t)i * s.yk] = staged[i * outlet_row + lane];
            }
        } else {
            for (unsigned i = 0; i < 16; i++) {
                unsigned of = i * 2 + lane / 16, at = j * 8 + of < n ? to.places[j * 8 + of] : no_place;
                if (at < to.all && lane % 16 < to.channels) to.y[(size_t)at * s.yw + lane % 16] = staged[lane % 16 * outlet_row + of];
            }
        }
    }
}

// bias of the two channels of a thread.
static __device__ void biases(float (&add)[2], const float* bias, unsigned channel, const Shape& s) {
    for (unsigned i = 0; i < 2; i++) add[i] = s.bias && channel + i < s.k ? bias[channel + i] : 0;
}

template <unsigned n> static __device__ __forceinline__ void product(float (&sums)[n / 2], unsigned a, unsigned b, bool add) {
#pragma unroll
    for (unsigned j = 0; j < 4; j++) wgmma(__half(), sums, rows_at(a + j * 32), rows_at(b + j * 32), add || j);
}

// Eight channels of a filter under a tap, and where their numbers go: 64 filters by 32 channels of
// x are a matrix whose rows of 128 bytes have first numbers and second ones, for each tap.
struct Filters {
    const float* w;
    const Shape& s;
    unsigned taps, all;
    __device__ Filters(const float* w, const Shape& s) : w(w), s(s), taps(s.r * s.s), all((s.c + row_channels - 1) / row_channels * taps) {}
    __device__ unsigned vectors() const { return all * 64 * 4; }
    __device__ void operator()(float (&v)[8], unsigned i, unsigned& first, unsigned& second) const {
        unsigned tap = i / 8 % all, rest = i / 8 / all, row = rest % 8 * 8 + i % 8, vector = rest / 8;
        unsigned channel = tap / taps * row_channels + vector * 8, of = tap % taps;
        const float* p = w + (size_t)row * s.wk + (size_t)channel * s.wc + of / s.s * s.wr + of % s.s * s.ws;
#pragma unroll
        for (unsigned e = 0; e < 8; e++, p += s.wc) v[e] = row < s.k && channel + e < s.c ? __ldg(p) : 0;
        first = tap * filter_bytes + row * 128 + vector * 16, second = first + 64;
    }
};

// Splits x, by so many blocks, and w, by those behind.
extern "C" __global__ void __launch_bounds__(256) conv2d_fp16x3_of_boxes(const float* __restrict__ x, const float* __restrict__ w, uint4* __restrict__ to, unsigned char* __restrict__ to_w, unsigned* __restrict__ misfits, unsigned* __restrict__ misfits_w, Shape s, unsigned of_x) {
    if (blockIdx.x < of_x) return split_block<false>(x, to, misfits, blockIdx.x, s);
    Filters load(w, s);
    split_vectors<false>(to_w, misfits_w, (blockIdx.x - of_x) * 256 + threadIdx.x, load.vectors(), load);
}

// Multiplies 64 channels of y by n places of a tile. The warpgroups take tiles in turn, so that
// one multiplies while the other stores. Sums are added to float32 sums after 32 channels of x.
template <unsigned n> static __device__ void multiply_tiles(Ring x, unsigned w, unsigned ready, int w_scale, const float* of_x, const float* of_w, const int* scales, const float* bias, float* y, const Cut& c, const Shape& s) {
    float one[n / 2], two[n / 2], sums[n / 2];
    unsigned group = warpgroup(), taps = c.r * c.s, number = 0, channel = threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
    bool wide = wide_stores(y, c, s);
    if (group == 1) turn_pass(group);
    for (unsigned t = blockIdx.x; t < c.tiles; t += gridDim.x, number++) {
        if (number % 2 != group) {
            for (unsigned i = 0; i < c.chunks; i++) x.next();
            continue;
        }
#pragma unroll
        for (unsigned e = 0; e < n / 2; e++) sums[e] = 0;
        bool fits = w_scale != no_scale;
        turn_wait(group);
        unsigned a = w;
        for (unsigned i = 0; i < c.chunks; i++, x.next()) {
            if (number < 2) barrier_wait(ready + min(i, filter_groups - 1) * 8, 0);
            barrier_wait(x.filled(), x.phase);
            int scale = scales[x.stage];
            unsigned b = x.at();
            for (unsigned tap = 0, column = 0; tap < taps; tap++, a += filter_bytes) {
                wgmma_fence();
#pragma unroll
                for (unsigned j = 0; j < 2; j++) wgmma(Halves(), one, rows_at(a + j * 32), rows_at(b + j * 32), tap | j);
#pragma unroll
                for (unsigned j = 0; j < 2; j++) wgmma(Halves(), two, rows_at(a + j * 32), rows_at(b + 64 + j * 32), tap | j);
#pragma unroll
                for (unsigned j = 0; j < 2; j++) wgmma(Halves(), two, rows_at(a + 64 + j * 32), rows_at(b + j * 32), 1);
                wgmma_commit();
                wgmma_wait<1>();
                b += c.dilation * 128;
                if (++column == c.s) column = 0, b += c.dilation * (c.pitch - c.s) * 128;
            }
            if (i + 1 == c.chunks && t + gridDim.x < c.tiles) turn_pass(group);
            wgmma_wait<0>();
            __syncwarp();
            if (threadIdx.x % 32 == 0) barrier_arrive(x.freed());
            fits = fits && scale != no_scale;
            float back = power(scale == no_scale ? 0 : -scale);
#pragma unroll
            for (unsigned e = 0; e < n / 2; e++) sums[e] += (one[e] + two[e] * low) * back;
        }
        Tile<true> tile(t, c, 0);
        if (!fits) {
            add_floats(of_x, of_w, bias, y, tile, 0, 0, s.k, c, s);
            continue;
        }
        float back = power(-w_scale);
#pragma unroll
        for (unsigned half = 0; half < 2; half++) {
            unsigned k = channel + half * 8;
            if (k >= s.k) continue;
            float* to = y + (size_t)tile.image * s.yn + (size_t)k * s.yk;
            unsigned plane = tile.plane * c.oh * c.ow;
            float left = 0;
            each_place<n, true, true>(tile, 0, c, [&](bool inside, unsigned place, unsigned e) {
                float v = finish(sums[e + half * 2] * back, bias, k, s);
                float* at = to + (place - plane) * s.yw;
                if (!wide && inside) *at = v;
                if (wide && inside && e % 2) *(float2*)(at - 1) = make_float2(left, v);
                left = v;
            });
        }
    }
}

// The products of layers whose filters fit.
extern "C" __global__ void HOPPER conv2d_fp16x3_2_of_boxes(MAP of_x, MAP of_w, const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias, float* __restrict__ y, const unsigned* __restrict__ misfits, const unsigned* __restrict__ misfits_w, Cut c, Shape s) {
    __shared__ __align__(8) unsigned long long barriers[24];
    __shared__ int scales[8];
    __shared__ unsigned of_warps[2][2][8];
    if (threadIdx.x == 0) prefetch(of_x), prefetch(of_w);
    start_boxes(barriers, c, 4); // a thread of each warp
    Filters load(w, s);
    unsigned filters = address(memory) + c.x_stages * c.x_bytes, ready = address(barriers + 16);
    Ring ring(address(memory), c.x_bytes, barriers, c.x_stages);
    auto bring_group = [&](unsigned group) {
        unsigned first = group * load.taps, end = group + 1 < filter_groups ? first + load.taps : load.all;
        if (group >= filter_groups || group >= c.chunks) return;
        barrier_expect(ready + group * 8, (end - first) * filter_bytes);
        for (unsigned i = first; i < end; i++) copy_rows(filters + i * filter_bytes, of_w, 0, 0, i, ready + group * 8);
    };
    if (threadIdx.x < loaders) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 72;");
        if (threadIdx.x == 0) bring_group(0);
        bring_boxes<false>(ring, x, misfits, scales, of_warps[0], c, s,
            [&](unsigned to, const Tile<true>& tile, unsigned chunk, int, unsigned barrier) {
                copy_image(to, of_x, chunk * 64, (int)tile.column - c.padding, (int)tile.row - c.padding, tile.image, barrier);
            },
            [&](unsigned number) { bring_group(number + 1); });
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 216;");
        int scale = usual_scale;
        if (!filters_fit(misfits_w, (load.vectors() + 31) / 32)) {
            for (unsigned i = 0; i < min(c.chunks, filter_groups); i++) barrier_wait(ready + i * 8, 0);
            scale = split_filters<false>(filters, load.vectors(), of_warps[1], load);
        }
        multiply_tiles<120>(ring, filters, ready, scale, x, w, scales, bias, y, c, s);
    }
}

// Brings the parts of a box of x, the second one first.
static __device__ void bring_x(Ring x, const TensorMap& map, const Cut& c) {
    for (unsigned t = blockIdx.x; t < c.tiles; t += gridDim.x) {
        Tile<false> tile(t, c, 0);
        for (unsigned i = 0; i < c.chunks; i++)
            for (unsigned part = parts; part-- > 0; x.next()) {
                unsigned to = x.open(c.x_box);
                copy_image(to, map, i * channels_a_row<__half>, (int)tile.column - c.padding, (int)tile.row - c.padding, part * c.images + tile.image, x.filled());
            }
    }
}

// Brings filters: first parts under all taps, second ones, and first ones again.
static __device__ void bring_w(Ring w, const TensorMap& map, const Cut& c) {
    unsigned taps = c.r * c.s;
    for (unsigned t = blockIdx.x; t < c.tiles; t += gridDim.x)
        for (unsigned i = 0; i < c.chunks; i++)
            for (unsigned j = 0; j < 3 * taps; j++, w.next()) {
                unsigned to = w.open(c.w_bytes);
                copy_rows(to, map, i * channels_a_row<__half>, t % c.blocks * (c.own_places ? 64 : 128), j % (2 * taps), w.filled());
            }
}

// The barrier of the stage before the one that comes next.
static __device__ unsigned before(const Ring& r) { return r.empty + (r.stage ? r.stage - 1 : r.stages - 1) * 8; }

// Multiplies 64 channels by n places, as multiply_items does.
template <unsigned n> static __device__ void multiply(Ring x, Ring w, const float* bias, float* y, const int* shifts, float* staged, const unsigned* places, const Cut& c, const Shape& shape) {
    float sums[n / 2], chunk[n / 2];
    unsigned taps = c.r * c.s, group = warpgroup(), of_w = c.own_places ? 0 : group * 64 * 128, of_x = c.own_places ? group * c.rows * c.pitch * 128 : 0;
    bool first = threadIdx.x % 128 == 0;
    for (unsigned t = blockIdx.x; t < c.tiles; t += gridDim.x) {
#pragma unroll
        for (unsigned e = 0; e < n / 2; e++) sums[e] = 0;
        for (unsigned i = 0; i < c.chunks; i++) {
            unsigned column = 0, from = 0;
            for (unsigned j = 0; j < 2 * taps; j++) {
                if (j == 0 || j == taps) barrier_wait(x.filled(), x.phase), from = x.at() + of_x;
                barrier_wait(w.filled(), w.phase);
                wgmma_fence();
                product<n>(chunk, w.at() + of_w, from, j);
                wgmma_commit();
                if (j) {
                    wgmma_wait<1>();
                    if (first) {
                        barrier_arrive(before(w));
                        if (j == taps) barrier_arrive(before(x));
                    }
                }
                w.next();
                from += c.dilation * 128;
                if (++column == c.s) column = 0, from += (c.pitch - c.s) * c.dilation * 128;
                if (j + 1 == taps) x.next();
            }
            wgmma_wait<0>();
            if (first) barrier_arrive(before(w));
#pragma unroll
            for (unsigned e = 0; e < n / 2; e++) sums[e] += chunk[e] * low;
            from = x.at() + of_x;
            for (unsigned row = 0; row < c.r; row++) {
                for (unsigned column = 0; column < c.s; column++, from += c.dilation * 128) {
                    barrier_wait(w.filled(), w.phase);
                    wgmma_fence();
                    product<n>(chunk, w.at() + of_w, from, column);
                    wgmma_commit();
                    if (column) {
                        wgmma_wait<1>();
                        if (first) barrier_arrive(before(w));
                    }
                    w.next();
                }
                from += (c.pitch - c.s) * c.dilation * 128;
                wgmma_wait<0>();
                if (first) barrier_arrive(before(w));
#pragma unroll
                for (unsigned e = 0; e < n / 2; e++) sums[e] += chunk[e];
            }
            if (first) barrier_arrive(x.freed());
            x.next();
        }
        Tile<false> tile(t, c, 0);
        float add[2];
        unsigned thread = thread_now(), warp = tile.channel + (c.own_places ? thread % 128 : thread) / 32 * 16;
        biases(add, bias, warp + thread % 32 / 4 * 2, shape);
        unsigned strip = tile.row + (c.own_places ? thread / 128 * c.rows : 0);
        if (warp >= c.k) continue;
        Outlet to{y + (size_t)tile.image * shape.yn + (size_t)strip * shape.yh + (size_t)tile.column * shape.yw + (size_t)warp * shape.yk, places, places_from(c, strip, tile.column), c.k - warp};
        store<n>(sums, staged, to, add, shifts[0] + shifts[1], c.relu, shape);
    }
}

template <unsigned n> static __device__ void convolve(const TensorMap& of_x, const TensorMap& of_w, const float* bias, float* y, const int* shifts, const Cut& c, const Shape& shape) {
    __shared__ __align__(8) unsigned long long barriers[32];
    if (threadIdx.x == 0) prefetch(of_x), prefetch(of_w);
    const unsigned* places = number_box<n>(c);
    start(barriers, c, true);
    Ring x(address(memory), c.x_bytes, barriers, c.x_stages), w(address(memory) + c.x_stages * c.x_bytes, c.w_bytes, barriers + 16, c.w_stages);
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x < 32 && elected()) bring_w(w, of_w, c);
        else if (threadIdx.x / 32 == 1 && elected()) bring_x(x, of_x, c);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        multiply<n>(x, w, bias, y, shifts, (float*)(memory + c.x_stages * c.x_bytes + c.w_stages * c.w_bytes), places, c, shape);
    }
}

// The products of other layers, for 64 or 208 columns.
extern "C" __global__ void HOPPER conv2d_fp16x3_3(MAP x, MAP w, const float* __restrict__ bias, float* __restrict__ y, const int* __restrict__ shifts, Cut c, Shape shape) { convolve<64>(x, w, bias, y, shifts, c, shape); }
extern "C" __global__ void HOPPER conv2d_fp16x3_3_of_208(MAP x, MAP w, const float* __restrict__ bias, float* __restrict__ y, const int* __restrict__ shifts, Cut c, Shape shape) { convolve<208>(x, w, bias, y, shifts, c, shape); }
