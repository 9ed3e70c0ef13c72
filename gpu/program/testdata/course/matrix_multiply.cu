// C = A B by tiles in shared memory, beside the product of the host.
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int TILE = 16;

struct Matrix {
  int width, height;
  float *elements;
};

__global__ void multiply(Matrix A, Matrix B, Matrix C) {
  __shared__ float As[TILE][TILE], Bs[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < (A.width + TILE - 1) / TILE; ++t) {
    int k = t * TILE;
    As[threadIdx.y][threadIdx.x] = row < A.height && k + threadIdx.x < A.width ? A.elements[row * A.width + k + threadIdx.x] : 0.0f;
    Bs[threadIdx.y][threadIdx.x] = k + threadIdx.y < B.height && col < B.width ? B.elements[(k + threadIdx.y) * B.width + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += As[threadIdx.y][i] * Bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < C.height && col < C.width) C.elements[row * C.width + col] = sum;
}

static Matrix onDevice(const std::vector<float> &from, int height, int width) {
  Matrix m = {width, height, nullptr};
  cudaMalloc(&m.elements, from.size() * sizeof(float));
  cudaMemcpy(m.elements, from.data(), from.size() * sizeof(float), cudaMemcpyHostToDevice);
  return m;
}

int main() {
  const int M = 50, N = 70, K = 33;
  std::vector<float> a(M * K), b(K * N), c(M * N, -1);
  for (size_t i = 0; i < a.size(); i++) a[i] = i % 7 - 3.0f;
  for (size_t i = 0; i < b.size(); i++) b[i] = i % 5 - 2.0f;
  Matrix A = onDevice(a, M, K), B = onDevice(b, K, N), C = onDevice(c, M, N);
  dim3 block(TILE, TILE), grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  multiply<<<grid, block>>>(A, B, C);
  cudaMemcpy(c.data(), C.elements, c.size() * sizeof(float), cudaMemcpyDeviceToHost);
  double worst = 0;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double want = 0;
      for (int k = 0; k < K; k++) want += a[i * K + k] * b[k * N + j];
      worst = std::fmax(worst, std::fabs(want - c[i * N + j]));
    }
  printf("%d x %d blocks, largest error %g, C[3][4] = %g\n", grid.x, grid.y, worst, c[3 * N + 4]);
  cudaFree(A.elements);
  cudaFree(B.elements);
  cudaFree(C.elements);
  return worst > 0;
}

// status 0
// out: 5 x 4 blocks, largest error 0, C[3][4] = 0
