// A volume in memory with pitches, copied with 3D copies.
#include <cstdio>
#include <cstring>

__global__ void invert(cudaPitchedPtr p, int w, int h, int d) {
  int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
  if (x >= w || y >= h || z >= d) return;
  char *slice = (char *)p.ptr + z * p.pitch * h;
  float *row = (float *)(slice + y * p.pitch);
  row[x] = -row[x];
}

int main() {
  const int w = 9, h = 5, d = 3;
  float in[d][h][w], out[d][h][w];
  for (int i = 0; i < w * h * d; i++) (&in[0][0][0])[i] = i;
  memset(out, 0, sizeof out);
  cudaExtent extent = make_cudaExtent(w * sizeof(float), h, d);
  cudaPitchedPtr p;
  cudaMalloc3D(&p, extent);
  cudaMemcpy3DParms c = {0};
  c.srcPtr = make_cudaPitchedPtr(in, w * sizeof(float), w, h);
  c.dstPtr = p;
  c.extent = extent;
  c.kind = cudaMemcpyHostToDevice;
  printf("%s\n", cudaGetErrorString(cudaMemcpy3D(&c)));
  invert<<<d, dim3(16, 8)>>>(p, w, h, d);
  cudaMemcpy3DParms back = {0};
  back.srcPtr = p;
  back.dstPtr = make_cudaPitchedPtr(out, w * sizeof(float), w, h);
  back.extent = extent;
  back.kind = cudaMemcpyDeviceToHost;
  printf("%s\n", cudaGetErrorString(cudaMemcpy3D(&back)));
  int wrong = 0;
  for (int i = 0; i < w * h * d; i++) wrong += (&out[0][0][0])[i] != -i;
  cudaMemset3D(p, 0, extent);
  cudaMemcpy3D(&back);
  printf("%d wrong, cleared %g\n", wrong, out[d - 1][h - 1][w - 1]);
  cudaFree(p.ptr);
}

// status 0
// out: no error
// out: no error
// out: 0 wrong, cleared 0
