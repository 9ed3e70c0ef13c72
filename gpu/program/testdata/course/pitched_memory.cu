// Rows with a pitch.
#include <cstdio>

__global__ void addRows(float *p, size_t pitch, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    float *row = (float *)((char *)p + y * pitch);
    row[x] += 100 * y + x;
  }
}

int main() {
  const int width = 37, height = 11;
  float h[height][width], *d;
  size_t pitch;
  cudaMallocPitch(&d, &pitch, width * sizeof(float), height);
  cudaMemset2D(d, pitch, 0, width * sizeof(float), height);
  addRows<<<dim3(3, 1), dim3(16, 16)>>>(d, pitch, width, height);
  cudaMemcpy2D(h, width * sizeof(float), d, pitch, width * sizeof(float), height, cudaMemcpyDeviceToHost);
  printf("pitch fits: %d, h[10][36] = %g, h[0][5] = %g\n", pitch >= width * sizeof(float) && pitch % 32 == 0, h[10][36], h[0][5]);
  cudaFree(d);
}

// status 0
// out: pitch fits: 1, h[10][36] = 1036, h[0][5] = 5
