// Maxima with their places, and means, of windows that move over planes of float32.
//
// Each rung makes one change to the rung before it.

#include "pool.cuh"

// A thread has an output, and an if for each element of its window.
template <bool average> __device__ void element(const float* x, float* y, int* index, const Shape& s) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= s.planes * s.oh * s.ow) return;
    unsigned column = i % s.ow, row = i / s.ow % s.oh;
    x += (size_t)(i / s.ow / s.oh) * s.h * s.w;
    Kept<average> kept;
    unsigned elements = 0;
    for (unsigned r = 0; r < s.window; r++)
        for (unsigned c = 0; c < s.window; c++) {
            int at_row = (int)(row * s.stride + r) - s.padding, at_column = (int)(column * s.stride + c) - s.padding;
            if (at_row < 0 || at_row >= (int)s.h || at_column < 0 || at_column >= (int)s.w) continue;
            int at = at_row * (int)s.w + at_column;
            kept.add(x[at], at);
            elements++;
        }
    kept.store(y, index, i, s, elements);
}
extern "C" __global__ void maxpool_element(const float* __restrict__ x, float* __restrict__ y, int* __restrict__ index, Shape s) { element<false>(x, y, index, s); }
extern "C" __global__ void avgpool_element(const float* __restrict__ x, float* __restrict__ y, Shape s) { element<true>(x, y, nullptr, s); }

// The window is clipped to the plane first: no if for an element is left.
template <bool average> __device__ void clipped_output(const float* x, float* y, int* index, const Shape& s, unsigned i) {
    Range columns(i % s.ow, s.w, s), rows(i / s.ow % s.oh, s.h, s);
    x += (size_t)(i / s.ow / s.oh) * s.h * s.w;
    Kept<average> kept;
    for (int r = rows.first; r < rows.end; r++)
        for (int c = columns.first; c < columns.end; c++) kept.add(x[r * (int)s.w + c], r * (int)s.w + c);
    kept.store(y, index, i, s, (rows.end - rows.first) * (columns.end - columns.first));
}
template <bool average> __device__ void clipped(const float* x, float* y, int* index, const Shape& s) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < s.planes * s.oh * s.ow) clipped_output<average>(x, y, index, s, i);
}
extern "C" __global__ void maxpool_clipped(const float* __restrict__ x, float* __restrict__ y, int* __restrict__ index, Shape s) { clipped<false>(x, y, index, s); }
extern "C" __global__ void avgpool_clipped(const float* __restrict__ x, float* __restrict__ y, Shape s) { clipped<true>(x, y, nullptr, s); }

// A block computes 8 rows of 32 outputs from a tile of the plane in shared memory: an
// element that several windows have is loaded once.
const unsigned tile_rows = 8, tile_columns = 32;
template <bool average> __device__ void shared_tile(const float* x, float* y, int* index, const Shape& s) {
    extern __shared__ float tile[];
    unsigned across = (s.ow + tile_columns - 1) / tile_columns, down = (s.oh + tile_rows - 1) / tile_rows;
    unsigned plane = blockIdx.x / across / down;
    unsigned row = blockIdx.x / across % down * tile_rows, column = blockIdx.x % across * tile_columns;
    x += (size_t)plane * s.h * s.w;
    int top = (int)(row * s.stride) - s.padding, left = (int)(column * s.stride) - s.padding;
    unsigned width = (tile_columns - 1) * s.stride + s.window, height = (tile_rows - 1) * s.stride + s.window;
    for (unsigned r = threadIdx.x / 32; r < height; r += tile_rows)
        for (unsigned c = threadIdx.x % 32; c < width; c += 32) {
            int at_row = top + (int)r, at_column = left + (int)c;
            if (at_row >= 0 && at_row < (int)s.h && at_column >= 0 && at_column < (int)s.w) tile[r * width + c] = x[at_row * (int)s.w + at_column];
        }
    __syncthreads();
    row += threadIdx.x / 32, column += threadIdx.x % 32;
    if (row >= s.oh || column >= s.ow) return;
    Range columns(column, s.w, s), rows(row, s.h, s);
    Kept<average> kept;
    for (int r = rows.first; r < rows.end; r++)
        for (int c = columns.first; c < columns.end; c++) kept.add(tile[(r - top) * (int)width + c - left], r * (int)s.w + c);
    kept.store(y, index, ((size_t)plane * s.oh + row) * s.ow + column, s, (rows.end - rows.first) * (columns.end - columns.first));
}
extern "C" __global__ void __launch_bounds__(256) maxpool_shared(const float* __restrict__ x, float* __restrict__ y, int* __restrict__ index, Shape s) { shared_tile<false>(x, y, index, s); }
extern "C" __global__ void __launch_bounds__(256) avgpool_shared(const float* __restrict__ x, float* __restrict__ y, Shape s) { shared_tile<true>(x, y, nullptr, s); }

// Without shared memory: a thread has four outputs below each other. Each row of the plane
// is pooled across once, and the result is used by every window that has the row.
const unsigned outputs_down = 4;
template <bool average> __device__ void rows_once(const float* x, float* y, int* index, const Shape& s) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, groups = (s.oh + outputs_down - 1) / outputs_down;
    if (i >= s.planes * groups * s.ow) return;
    unsigned plane = i / s.ow / groups, row = i / s.ow % groups * outputs_down, column = i % s.ow;
    x += (size_t)plane * s.h * s.w;
    Range columns(column, s.w, s);
    Kept<average> kept[outputs_down];
    int top = (int)(row * s.stride) - s.padding;
    int end = min(top + (int)((outputs_down - 1) * s.stride + s.window), (int)s.h);
    for (int r = max(top, 0); r < end; r++) {
        Kept<average> across;
        for (int c = columns.first; c < columns.end; c++) across.add(x[r * (int)s.w + c], r * (int)s.w + c);
#pragma unroll
        for (unsigned o = 0; o < outputs_down; o++) {
            int below = r - top - (int)(o * s.stride);
            if (below >= 0 && below < (int)s.window) kept[o].add(across);
        }
    }
#pragma unroll
    for (unsigned o = 0; o < outputs_down; o++) {
        if (row + o >= s.oh) break;
        Range rows(row + o, s.h, s);
        kept[o].store(y, index, ((size_t)plane * s.oh + row + o) * s.ow + column, s, (rows.end - rows.first) * (columns.end - columns.first));
    }
}
extern "C" __global__ void maxpool_rows(const float* __restrict__ x, float* __restrict__ y, int* __restrict__ index, Shape s) { rows_once<false>(x, y, index, s); }
extern "C" __global__ void avgpool_rows(const float* __restrict__ x, float* __restrict__ y, Shape s) { rows_once<true>(x, y, nullptr, s); }

// A thread has four outputs beside each other, of windows of 3 in steps of 2 with padding 1:
// loads and stores of 16 bytes, all loads before the first comparison. Other windows, and
// planes whose rows are no whole vectors, have the loop of `clipped`.
template <bool average> __device__ void vectors(const float* __restrict__ x, float* __restrict__ y, int* __restrict__ index, const Shape& s) {
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, outputs = s.planes * s.oh * s.ow;
    bool fit = s.window == 3 && s.stride == 2 && s.padding == 1 && s.w % 8 == 0 && ((size_t)x | (size_t)y | (size_t)index) % 16 == 0;
    if (!fit) {
        for (unsigned i = thread; i < outputs; i += gridDim.x * blockDim.x) clipped_output<average>(x, y, index, s, i);
        return;
    }
    if (thread >= outputs / 4) return;
    unsigned across = s.ow / 4, column = thread % across, row = thread / across % s.oh;
    x += (size_t)(thread / across / s.oh) * s.h * s.w;
    Range rows(row, s.h, s);
    int top = 2 * (int)row - 1, left = 8 * (int)column - 1;
    float v[3][9];
#pragma unroll
    for (int r = 0; r < 3; r++) {
        const float* from = x + (size_t)min(max(top + r, rows.first), rows.end - 1) * s.w + left; // of a row that is there
        *(float4*)&v[r][1] = *(const float4*)(from + 1), *(float4*)&v[r][5] = *(const float4*)(from + 5);
        v[r][0] = from[column == 0];
    }
    Kept<average> kept[4];
#pragma unroll
    for (int r = 0; r < 3; r++) {
        if (top + r < rows.first || top + r >= rows.end) continue;
#pragma unroll
        for (int o = 0; o < 4; o++)
#pragma unroll
            for (int c = 2 * o; c < 2 * o + 3; c++)
                if (c > 0 || column > 0) kept[o].add(v[r][c], (top + r) * (int)s.w + left + c);
    }
    float4 values;
    int4 places;
#pragma unroll
    for (int o = 0; o < 4; o++) kept[o].store((float*)&values, (int*)&places, o, s, (rows.end - rows.first) * (o > 0 || column > 0 ? 3 : 2));
    ((float4*)y)[thread] = values;
    if (!average) ((int4*)index)[thread] = places;
}
extern "C" __global__ void __launch_bounds__(256) maxpool_vectors(const float* __restrict__ x, float* __restrict__ y, int* __restrict__ index, Shape s) { vectors<false>(x, y, index, s); }
extern "C" __global__ void __launch_bounds__(256) avgpool_vectors(const float* __restrict__ x, float* __restrict__ y, Shape s) { vectors<true>(x, y, nullptr, s); }

// A thread has two outputs beside each other in each of two rows, of windows of 3 in steps of
// 2 with padding 1: a vector of each of five rows, all of them in flight, and the element before it
// from the lane before. A row is pooled across once for both rows of outputs. A maximum is
// found without a look at NaN: one in the five rows makes their sum NaN, and then, as for
// other windows and planes, the outputs have the loop of `clipped`.
template <bool average> __device__ void pairs(const float* __restrict__ x, float* __restrict__ y, int* __restrict__ index, const Shape& s) {
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, outputs = s.planes * s.oh * s.ow;
    bool fit = s.window == 3 && s.stride == 2 && s.padding == 1 && s.w % 4 == 0 && ((size_t)x % 16 | ((size_t)y | (size_t)index) % 8) == 0;
    if (!fit) {
        for (unsigned i = thread; i < outputs; i += gridDim.x * blockDim.x) clipped_output<average>(x, y, index, s, i);
        return;
    }
    unsigned across = s.w / 4, groups = (s.oh + 1) / 2, all = s.planes * groups * across, t = min(thread, all - 1); // all lanes take part in shuffles
    unsigned column = t % across, row = t / across % groups * 2, plane = t / across / groups;
    const float* from = x + (size_t)plane * s.h * s.w + column * 4;
    int top = 2 * (int)row - 1, at[5];
    float v[5][5];
#pragma unroll
    for (int r = 0; r < 5; r++) {
        at[r] = min(max(top + r, 0), (int)s.h - 1) * (int)s.w; // of a row that is there, again
        *(float4*)&v[r][1] = *(const float4*)(from + at[r]); // aligned in registers
    }
#pragma unroll
    for (int r = 0; r < 5; r++) {
        v[r][0] = __shfl_up_sync(~0u, v[r][4], 1);
        if (threadIdx.x % 32 == 0 || column == 0) v[r][0] = from[at[r] - (column > 0)];
    }
    if (thread >= all) return;
    float value[5][2], check = 0;
    int place[5][2];
#pragma unroll
    for (int r = 0; r < 5; r++)
#pragma unroll
        for (int o = 0; o < 2; o++) {
            bool edge = o == 0 && column == 0;
            const float *of = v[r] + 2 * o;
            if (average) {
                value[r][o] = (edge ? of[1] : of[0] + of[1]) + of[2];
                continue;
            }
            float best = of[0];
            int c = 2 * o - !edge; // without the padding's column, the next one comes twice
            if (of[1] > best) best = of[1], c = 2 * o;
            if (of[2] > best) best = of[2], c = 2 * o + 1;
            value[r][o] = best, place[r][o] = at[r] + c + (int)column * 4;
            check += of[0] + of[1] + of[2];
        }
    bool odd = check != check; // or infinities of both signs
#pragma unroll
    for (int q = 0; q < 2; q++) {
        if (row + q >= s.oh) break;
        size_t to = ((size_t)plane * s.oh + row + q) * s.ow + column * 2;
        float of[2];
        int where[2];
#pragma unroll
        for (int o = 0; o < 2; o++) {
            of[o] = value[2 * q][o], where[o] = place[2 * q][o];
            if (average) {
                Range rows(row + q, s.h, s);
                of[o] = (rows.first > top + 2 * q ? 0 : of[o]) + value[2 * q + 1][o] + (rows.end <= top + 2 * q + 2 ? 0 : value[2 * q + 2][o]);
                of[o] /= (float)(s.count_padding ? 9 : (rows.end - rows.first) * (o == 0 && column == 0 ? 2 : 3));
            } else {
#pragma unroll
                for (int r = 2 * q + 1; r < 2 * q + 3; r++)
                    if (value[r][o] > of[o]) of[o] = value[r][o], where[o] = place[r][o];
            }
        }
        if (!average && odd) {
            for (unsigned o = 0; o < 2; o++) clipped_output<false>(x, y, index, s, to + o);
            continue;
        }
        *(float2*)(y + to) = make_float2(of[0], of[1]);
        if (!average) *(int2*)(index + to) = make_int2(where[0], where[1]);
    }
}
extern "C" __global__ void __launch_bounds__(256) maxpool_pairs(const float* __restrict__ x, float* __restrict__ y, int* __restrict__ index, Shape s) { pairs<false>(x, y, index, s); }
extern "C" __global__ void __launch_bounds__(256) avgpool_pairs(const float* __restrict__ x, float* __restrict__ y, Shape s) { pairs<true>(x, y, nullptr, s); }
