// Answers that a check must reject: _wrong computes something else or reads too much, _race
// leaves the order of two accesses open.

extern "C" __global__ void puzzle_map_wrong(float* out, const float* x) {
    out[threadIdx.x] = x[threadIdx.x] + threadIdx.x;
}

// The right values, each written by two threads.
extern "C" __global__ void puzzle_map_race(float* out, const float* x) {
    int i = threadIdx.x, next = (i + 1) % 8;
    out[i] = x[i] + 10;
    out[next] = x[next] + 10;
}

extern "C" __global__ void puzzle_zip_wrong(float* out, const float* x, const float* y) {
    out[threadIdx.x] = x[threadIdx.x] + y[threadIdx.x];
}

// The output as a place for a factor that another thread reads.
extern "C" __global__ void puzzle_zip_race(float* out, const float* x, const float* y) {
    int i = threadIdx.x;
    out[7 - i] = y[7 - i];
    out[i] = x[i] * out[i];
}

extern "C" __global__ void puzzle_guard_wrong(float* out, const float* x, int n) {
    if (threadIdx.x <= n) out[threadIdx.x] = x[threadIdx.x] + 10;
}

// Threads without an element repeat the last one.
extern "C" __global__ void puzzle_guard_race(float* out, const float* x, int n) {
    int i = min((int)threadIdx.x, n - 1);
    out[i] = x[i] + 10;
}

extern "C" __global__ void puzzle_2d_wrong(float* out, const float* x, int rows, int columns) {
    int column = threadIdx.x, row = threadIdx.y;
    if (row < rows && column < columns) out[row * columns + column] = x[column * rows + row] + 10;
}

// Without a guard for the column, column 7 of a row is column 0 of the next.
extern "C" __global__ void puzzle_2d_race(float* out, const float* x, int rows, int columns) {
    int i = threadIdx.y * columns + threadIdx.x;
    if (i < rows * columns) out[i] = x[i] + 10;
}

extern "C" __global__ void puzzle_broadcast_wrong(float* out, const float* x, const float* y, int rows, int columns) {
    int column = threadIdx.x, row = threadIdx.y;
    if (row < rows && column < columns) out[row * columns + column] = x[row] - y[column];
}

extern "C" __global__ void puzzle_broadcast_race(float* out, const float* x, const float* y, int rows, int columns) {
    int column = min((int)threadIdx.x, columns - 1), row = min((int)threadIdx.y, rows - 1);
    out[row * columns + column] = x[row] + y[column];
}

extern "C" __global__ void puzzle_blocks_wrong(float* out, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1) out[i] = x[i] + 10;
}

// Every block takes the elements of all.
extern "C" __global__ void puzzle_blocks_race(float* out, const float* x, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = x[i] + 10;
}

// The right result, but not through shared memory.
extern "C" __global__ void puzzle_shared_wrong(float* out, const float* x) {
    out[blockIdx.x * 16 + threadIdx.x] = x[blockIdx.x * 16 + 15 - threadIdx.x];
}

extern "C" __global__ void puzzle_shared_race(float* out, const float* x) {
    __shared__ float s[16];
    int t = threadIdx.x, i = blockIdx.x * 16 + t;
    s[t] = x[i];
    out[i] = s[15 - t];
}

// The right result, but every element is read up to three times.
extern "C" __global__ void puzzle_pooling_wrong(float* out, const float* x) {
    int i = threadIdx.x;
    float sum = 0;
    for (int k = max(0, i - 2); k <= i; k++) sum += x[k];
    out[i] = sum;
}

extern "C" __global__ void puzzle_pooling_race(float* out, const float* x) {
    __shared__ float s[16];
    int i = threadIdx.x;
    s[i] = x[i];
    float sum = s[i];
    if (i >= 1) sum += s[i - 1];
    if (i >= 2) sum += s[i - 2];
    out[i] = sum;
}

// The tree begins one step too late.
extern "C" __global__ void puzzle_dot_wrong(float* out, const float* x, const float* y) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = x[t] * y[t];
    __syncthreads();
    for (int step = 8; step > 0; step /= 2) {
        if (t < step) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) out[0] = s[0];
}

extern "C" __global__ void puzzle_dot_race(float* out, const float* x, const float* y) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = x[t] * y[t];
    __syncthreads();
    for (int step = 16; step > 0; step /= 2) {
        if (t < step) s[t] += s[t + step];
    }
    if (t == 0) out[0] = s[0];
}

// Without the halo, the last three elements of the first block lack terms.
extern "C" __global__ void puzzle_conv_wrong(float* out, const float* x, const float* k, int n) {
    __shared__ float s[15];
    int t = threadIdx.x, i = blockIdx.x * 12 + t;
    s[t] = i < n ? x[i] : 0;
    if (t < 3) s[t + 12] = 0;
    __syncthreads();
    if (i >= n) return;
    float sum = 0;
    for (int j = 0; j < 4; j++) sum += k[j] * s[t + j];
    out[i] = sum;
}

extern "C" __global__ void puzzle_conv_race(float* out, const float* x, const float* k, int n) {
    __shared__ float s[15], taps[4];
    int t = threadIdx.x, i = blockIdx.x * 12 + t;
    if (t < 3) s[t + 12] = i + 12 < n ? x[i + 12] : 0;
    if (t < 4) taps[t] = k[t];
    __syncthreads();
    s[t] = i < n ? x[i] : 0; // behind the barrier
    if (i >= n) return;
    float sum = 0;
    for (int j = 0; j < 4; j++) sum += taps[j] * s[t + j];
    out[i] = sum;
}

// An exclusive sum.
extern "C" __global__ void puzzle_scan_wrong(float* out, const float* x) {
    __shared__ float s[16];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < t; k++) sum += s[k];
    out[t] = sum;
}

// Reads and writes of a step without a barrier between.
extern "C" __global__ void puzzle_scan_race(float* out, const float* x) {
    __shared__ float s[16];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int d = 1; d < 16; d *= 2) {
        if (t >= d) s[t] += s[t - d];
        __syncthreads();
    }
    out[t] = s[t];
}

// The sums of columns' places, not of rows.
extern "C" __global__ void puzzle_axis_wrong(float* out, const float* x, int columns) {
    if (threadIdx.x > 0) return;
    float sum = 0;
    for (int c = 0; c < columns; c++) sum += x[c * gridDim.x + blockIdx.x];
    out[blockIdx.x] = sum;
}

extern "C" __global__ void puzzle_axis_race(float* out, const float* x, int columns) {
    int t = threadIdx.x;
    if (t == 0) out[blockIdx.x] = 0;
    __syncthreads();
    if (t < columns) out[blockIdx.x] += x[blockIdx.x * columns + t];
}

// The right result without tiles: 2000 reads.
extern "C" __global__ void puzzle_matmul_wrong(float* out, const float* x, const float* y, int n) {
    int column = blockIdx.x * 4 + threadIdx.x, row = blockIdx.y * 4 + threadIdx.y;
    if (row >= n || column >= n) return;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += x[row * n + k] * y[k * n + column];
    out[row * n + column] = sum;
}

// Without the second barrier.
extern "C" __global__ void puzzle_matmul_race(float* out, const float* x, const float* y, int n) {
    __shared__ float a[4][4], b[4][4];
    int tx = threadIdx.x, ty = threadIdx.y;
    int column = blockIdx.x * 4 + tx, row = blockIdx.y * 4 + ty;
    float sum = 0;
    for (int from = 0; from < n; from += 4) {
        a[ty][tx] = row < n && from + tx < n ? x[row * n + from + tx] : 0;
        b[ty][tx] = from + ty < n && column < n ? y[(from + ty) * n + column] : 0;
        __syncthreads();
        for (int k = 0; k < 4; k++) sum += a[ty][k] * b[k][tx];
    }
    if (row < n && column < n) out[row * n + column] = sum;
}

// As the notebook gives it, with the guard mended.
extern "C" __global__ void puzzle_bugs_wrong(float* out, const float* x, int n) {
    __shared__ float s[16];
    int t = threadIdx.x, i = blockIdx.x * 16 + t;
    s[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int step = 8; step > 1; step /= 2) {
        if (t < step) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

extern "C" __global__ void puzzle_bugs_race(float* out, const float* x, int n) {
    __shared__ float s[16];
    int t = threadIdx.x, i = blockIdx.x * 16 + t;
    s[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int step = 8; step > 0; step /= 2) {
        if (t < step) s[t] += s[t + step];
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
