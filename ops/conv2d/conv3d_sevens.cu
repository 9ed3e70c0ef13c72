// Convolution of float32 volumes in registers, as conv3d_registers.cu has it, in smaller
// tiles: a thread has 8 channels by 7 neighbouring places of a row under filters of 3 x 3 a
// depth. A block of four warps has 32 channels of 4 rows of 56 places: each scheduler has the
// same number of warps, and five blocks fit a multiprocessor.
//
// Filters are brought into the order of the stages first, so that one copy of 16 bytes a
// thread fetches them. The places of a thread start at vectors of shared memory, because the
// elements that two threads need are there twice.

#include "conv2d.cuh"

const unsigned places = 7, segments = 8, tile_rows = 4, window = 12, channels = 32, taps = 9, stages = 3; // a window has 9 elements and is whole vectors
const unsigned row_floats = segments * window, height = tile_rows + 2, floats_of_x = height * row_floats, stage_floats = floats_of_x + taps * channels;
const unsigned copies = height * segments * (places + 2), copies_a_thread = (copies + 127) / 128;

// Filters as (block of channels of y, channel of x, depth, tap, channel of y), zeros behind
// the last channel of y.
extern "C" __global__ void conv3d_sevens(const float* __restrict__ w, float* __restrict__ to, Shape s, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned tap = i / channels % taps, t = i / channels / taps % s.t, c = i / channels / taps / s.t % s.c, k = i / channels / taps / s.t / s.c * channels + i % channels;
    to[i] = k < s.k ? w[(size_t)k * s.wk + (size_t)c * s.wc + (size_t)t * s.wt + tap / 3 * s.wr + tap % 3 * s.ws] : 0;
}

// `across` and `down` are the tiles of a plane of y. Tiles of the first and of the last depth
// come last: filters meet padding there, and short tiles end together.
extern "C" __global__ void __launch_bounds__(128, 5) conv3d_sevens_2(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias, float* __restrict__ y, Shape s, unsigned across, unsigned down) {
    extern __shared__ __align__(16) float memory[];
    unsigned tid = threadIdx.x, b = blockIdx.x, column = b % across * segments * places, row = b / across % down * tile_rows;
    b /= across * down;
    unsigned image = b % s.images, od = (b / s.images + 1) % s.od;
    int depth = (int)od - s.depth_padding;
    unsigned from_t = depth < 0 ? -depth : 0, to_t = max((int)from_t, min((int)s.t, (int)s.d - depth)); // planes that are in x
    x += (size_t)image * s.xn;

    // The elements of a plane that this thread copies: where they are and where they go, and
    // bits of those that are in x. Threads that have one less copy a zero behind a window.
    unsigned base = (unsigned)__cvta_generic_to_shared(memory);
    int at[copies_a_thread];
    unsigned to[copies_a_thread], inside = 0;
#pragma unroll
    for (unsigned j = 0; j < copies_a_thread; j++) {
        unsigned e = tid + j * 128, i = e % (places + 2), segment = e / (places + 2) % segments, of = e / (places + 2) / segments;
        int h = (int)(row + of) - s.padding, c = (int)(column + segment * places + i) - s.padding;
        bool in = of < height && h >= 0 && h < (int)s.h && c >= 0 && c < (int)s.w;
        at[j] = in ? h * (int)s.xh + c * (int)s.xw : 0, inside |= in ? 1 << j : 0;
        to[j] = base + (of < height ? of * row_floats + segment * window + i : (e - copies) / 3 * window + places + 2 + (e - copies) % 3) * 4;
    }
    const float* of_w = w + (size_t)blockIdx.y * s.c * s.t * taps * channels + tid * 4;
    unsigned next_c = 0, next_t = from_t, next = 0, units = s.c * (to_t - from_t), fetched = 0;
    const float* plane = x + (size_t)(depth + (int)from_t) * s.xd;
    auto fetch = [&] {
        if (fetched < units) {
            unsigned stage = next * stage_floats * 4;
#pragma unroll
            for (unsigned j = 0; j < copies_a_thread; j++) asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to[j] + stage), "l"(plane + at[j]), "r"(inside >> j & 1 ? 4 : 0) : "memory");
            if (tid < taps * channels / 4) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(base + stage + floats_of_x * 4 + tid * 16), "l"(of_w + (size_t)(next_c * s.t + next_t) * taps * channels) : "memory");
            fetched++;
            plane += s.xd;
            if (++next_t == to_t) next_t = from_t, next_c++, plane = x + (size_t)next_c * s.xc + (size_t)(depth + (int)from_t) * s.xd;
            if (++next == stages) next = 0;
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
#pragma unroll
    for (unsigned i = 0; i < stages - 1; i++) fetch();

    unsigned lane = tid % 32, segment = lane & 7, group = lane >> 3;
    const float *of_x = memory + tid / 32 * row_floats + segment * window, *of_f = memory + floats_of_x + group * 8;
    float sum[8][places] = {};
    for (unsigned u = 0, ring = 0; u < units; u++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2) : "memory");
        __syncthreads();
        fetch();
        const float *row_x = of_x + ring * stage_floats, *row_w = of_f + ring * stage_floats;
        if (++ring == stages) ring = 0;
#pragma unroll
        for (unsigned r = 0; r < 3; r++) {
            float v[window];
#pragma unroll
            for (unsigned i = 0; i < window; i += 4) {
                float4 four = *(const float4*)(row_x + r * row_floats + i);
                v[i] = four.x, v[i + 1] = four.y, v[i + 2] = four.z, v[i + 3] = four.w;
            }
#pragma unroll
            for (unsigned q = 0; q < 3; q++) {
                float4 low = *(const float4*)(row_w + (r * 3 + q) * channels), high = *(const float4*)(row_w + (r * 3 + q) * channels + 4);
                const float f[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
                for (unsigned i = 0; i < 8; i++)
#pragma unroll
                    for (unsigned j = 0; j < places; j++) sum[i][j] += f[i] * v[q + j];
            }
        }
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    row += tid / 32, column += segment * places;
    if (row >= s.oh) return;
    y += (size_t)image * s.yn + (size_t)od * s.yd + (size_t)row * s.yh + (size_t)column * s.yw;
#pragma unroll
    for (unsigned i = 0; i < 8; i++) {
        unsigned of = blockIdx.y * channels + group * 8 + i;
        if (of >= s.k) break;
#pragma unroll
        for (unsigned j = 0; j < places; j++)
            if (column + j < s.ow) y[(size_t)of * s.yk + (size_t)j * s.yw] = finish(sum[i][j], bias, of, s);
    }
}
