// Gravity between bodies, with tiles of positions in shared memory.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#define TILE 64

__global__ void forces(const float4 *p, float3 *a, int n) {
  __shared__ float4 tile[TILE];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 own = i < n ? p[i] : make_float4(0, 0, 0, 0);
  float3 f = make_float3(0, 0, 0);
  for (int base = 0; base < n; base += TILE) {
    int j = base + threadIdx.x;
    tile[threadIdx.x] = j < n ? p[j] : make_float4(0, 0, 0, 0);
    __syncthreads();
    for (int k = 0; k < TILE; k++) {
      float dx = tile[k].x - own.x, dy = tile[k].y - own.y, dz = tile[k].z - own.z;
      float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      float s = tile[k].w * inverse * inverse * inverse;
      f.x += dx * s, f.y += dy * s, f.z += dz * s;
    }
    __syncthreads();
  }
  if (i < n) a[i] = f;
}

int main() {
  const int n = 200;
  float4 *p;
  float3 *a;
  cudaMallocManaged(&p, n * sizeof(float4));
  cudaMallocManaged(&a, n * sizeof(float3));
  for (int i = 0; i < n; i++) p[i] = make_float4(i % 7 * 0.5f, i % 11 * 0.25f, i % 13, 1 + i % 3);
  forces<<<(n + TILE - 1) / TILE, TILE>>>(p, a, n);
  cudaDeviceSynchronize();
  double worst = 0;
  for (int i = 0; i < n; i++) {
    double x = 0;
    for (int j = 0; j < n; j++) {
      double dx = p[j].x - p[i].x, dy = p[j].y - p[i].y, dz = p[j].z - p[i].z, r = dx * dx + dy * dy + dz * dz + 0.01;
      x += dx * p[j].w / (r * std::sqrt(r));
    }
    worst = std::fmax(worst, std::fabs(x - a[i].x) / (1 + std::fabs(x)));
  }
  printf("error below 1e-4: %d\n", worst < 1e-4);
  cudaFree(p), cudaFree(a);
}

// status 0
// out: error below 1e-4: 1
