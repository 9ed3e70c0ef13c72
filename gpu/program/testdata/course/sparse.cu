// A sparse matrix in compressed rows times a vector, one warp for each row.
#include <cstdio>
#include <vector>

__global__ void spmv(const int *rows, const int *cols, const float *values, const float *x, float *y, int n) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (warp >= n) return;
  float sum = 0;
  for (int i = rows[warp] + lane; i < rows[warp + 1]; i += 32) sum += values[i] * x[cols[i]];
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
  if (lane == 0) y[warp] = sum;
}

template <class T> T *upload(const std::vector<T> &v) {
  T *d;
  cudaMalloc(&d, v.size() * sizeof(T));
  cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return d;
}

int main() {
  const int n = 100;
  std::vector<int> rows = {0}, cols;
  std::vector<float> values, x(n), y(n), want(n, 0);
  for (int i = 0; i < n; i++) {
    x[i] = i % 4;
    for (int j = i % 5; j < n; j += 3 + i % 7) cols.push_back(j), values.push_back(1 + (i + j) % 3);
    rows.push_back((int)cols.size());
  }
  for (int i = 0; i < n; i++)
    for (int k = rows[i]; k < rows[i + 1]; k++) want[i] += values[k] * (cols[k] % 4);
  int *r = upload(rows), *c = upload(cols);
  float *v = upload(values), *dx = upload(x), *dy = upload(y);
  spmv<<<(n * 32 + 127) / 128, 128>>>(r, c, v, dx, dy, n);
  cudaMemcpy(y.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost);
  printf("%zu values, %s\n", values.size(), y == want ? "right" : "wrong");
  cudaFree(r), cudaFree(c), cudaFree(v), cudaFree(dx), cudaFree(dy);
  return y == want ? 0 : 1;
}

// status 0
// out: 1920 values, right
