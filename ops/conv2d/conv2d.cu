// Two- and three-dimensional convolution of float32 as networks have it (a correlation),
// with a bias for each output channel and ReLU where the call has them.
//
// Each rung makes one change to the rung before it. One kernel takes NCHW and NHWC: the
// strides of the call say where an element is.

#include "conv2d.cuh"

// A thread has an output and loads both factors of each multiplication from global memory.
__device__ __forceinline__ void direct(const float* x, const float* w, const float* bias, float* y, const Shape& s) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, channels = s.k * s.groups;
    if (i >= s.places() * channels) return;
    // Neighbouring threads store neighbours: places in NCHW, channels in NHWC.
    unsigned spatial = s.od * s.oh * s.ow;
    unsigned k = s.yk == 1 ? i % channels : i / spatial % channels;
    unsigned p = s.yk == 1 ? i / channels : i / (spatial * channels) * spatial + i % spatial;
    Place place(p, s);
    unsigned group = k / s.k;
    float sum = 0;
    for (unsigned c = 0; c < s.c; c++)
        for (unsigned t = 0; t < s.t; t++)
            for (unsigned r = 0; r < s.r; r++)
#pragma unroll 1
                for (unsigned q = 0; q < s.s; q++)
                    sum += w[(size_t)k * s.wk + c * s.wc + t * s.wt + r * s.wr + q * s.ws] * under(x, place, s, group * s.c + c, t, r, q);
    y[place.y + (size_t)k * s.yk] = finish(sum, bias, k, s);
}
extern "C" __global__ void conv2d_direct(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias, float* __restrict__ y, Shape s) { direct(x, w, bias, y, s); }
extern "C" __global__ void conv3d_direct(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias, float* __restrict__ y, Shape s) { direct(x, w, bias, y, s); }

// A block computes 16 x 16 outputs of 8 channels: a channel of x with its halo is in shared
// memory while eight filters pass over it.
const unsigned side = 16, filters = 8;
extern "C" __global__ void __launch_bounds__(256) conv2d_shared(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias, float* __restrict__ y, Shape s) {
    extern __shared__ float memory[];
    unsigned across = (s.ow + side - 1) / side, down = (s.oh + side - 1) / side, blocks = (s.k + filters - 1) / filters;
    unsigned b = blockIdx.x, column = b % across * side, row = b / across % down * side;
    b /= across * down;
    unsigned first = b % blocks * filters, group = b / blocks % s.groups, image = b / blocks / s.groups;
    unsigned width = (side - 1) * s.stride + (s.s - 1) * s.dilation + 1, height = (side - 1) * s.stride + (s.r - 1) * s.dilation + 1;
    float *of_x = memory, *of_w = memory + width * height;
    int top = (int)(row * s.stride) - s.padding, left = (int)(column * s.stride) - s.padding;
    unsigned my_row = threadIdx.x / side, my_column = threadIdx.x % side;
    float sum[filters] = {};
    for (unsigned c = 0; c < s.c; c++) {
        const float* plane = x + (size_t)image * s.xn + (size_t)(group * s.c + c) * s.xc;
#pragma unroll 1
        for (unsigned i = threadIdx.x; i < width * height; i += 256) {
            int at_row = top + (int)(i / width), at_column = left + (int)(i % width);
            bool inside = at_row >= 0 && at_row < (int)s.h && at_column >= 0 && at_column < (int)s.w;
            of_x[i] = inside ? plane[(size_t)at_row * s.xh + (size_t)at_column * s.xw] : 0;
        }
#pragma unroll 1
        for (unsigned i = threadIdx.x; i < filters * s.r * s.s; i += 256) {
            unsigned k = first + i / (s.r * s.s), r = i / s.s % s.r, q = i % s.s;
            of_w[i] = k < s.k ? w[(size_t)(group * s.k + k) * s.wk + c * s.wc + r * s.wr + q * s.ws] : 0;
        }
        __syncthreads();
        for (unsigned r = 0; r < s.r; r++)
            for (unsigned q = 0; q < s.s; q++) {
                float v = of_x[(my_row * s.stride + r * s.dilation) * width + my_column * s.stride + q * s.dilation];
#pragma unroll
                for (unsigned f = 0; f < filters; f++) sum[f] += of_w[(f * s.r + r) * s.s + q] * v;
            }
        __syncthreads();
    }
    row += my_row, column += my_column;
    if (row >= s.oh || column >= s.ow) return;
#pragma unroll
    for (unsigned f = 0; f < filters; f++) {
        if (first + f >= s.k) break;
        unsigned k = group * s.k + first + f;
        y[(size_t)image * s.yn + (size_t)k * s.yk + (size_t)row * s.yh + (size_t)column * s.yw] = finish(sum[f], bias, k, s);
    }
}

// im2col: every output gets a column with all elements of x that it needs, r * s times as
// much as x. A thread writes one.
extern "C" __global__ void conv2d_im2col(const float* __restrict__ x, float* __restrict__ matrix, Shape s) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned places = s.places();
    if (i >= (size_t)places * s.inner() * s.groups) return;
    unsigned row = (unsigned)(i / places), group = row / s.inner();
    Tap tap(row % s.inner(), s);
    matrix[i] = under(x, Place((unsigned)(i % places), s), s, group * s.c + tap.c, tap.t, tap.r, tap.s);
}

// Factors of a product: rows of w, and columns of im2col's matrix.
struct Filters {
    const float* w;
    const Shape& s;
    unsigned first, group;
    __device__ float operator()(unsigned row, unsigned i) const {
        if (first + row >= s.k || i >= s.inner()) return 0;
        Tap tap(i, s);
        return w[(size_t)(group * s.k + first + row) * s.wk + tap.c * s.wc + tap.t * s.wt + tap.r * s.wr + tap.s * s.ws];
    }
};
struct Columns {
    const float* matrix;
    unsigned places, inner, place;
    __device__ float operator()(unsigned i) const { return place < places && i < inner ? matrix[(size_t)i * places + place] : 0; }
};

// Stores a tile of y.
struct Outputs {
    const float* bias;
    float* y;
    const Shape& s;
    unsigned first, group, place;
    __device__ void operator()(unsigned row, unsigned column, float v) const {
        if (first + row >= s.k || place + column >= s.places()) return;
        unsigned k = group * s.k + first + row;
        y[Place(place + column, s).y + (size_t)k * s.yk] = finish(v, bias, k, s);
    }
};

// The product of w and im2col's matrix, of each group.
extern "C" __global__ void __launch_bounds__(256) conv2d_im2col_2(const float* __restrict__ matrix, const float* __restrict__ w, const float* __restrict__ bias, float* __restrict__ y, Shape s) {
    unsigned place = blockIdx.x * tile, first = blockIdx.y * tile, group = blockIdx.z;
    matrix += (size_t)group * s.inner() * s.places();
    product(s.inner(), Filters{w, s, first, group}, Columns{matrix, s.places(), s.inner(), place + threadIdx.x % tile}, Outputs{bias, y, s, first, group, place});
}

// The columns of im2col's matrix as the product asks for them, from x.
struct Implicit {
    const float* x;
    const Shape& s;
    unsigned group;
    bool inside;
    Place place;
    __device__ Implicit(const float* x, const Shape& s, unsigned group, unsigned p) : x(x), s(s), group(group), inside(p < s.places()), place(p, s) {}
    __device__ float operator()(unsigned i) const {
        if (!inside || i >= s.inner()) return 0;
        Tap tap(i, s);
        return under(x, place, s, group * s.c + tap.c, tap.t, tap.r, tap.s);
    }
};

// Implicit GEMM: the same product without the matrix in memory.
__device__ __forceinline__ void implicit(const float* x, const float* w, const float* bias, float* y, const Shape& s) {
    unsigned place = blockIdx.x * tile, first = blockIdx.y * tile, group = blockIdx.z;
    product(s.inner(), Filters{w, s, first, group}, Implicit(x, s, group, place + threadIdx.x % tile), Outputs{bias, y, s, first, group, place});
}
extern "C" __global__ void __launch_bounds__(256) conv2d_implicit(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias, float* __restrict__ y, Shape s) { implicit(x, w, bias, y, s); }
extern "C" __global__ void __launch_bounds__(256) conv3d_implicit(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias, float* __restrict__ y, Shape s) { implicit(x, w, bias, y, s); }
