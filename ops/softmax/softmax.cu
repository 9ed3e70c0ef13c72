// Softmax of each row of a float32 matrix of rows x columns, and its forms:
// y[r][c] = e^(x[r][c] - max x[r]) / (sum over c of e^(x[r][c] - max x[r])).
//
// Each rung makes one change to the rung before it. Every rung takes rows of any
// length, from any multiple of 4 bytes on.

#include "softmax.cuh"

// A thread has a row and reads it three times: for the maximum, for the sum, and
// for the outputs. Neighbouring threads read elements that are a row apart.
extern "C" __global__ void softmax_three_passes(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns) {
    unsigned r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    x += (size_t)r * columns, y += (size_t)r * columns;
    float maximum = minus_infinity(), sum = 0;
    for (unsigned c = 0; c < columns; c++) maximum = fmaxf(maximum, x[c]);
    float shift = shift_of(maximum);
    for (unsigned c = 0; c < columns; c++) sum += exponential(x[c] - shift);
    float scale = 1 / sum;
    for (unsigned c = 0; c < columns; c++) y[c] = exponential(x[c] - shift) * scale;
}

// A warp has a row: lanes read neighbours, and exchange maxima and sums by shuffles.
extern "C" __global__ void softmax_warp(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns) {
    unsigned r = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (r >= rows) return;
    x += (size_t)r * columns, y += (size_t)r * columns;
    float maximum = minus_infinity(), sum = 0;
    for (unsigned c = Warp::id(); c < columns; c += 32) maximum = fmaxf(maximum, x[c]);
    float shift = shift_of(Warp::max(maximum));
    for (unsigned c = Warp::id(); c < columns; c += 32) sum += exponential(x[c] - shift);
    float scale = 1 / Warp::sum(sum);
    for (unsigned c = Warp::id(); c < columns; c += 32) y[c] = exponential(x[c] - shift) * scale;
}

// The maximum and the sum come from one pass: a lane rescales its sum where its maximum
// grows, and once more to the maximum of all lanes. x is read twice.
extern "C" __global__ void softmax_online(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns) {
    unsigned r = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (r >= rows) return;
    x += (size_t)r * columns, y += (size_t)r * columns;
    float maximum = minus_infinity(), sum = 0;
    for (unsigned c = Warp::id(); c < columns; c += 32) {
        float before = maximum;
        maximum = fmaxf(before, x[c]);
        sum = sum * exponential(before - shift_of(maximum)) + exponential(x[c] - shift_of(maximum));
    }
    float shift = shift_of(Warp::max(maximum));
    float scale = 1 / Warp::sum(sum * exponential(maximum - shift));
    for (unsigned c = Warp::id(); c < columns; c += 32) y[c] = exponential(x[c] - shift) * scale;
}

// A row of up to 1024 columns stays in the warp's registers: x is read once, 16 bytes
// an access. Longer rows take the rung before.
extern "C" __global__ void softmax_registers(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns) {
    unsigned r = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (r < rows) fitted<plain, Warp, 8>({x, nullptr, y, r, columns});
}

// A block has a row: of up to 8192 columns in the registers of 1024 threads, of up to
// 1024 in those of 64.
extern "C" __global__ void __launch_bounds__(1024) softmax_block(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns) {
    fitted<plain, Block<1024>, 2>({x, nullptr, y, blockIdx.x, columns});
}
extern "C" __global__ void __launch_bounds__(64) softmax_block_of_64(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns) {
    fitted<plain, Block<64>, 4>({x, nullptr, y, blockIdx.x, columns});
}

// Half the threads have twice the columns each, and three blocks share a multiprocessor,
// which then has three rows on the way in place of two. Short rows stay with 64 threads.
extern "C" __global__ void __launch_bounds__(512, 3) softmax_block_512(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns) {
    fitted<plain, Block<512>, 4>({x, nullptr, y, blockIdx.x, columns});
}
extern "C" __global__ void __launch_bounds__(64) softmax_block_512_of_64(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns) {
    fitted<plain, Block<64>, 4>({x, nullptr, y, blockIdx.x, columns});
}

// The logarithm: y = x - max - log(sum), one warp per row.
extern "C" __global__ void log_softmax_online(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns) {
    unsigned r = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (r < rows) online<logarithm, Warp>({x, nullptr, y, r, columns});
}

// The logarithm, one block per row, which stays in registers.
extern "C" __global__ void __launch_bounds__(1024) log_softmax_block(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns) {
    fitted<logarithm, Block<1024>, 2>({x, nullptr, y, blockIdx.x, columns});
}
extern "C" __global__ void __launch_bounds__(64) log_softmax_block_of_64(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns) {
    fitted<logarithm, Block<64>, 4>({x, nullptr, y, blockIdx.x, columns});
}

// Elements whose mask is 0 count as -inf, one warp per row.
extern "C" __global__ void masked_softmax_online(const float* __restrict__ x, const unsigned char* __restrict__ mask, float* __restrict__ y, unsigned rows, unsigned columns) {
    unsigned r = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (r < rows) online<masked, Warp>({x, mask, y, r, columns});
}

// The masked form, one block per row, which stays in registers.
extern "C" __global__ void __launch_bounds__(1024) masked_softmax_block(const float* __restrict__ x, const unsigned char* __restrict__ mask, float* __restrict__ y, unsigned rows, unsigned columns) {
    fitted<masked, Block<1024>, 2>({x, mask, y, blockIdx.x, columns});
}
extern "C" __global__ void __launch_bounds__(64) masked_softmax_block_of_64(const float* __restrict__ x, const unsigned char* __restrict__ mask, float* __restrict__ y, unsigned rows, unsigned columns) {
    fitted<masked, Block<64>, 4>({x, mask, y, blockIdx.x, columns});
}
