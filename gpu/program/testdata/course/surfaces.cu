// Surfaces: a kernel writes an array that a texture reads, and one that another kernel reads.
#include <cstdio>
#include <cstring>

template <class T> __global__ void fill(cudaSurfaceObject_t s, int w, int h, T unit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) surf2Dwrite<T>(unit, s, x * sizeof(T), y);
}
__global__ void add(cudaSurfaceObject_t s, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float v;
  surf2Dread(&v, s, x * sizeof(float), y);
  float left = surf2Dread<float>(s, (x - 1) * (int)sizeof(float), y, cudaBoundaryModeZero);
  (void)left;
  surf2Dwrite(v + x, s, x * sizeof(float), y, cudaBoundaryModeTrap);
}
__global__ void outside(cudaSurfaceObject_t s, float *out) {
  out[0] = surf2Dread<float>(s, -4, 0, cudaBoundaryModeZero);
  out[1] = surf2Dread<float>(s, -4, 1, cudaBoundaryModeClamp);
}
__global__ void volume(cudaSurfaceObject_t s) {
  uchar4 c = make_uchar4(threadIdx.x, threadIdx.y, threadIdx.z, 255);
  surf3Dwrite(c, s, threadIdx.x * sizeof(uchar4), threadIdx.y, threadIdx.z);
}

int main() {
  const int w = 17, h = 5;
  cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  cudaMallocArray(&array, &channel, w, h, cudaArraySurfaceLoadStore);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t s = 0;
  printf("%s\n", cudaGetErrorString(cudaCreateSurfaceObject(&s, &resource)));
  fill<float><<<dim3(3, 1), dim3(8, 8)>>>(s, w, h, 0.5f);
  add<<<dim3(3, 1), dim3(8, 8)>>>(s, w, h);
  float back[h][w], *out, pair[2];
  cudaMemcpy2DFromArray(back, w * sizeof(float), array, 0, 0, w * sizeof(float), h, cudaMemcpyDeviceToHost);
  printf("%g %g\n", back[0][1], back[h - 1][w - 1]);
  cudaMalloc(&out, sizeof pair);
  outside<<<1, 1>>>(s, out);
  cudaMemcpy(pair, out, sizeof pair, cudaMemcpyDeviceToHost);
  printf("%g %g\n", pair[0], pair[1]);
  cudaDestroySurfaceObject(s);
  cudaFreeArray(array);
  cudaFree(out);

  channel = cudaCreateChannelDesc<uchar4>();
  cudaMalloc3DArray(&array, &channel, make_cudaExtent(4, 3, 2), cudaArraySurfaceLoadStore);
  resource.res.array.array = array;
  cudaCreateSurfaceObject(&s, &resource);
  volume<<<1, dim3(4, 3, 2)>>>(s);
  uchar4 colours[2][3][4];
  cudaMemcpy3DParms copy = {};
  copy.srcArray = array;
  copy.dstPtr = make_cudaPitchedPtr(colours, 4 * sizeof(uchar4), 4, 3);
  copy.extent = make_cudaExtent(4, 3, 2);
  copy.kind = cudaMemcpyDeviceToHost;
  printf("%s\n", cudaGetErrorString(cudaMemcpy3D(&copy)));
  uchar4 last = colours[1][2][3];
  printf("%d %d %d %d\n", last.x, last.y, last.z, last.w);
  cudaDestroySurfaceObject(s);
  cudaFreeArray(array);
}

// status 0
// out: no error
// out: 1.5 16.5
// out: 0 0.5
// out: no error
// out: 3 2 1 255
