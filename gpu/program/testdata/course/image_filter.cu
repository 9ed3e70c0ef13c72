// A box filter on an image of bytes, with a mask in constant memory.
#include <cstdio>
#include <cstdlib>

__constant__ float mask[9];

__global__ void filter(const unsigned char *in, unsigned char *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float v = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) {
      int cx = min(max(x + dx, 0), w - 1), cy = min(max(y + dy, 0), h - 1);
      v += mask[(dy + 1) * 3 + dx + 1] * in[cy * w + cx];
    }
  out[y * w + x] = (unsigned char)fminf(fmaxf(v, 0.0f), 255.0f);
}

int main() {
  const int w = 40, h = 30;
  unsigned char *in = (unsigned char *)malloc(w * h), *out = (unsigned char *)malloc(w * h), *d_in, *d_out;
  for (int i = 0; i < w * h; i++) in[i] = (i % w) * 4 + (i / w);
  float blur[9] = {0.0625f, 0.125f, 0.0625f, 0.125f, 0.25f, 0.125f, 0.0625f, 0.125f, 0.0625f}, edge[9] = {-1, -1, -1, -1, 8, -1, -1, -1, -1};
  cudaMalloc(&d_in, w * h), cudaMalloc(&d_out, w * h);
  cudaMemcpy(d_in, in, w * h, cudaMemcpyHostToDevice);
  dim3 block(16, 8), grid((w + block.x - 1) / block.x, (h + block.y - 1) / block.y);
  const float *masks[] = {blur, edge};
  for (int m = 0; m < 2; m++) {
    cudaMemcpyToSymbol(mask, masks[m], 9 * sizeof(float));
    filter<<<grid, block>>>(d_in, d_out, w, h);
    cudaMemcpy(out, d_out, w * h, cudaMemcpyDeviceToHost);
    printf("%s: %d %d %d\n", m ? "edge" : "blur", out[0], out[5 * w + 7], out[w * h - 1]);
  }
  cudaFree(d_in), cudaFree(d_out), free(in), free(out);
}

// status 0
// out: blur: 1 33 183
// out: edge: 0 0 15
