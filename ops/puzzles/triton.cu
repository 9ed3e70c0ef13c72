// The twelve puzzles of Triton as CUDA: what a program computes there, a block does here.

// 1: a constant is added.
extern "C" __global__ void puzzle_add(float* out, const float* x) {
    int i = threadIdx.x;
    out[i] = x[i] + 10;
}

// 2: blocks, and a mask at the end.
extern "C" __global__ void puzzle_add_block(float* out, const float* x, int n) {
    int i = blockIdx.x * 32 + threadIdx.x;
    if (i < n) out[i] = x[i] + 10;
}

// 3: a sum of a row and a column, each thread two elements.
extern "C" __global__ void puzzle_outer(float* out, const float* x, const float* y) {
    for (int i = threadIdx.x; i < 64; i += 32) out[i] = x[i % 8] + y[i / 8];
}

// 4: the same in tiles of 8 x 8.
extern "C" __global__ void puzzle_outer_block(float* out, const float* x, const float* y, int rows, int columns) {
    for (int i = threadIdx.x; i < 64; i += 32) {
        int row = blockIdx.y * 8 + i / 8, column = blockIdx.x * 8 + i % 8;
        if (row < rows && column < columns) out[row * columns + column] = x[column] + y[row];
    }
}

// 5: a product and a ReLU in one kernel.
extern "C" __global__ void puzzle_mul_relu(float* out, const float* x, const float* y, int rows, int columns) {
    for (int i = threadIdx.x; i < 64; i += 32) {
        int row = blockIdx.y * 8 + i / 8, column = blockIdx.x * 8 + i % 8;
        if (row < rows && column < columns) out[row * columns + column] = fmaxf(x[column] * y[row], 0);
    }
}

// 6: its gradient for x.
extern "C" __global__ void puzzle_mul_relu_back(float* out, const float* x, const float* y, const float* dz, int rows, int columns) {
    for (int i = threadIdx.x; i < 64; i += 32) {
        int row = blockIdx.y * 8 + i / 8, column = blockIdx.x * 8 + i % 8;
        if (row >= rows || column >= columns) continue;
        int at = row * columns + column;
        out[at] = x[at] * y[row] > 0 ? y[row] * dz[at] : 0;
    }
}

__device__ float warp_sum(float v) {
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffff, v, offset);
    return v;
}

__device__ float warp_max(float v) {
    for (int offset = 16; offset > 0; offset /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, offset));
    return v;
}

// 7: the sum of a row, which is longer than a block.
extern "C" __global__ void puzzle_long_sum(float* out, const float* x, int columns) {
    float sum = 0;
    for (int c = threadIdx.x; c < columns; c += 32) sum += x[blockIdx.x * columns + c];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// 8: softmax of a row, with a running maximum: one pass for maximum and sum, one to write.
extern "C" __global__ void puzzle_long_softmax(float* out, const float* x, int columns) {
    const float* row = x + blockIdx.x * columns;
    float most = -__int_as_float(0x7f800000), sum = 0;
    for (int c = 0; c < columns; c += 32) {
        bool in = c + threadIdx.x < columns;
        float v = in ? row[c + threadIdx.x] : -__int_as_float(0x7f800000);
        float now = fmaxf(most, warp_max(v));
        sum = sum * expf(most - now) + warp_sum(expf(v - now));
        most = now;
    }
    for (int c = threadIdx.x; c < columns; c += 32) out[blockIdx.x * columns + c] = expf(row[c] - most) / sum;
}

// 9: attention with scalar q, k and v, in one pass over k and v: a thread for each q.
extern "C" __global__ void puzzle_flash(float* out, const float* q, const float* k, const float* v, int n) {
    int i = blockIdx.x * 32 + threadIdx.x;
    if (i >= n) return;
    float most = -__int_as_float(0x7f800000), sum = 0, result = 0, mine = q[i];
    for (int j = 0; j < n; j++) {
        float score = mine * k[j], now = fmaxf(most, score);
        float scale = expf(most - now), share = expf(score - now);
        sum = sum * scale + share;
        result = result * scale + share * v[j];
        most = now;
    }
    out[i] = result / sum;
}

// 10: a convolution in two dimensions, an image a block.
extern "C" __global__ void puzzle_conv2d(float* out, const float* x, const float* k) {
    for (int i = threadIdx.x; i < 64; i += 32) {
        int row = i / 8, column = i % 8;
        float sum = 0;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                if (row + a < 8 && column + b < 8) sum += k[a * 3 + b] * x[blockIdx.x * 64 + (row + a) * 8 + column + b];
        out[blockIdx.x * 64 + i] = sum;
    }
}

// 11: a product of matrices for each of a batch, tiles of 16 x 16.
extern "C" __global__ void puzzle_batch_matmul(float* out, const float* x, const float* y) {
    int at = blockIdx.x * 256;
    for (int i = threadIdx.x; i < 256; i += 32) {
        float sum = 0;
        for (int k = 0; k < 16; k++) sum += x[at + i / 16 * 16 + k] * y[at + k * 16 + i % 16];
        out[at + i] = sum;
    }
}

// 12: a product with weights of 4 bits, eight in a word; each group of eight has a scale and
// an offset of 4 bits.
extern "C" __global__ void puzzle_quantized(float* out, const float* scale, const int* offset, const int* weight, const float* y) {
    for (int i = threadIdx.x; i < 256; i += 32) {
        int row = i / 16, column = i % 16;
        float sum = 0;
        for (int k = 0; k < 32; k++) {
            int w = weight[row * 4 + k / 8] >> k % 8 * 4 & 15, o = offset[row] >> k / 8 * 4 & 15;
            sum += scale[row * 4 + k / 8] * (w - o) * y[k * 16 + column];
        }
        out[i] = sum;
    }
}
