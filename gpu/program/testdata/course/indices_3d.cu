// Blocks and grids of three dimensions.
#include <cstdio>

__global__ void index(int *out, int nx, int ny, int nz) {
  int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y, z = threadIdx.z + blockIdx.z * blockDim.z;
  if (x < nx && y < ny && z < nz) out[(z * ny + y) * nx + x] = 10000 * z + 100 * y + x;
}

int main() {
  const int nx = 10, ny = 7, nz = 5;
  int *out;
  cudaMallocManaged(&out, nx * ny * nz * sizeof(int));
  dim3 block(4, 4, 2), grid((nx + 3) / 4, (ny + 3) / 4, (nz + 1) / 2);
  index<<<grid, block>>>(out, nx, ny, nz);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int z = 0; z < nz; z++)
    for (int y = 0; y < ny; y++)
      for (int x = 0; x < nx; x++) wrong += out[(z * ny + y) * nx + x] != 10000 * z + 100 * y + x;
  printf("grid %u x %u x %u, %d wrong, last %d\n", grid.x, grid.y, grid.z, wrong, out[nx * ny * nz - 1]);
  cudaFree(out);
}

// status 0
// out: grid 3 x 2 x 3, 0 wrong, last 40609
