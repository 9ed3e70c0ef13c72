// Convolution of float32 volumes in registers: a thread has 8 channels by 8 neighbouring
// places of a row, and filters are three wide.
//
// A stage of shared memory is a plane of x of one channel, with its halo, and the filters
// that meet it, of 32 channels of y. The copies of two stages are under way while one is
// multiplied. A thread reads 16 bytes at a time: 10 elements of x and 24 of w for 192
// multiplications. What it copies lies at the same place of every plane: places are divided
// once. Planes of padding are neither copied nor multiplied.

#include "conv2d.cuh"

// How a call is cut: Strips of registers.go. A tile has so many segments of 8 places in a
// row and so many rows.
struct Strips { unsigned segments, rows, across, down; };

extern __shared__ __align__(16) float memory[];

const unsigned channels = 32, pitch_w = 36, stages = 3; // rows of w are 4 longer: they start at other banks

static __device__ void copy_vector(float* to, const float* from, unsigned bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(bytes) : "memory");
}
static __device__ void copy_element(float* to, const float* from, bool any) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(any ? 4 : 0) : "memory");
}

// `lead` elements of a row of x lie before the first that a place needs, so that vectors of
// x are aligned: 3 with a padding of 1. Without aligned vectors it is 0.
template <unsigned lead> static __device__ __forceinline__ void registers(const float* x, const float* w, const float* bias, float* y, const Shape& s, const Strips& p, bool wide) {
    unsigned tid = threadIdx.x, b = blockIdx.x, column = b % p.across * p.segments * 8, row = b / p.across % p.down * p.rows;
    b /= p.across * p.down;
    unsigned od = b % s.od, image = b / s.od, first = blockIdx.y * channels;
    unsigned pitch = p.segments * 8 + 8, height = p.rows + s.r - 1, taps = s.r * 3, bytes_x = height * pitch, stage = bytes_x + taps * pitch_w;
    int depth = (int)od - s.depth_padding;
    unsigned from_t = depth < 0 ? -depth : 0, to_t = min((int)s.t, (int)s.d - depth); // planes that are in x
    if ((int)to_t < (int)from_t) to_t = from_t;
    x += (size_t)image * s.xn;

    // The vectors of a plane that this thread copies: where they are, and bits of the
    // elements that are in x. Bit 4 is set if there is one.
    int at[2];
    unsigned inside[2];
#pragma unroll
    for (unsigned j = 0; j < 2; j++) {
        unsigned e = tid + j * blockDim.x, of = e / (pitch / 4);
        int h = (int)(row + of) - s.padding, c = (int)(column + e % (pitch / 4) * 4) - s.padding - (int)lead;
        at[j] = h * (int)s.xh + c * (int)s.xw, inside[j] = of < height ? 16 : 0;
        for (unsigned i = 0; i < 4; i++)
            if (of < height && h >= 0 && h < (int)s.h && c + (int)i >= 0 && c + (int)i < (int)s.w) inside[j] |= 1 << i;
    }
    unsigned k = first + tid % 32;
    bool has_k = k < s.k;
    w += has_k ? (size_t)k * s.wk : 0;

    unsigned next_c = 0, next_t = from_t, next = 0; // the stage that is copied next
    auto fetch = [&] {
        if (next_c < s.c && from_t < to_t) {
            float* to = memory + next * stage;
            const float* plane = x + (size_t)next_c * s.xc + (size_t)(depth + (int)next_t) * s.xd;
#pragma unroll
            for (unsigned j = 0; j < 2; j++) {
                if (!inside[j]) continue;
                float* to_x = to + (tid + j * blockDim.x) * 4;
                if (wide) copy_vector(to_x, inside[j] & 15 ? plane + at[j] : plane, inside[j] & 15 ? 16 : 0);
                else
#pragma unroll 1
                    for (unsigned i = 0; i < 4; i++) copy_element(to_x + i, inside[j] >> i & 1 ? plane + at[j] + (int)(i * s.xw) : plane, inside[j] >> i & 1);
            }
            const float* of_w = w + (size_t)next_c * s.wc + (size_t)next_t * s.wt;
#pragma unroll 1
            for (unsigned tap = tid / 32; tap < taps; tap += blockDim.x / 32) copy_element(to + bytes_x + tap * pitch_w + tid % 32, of_w + (size_t)tap * s.ws, has_k);
            if (++next_t == to_t) next_t = from_t, next_c++;
            if (++next == stages) next = 0;
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    fetch();
    fetch();

    // Lanes are dealt so that lane xor 1 reads the same of w, and lane xor 2 the same of x:
    // reads of 16 bytes of w take two wavefronts and not four, and those of x two or three.
    unsigned lane = tid % 32, group = lane >> 1 & 1 | lane >> 2 & 2, segment = tid / 32 * 8 + (lane & 1 | lane >> 1 & 2 | lane >> 2 & 4);
    unsigned down = segment / p.segments;
    segment %= p.segments;
    bool works = down < p.rows;
    if (!works) down = 0;
    const float *of_x = memory + down * pitch + segment * 8, *of_w = memory + bytes_x + group * 8;
    float sum[8][8] = {};
    unsigned units = s.c * (to_t - from_t);
    for (unsigned u = 0, ring = 0; u < units; u++) {
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        fetch();
        const float *row_x = of_x + ring * stage, *row_w = of_w + ring * stage;
        if (++ring == stages) ring = 0;
#pragma unroll 1
        for (unsigned r = 0; r < s.r; r++, row_x += pitch, row_w += 3 * pitch_w) {
            float v[16];
#pragma unroll
            for (unsigned i = 0; i < lead + 10; i += 4) {
                float4 four = *(const float4*)(row_x + i);
                v[i] = four.x, v[i + 1] = four.y, v[i + 2] = four.z, v[i + 3] = four.w;
            }
#pragma unroll
            for (unsigned q = 0; q < 3; q++) {
                float4 low = *(const float4*)(row_w + q * pitch_w), high = *(const float4*)(row_w + q * pitch_w + 4);
                const float f[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
                for (unsigned i = 0; i < 8; i++)
#pragma unroll
                    for (unsigned j = 0; j < 8; j++) sum[i][j] += f[i] * v[lead + q + j];
            }
        }
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    row += down, column += segment * 8;
    if (!works || row >= s.oh || column >= s.ow) return;
    y += (size_t)image * s.yn + (size_t)od * s.yd + (size_t)row * s.yh + (size_t)column * s.yw;
    bool whole = s.yw == 1 && s.ow % 4 == 0 && (size_t)y % 16 == 0;
#pragma unroll
    for (unsigned i = 0; i < 8; i++) {
        unsigned of = first + group * 8 + i;
        if (of >= s.k) break;
        float* to = y + (size_t)of * s.yk;
#pragma unroll
        for (unsigned j = 0; j < 8; j++) sum[i][j] = finish(sum[i][j], bias, of, s);
#pragma unroll
        for (unsigned j = 0; j < 8; j += 4) {
            if (whole && column + j < s.ow) *(float4*)(to + j) = make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
#pragma unroll
            for (unsigned e = j; e < j + 4; e++)
                if (!whole && column + e < s.ow) to[(size_t)e * s.yw] = sum[i][e];
        }
    }
}

extern "C" __global__ void __launch_bounds__(256, 2) conv3d_registers(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias, float* __restrict__ y, Shape s, Strips p) {
    bool wide = s.xw == 1 && s.w % 4 == 0 && (size_t)x % 16 == 0 && s.padding % 4 < 2;
    if (wide && s.padding % 4 == 1) registers<3>(x, w, bias, y, s, p, true);
    else registers<0>(x, w, bias, y, s, p, wide);
}
