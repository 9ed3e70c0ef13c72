// Maxima of windows that move over images whose channels lie innermost (NHWC), float32, without
// places.
//
// Each rung makes one change to the rung before it.

// Windows of window x window pixels move over each image of h x w, as in pool.cuh.
struct Images {
    unsigned images, h, w, channels, oh, ow, window, stride;
    int padding;
};

// v where it is above the maximum, or the first NaN.
static __device__ float larger(float best, float v) { return v > best || (v != v && best == best) ? v : best; }

static __device__ float4 larger(float4 best, float4 v) {
    best.x = larger(best.x, v.x), best.y = larger(best.y, v.y);
    best.z = larger(best.z, v.z), best.w = larger(best.w, v.w);
    return best;
}

// The maximum of output i of an image's pixels, each of which is `across` values of T.
template <class T> static __device__ void output(const T* x, T* y, const Images& s, unsigned i, unsigned across) {
    unsigned channel = i % across, column = i / across % s.ow, row = i / across / s.ow % s.oh, image = i / across / s.ow / s.oh;
    int left = (int)(column * s.stride) - s.padding, top = (int)(row * s.stride) - s.padding;
    int right = min(left + (int)s.window, (int)s.w), bottom = min(top + (int)s.window, (int)s.h);
    left = max(left, 0), top = max(top, 0);
    x += (size_t)image * s.h * s.w * across + channel;
    T best = x[((size_t)top * s.w + left) * across];
    for (int r = top; r < bottom; r++)
        for (int c = left; c < right; c++) best = larger(best, x[((size_t)r * s.w + c) * across]);
    y[i] = best;
}

// Whether pixels are whole vectors of four channels.
static __device__ bool vectors(const float* x, const float* y, const Images& s) { return s.channels % 4 == 0 && ((size_t)x | (size_t)y) % 16 == 0; }

// A thread has an output: neighbouring lanes have neighbouring channels.
static __device__ void elements(const float* x, float* y, const Images& s) {
    unsigned outputs = s.images * s.oh * s.ow * s.channels;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < outputs; i += gridDim.x * blockDim.x) output(x, y, s, i, s.channels);
}
extern "C" __global__ void maxpool_nhwc_element(const float* __restrict__ x, float* __restrict__ y, Images s) { elements(x, y, s); }

// Four channels per thread: loads and stores of 16 bytes.
static __device__ void fours(const float* x, float* y, const Images& s) {
    if (!vectors(x, y, s)) return elements(x, y, s);
    unsigned outputs = s.images * s.oh * s.ow * (s.channels / 4);
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < outputs; i += gridDim.x * blockDim.x) output((const float4*)x, (float4*)y, s, i, s.channels / 4);
}
extern "C" __global__ void maxpool_nhwc_vectors(const float* __restrict__ x, float* __restrict__ y, Images s) { fours(x, y, s); }

// Two outputs below each other of four channels per thread, of windows of 3 in steps of 2 with padding 1: 15
// pixels for two outputs, all of them in flight. Other windows have the loop of the rung before.
extern "C" __global__ void __launch_bounds__(256) maxpool_nhwc_rows(const float* __restrict__ x, float* __restrict__ y, Images s) {
    if (s.window != 3 || s.stride != 2 || s.padding != 1 || !vectors(x, y, s)) return fours(x, y, s);
    unsigned across = s.channels / 4, rows = (s.oh + 1) / 2, t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned channel = t % across, column = t / across % s.ow, row = t / across / s.ow % rows * 2, image = t / across / s.ow / rows;
    if (image >= s.images) return;
    const float4* from = (const float4*)x + (size_t)image * s.h * s.w * across + channel;
    float4 v[5][3];
#pragma unroll
    for (int r = 0; r < 5; r++) {
        const float4* line = from + (size_t)min(max(2 * (int)row - 1 + r, 0), (int)s.h - 1) * s.w * across;
#pragma unroll
        for (int c = 0; c < 3; c++) v[r][c] = line[(unsigned)min(max(2 * (int)column - 1 + c, 0), (int)s.w - 1) * across]; // its neighbour again where there is none
    }
    float4 three[5];
#pragma unroll
    for (int r = 0; r < 5; r++) three[r] = larger(larger(v[r][0], v[r][1]), v[r][2]);
    float4* to = (float4*)y + (((size_t)image * s.oh + row) * s.ow + column) * across + channel;
    *to = larger(larger(three[0], three[1]), three[2]);
    if (row + 1 < s.oh) to[s.ow * across] = larger(larger(three[2], three[3]), three[4]);
}
