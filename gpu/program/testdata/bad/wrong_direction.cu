// The copy back names the wrong direction, and its error is not read.
#include <cstdio>

int main() {
  int h[4] = {}, *d;
  cudaMalloc(&d, sizeof h);
  cudaMemset(d, 1, sizeof h);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyHostToDevice);
  printf("h[0] = %d\n", h[0]);
  cudaFree(d);
}

// status 0
// out: h[0] = 0
// err: wrong_direction.cu:8: error 1: .*destination .* is no memory of the device
// err: advice: a call returned error 1, and the program never asked: .*
