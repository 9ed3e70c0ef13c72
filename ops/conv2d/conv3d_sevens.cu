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

// `across` and `down` are the tiles of a plane of y.
extern "C" __global__ void __launch_bounds__(128, 5) conv3d_sevens_2(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias, float* __restrict__ y, Shape s, unsigned across, unsigned down) {
    __shared__ __align__(16) float memory[stages * stage_floats];
    unsigned tid = threadIdx.x, b = blockIdx.x, column = b % across * segments * places, row = b / across % down * tile_rows;
    b /= across * down;
    unsigned od = b % s.od, image = b / s.od;
    int depth = (int)od - s.depth_padding;
    unsigned from_t = depth < 0 ? -depth : 0, to_t = max((int)from_t, min((int)s.t, (int)s.d - depth)); // planes that are in x
    x += (size_t)image * s.xn;

    // The elements of a plane that this thread copies: where they are and where they go, and
    // bits of those that are in x.
    int at[copies_a_thread];
    unsigned to[copies_a_thread], inside = 0, base = (unsigned)__cvta_generic_to_shared(memory);
#pragma unroll
    for (unsigned j = 0; j < copies_a_thread; j++) {
        unsigned e = tid + j * 128, i = e % (places + 2), segment = e / (places + 2) % segments, of = e / (places + 2) / segments;
        int h = (int)(row + of) - s.padding, c = (int)(column + segment * places + i) - s.padding;
        bool in = h >= 0 && h < (int)s.h && c >= 0 && c < (int)s.w;
        at[j] = in ? h * (int)s.xh + c * (int)s.xw : 0, inside |= in ? 1 << j : 0;
        to[j] = base + (of * row_floats + segment * window + i) * 4;
    }
    // The planes and filters of the next stage, planes that are left of its channel, and stages
    // that are left.
    const unsigned filters = taps * channels;
    const float *plane = x + (depth + (int)from_t) * (int)s.xd, *of_plane = w + ((size_t)blockIdx.y * s.c * s.t + from_t) * filters + tid * 4;
    unsigned planes = to_t - from_t, left_t = planes, units = s.c * planes, left = units, next = 0;
    auto fetch = [&] {
        if (left > 0) {
#pragma unroll
            for (unsigned j = 0; j < copies_a_thread; j++)
                if (j * 128 + tid < copies) asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to[j] + next), "l"(plane + at[j]), "r"(inside >> j & 1 ? 4 : 0) : "memory");
            if (tid < filters / 4) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(base + floats_of_x * 4 + tid * 16 + next), "l"(of_plane) : "memory");
            plane += s.xd, of_plane += filters;
            if (--left_t == 0) left_t = planes, plane += (int)s.xc - (int)(planes * s.xd), of_plane += (s.t - planes) * filters;
            left--, next = next == (stages - 1) * stage_floats * 4 ? 0 : next + stage_floats * 4;
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
#pragma unroll
    for (unsigned i = 0; i + 1 < stages; i++) fetch();

    // Lanes are dealt as in conv3d_registers.cu.
    unsigned lane = tid % 32, group = lane >> 1 & 1 | lane >> 2 & 2, segment = lane & 1 | lane >> 1 & 2 | lane >> 2 & 4;
    const float *of_x = memory + tid / 32 * row_floats + segment * window, *of_w = memory + floats_of_x + group * 8;
    float sum[8][places] = {};
    for (unsigned ring = 0; units > 0; units--) {
        asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2) : "memory");
        __syncthreads();
        fetch();
        const float *row_x = of_x + ring * stage_floats, *row_w = of_w + ring * stage_floats;
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
