// What the rungs of conv2d share: the shape of a call with its strides, so that one kernel
// takes NCHW and NHWC, and the tile of a product that most of them end in.
#pragma once

// y[n][k][od][oh][ow] = sum over c, t, r, s of w[k][c][t][r][s] *
// x[n][c][od stride + t dilation - padding][oh ...][ow ...]: a correlation. Two dimensions
// are three with depths of 1, whose padding is 0. Elements outside x add nothing. c and k
// are the channels of a group.
struct Shape {
    unsigned images, c, d, h, w, k, t, r, s, od, oh, ow;
    unsigned stride, dilation, groups;
    int padding, depth_padding;
    unsigned bias, relu;
    unsigned xn, xc, xd, xh, xw; // elements of x from an image to the next, and so on
    unsigned wk, wc, wt, wr, ws;
    unsigned yn, yk, yd, yh, yw;

    __device__ unsigned places() const { return images * od * oh * ow; }
    __device__ unsigned inner() const { return c * t * r * s; }
};

// An output's place in x and y, and its first row, column and depth there.
struct Place {
    size_t x, y; // of the image
    int depth, row, column;

    __device__ Place(unsigned p, const Shape& s) {
        unsigned ow = p % s.ow, oh = p / s.ow % s.oh, od = p / (s.ow * s.oh) % s.od, image = p / (s.ow * s.oh * s.od);
        x = (size_t)image * s.xn;
        y = (size_t)image * s.yn + (size_t)od * s.yd + (size_t)oh * s.yh + (size_t)ow * s.yw;
        depth = (int)(od * s.stride) - s.depth_padding, row = (int)(oh * s.stride) - s.padding, column = (int)(ow * s.stride) - s.padding;
    }
};

// The element of x under tap (t, r, s) of a place: 0 outside.
template <class T> __device__ __forceinline__ T under(const T* x, const Place& p, const Shape& s, unsigned c, unsigned t, unsigned r, unsigned q) {
    int depth = p.depth + (int)(t * s.dilation), row = p.row + (int)(r * s.dilation), column = p.column + (int)(q * s.dilation);
    if (depth < 0 || depth >= (int)s.d || row < 0 || row >= (int)s.h || column < 0 || column >= (int)s.w) return T(0);
    return x[p.x + (size_t)c * s.xc + (size_t)depth * s.xd + (size_t)row * s.xh + (size_t)column * s.xw];
}

// A tap's coordinates from its number, the channel last or first as it lies in w.
struct Tap {
    unsigned c, t, r, s;
    __device__ Tap(unsigned i, const Shape& shape) {
        if (shape.wc == 1) c = i % shape.c, i /= shape.c;
        s = i % shape.s, i /= shape.s;
        r = i % shape.r, i /= shape.r;
        t = i % shape.t;
        if (shape.wc != 1) c = i / shape.t;
    }
};

// bias and ReLU, where the call has them. NaN stays NaN.
__device__ __forceinline__ float finish(float v, const float* bias, unsigned k, const Shape& s) {
    if (s.bias) v += bias[k];
    return s.relu && v < 0 ? 0 : v;
}

// 64 x 64 elements of a product per block of 256 threads, 4 x 4 per thread, 16 of the inner
// dimension per step. `a(row, i)` and `b(i)` give the factors, 0 outside the matrices; a block's
// columns are those that b was made for: column threadIdx.x % 64 of the tile.
const unsigned tile = 64, step = 16;
template <class A, class B, class Store> __device__ __forceinline__ void product(unsigned inner, const A& a, const B& b, const Store& store) {
    __shared__ __align__(16) float rows[step][tile + 4], columns[step][tile];
    unsigned tid = threadIdx.x, across = tid % 16 * 4, down = tid / 16 * 4;
    float sum[4][4] = {};
    for (unsigned first = 0; first < inner; first += step) {
#pragma unroll
        for (unsigned j = 0; j < 4; j++) {
            rows[tid % 16][tid / 16 + 16 * j] = a(tid / 16 + 16 * j, first + tid % 16);
            columns[tid / 64 + 4 * j][tid % 64] = b(first + tid / 64 + 4 * j);
        }
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < step; i++) {
            float4 u = *(const float4*)&rows[i][down], v = *(const float4*)&columns[i][across];
            const float left[4] = {u.x, u.y, u.z, u.w}, right[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (unsigned r = 0; r < 4; r++)
#pragma unroll
                for (unsigned c = 0; c < 4; c++) sum[r][c] += left[r] * right[c];
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned r = 0; r < 4; r++)
#pragma unroll
        for (unsigned c = 0; c < 4; c++) store(down + r, across + c, sum[r][c]);
}
