// A text, moved by three letters and back.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

__global__ void shift(char *text, int n, int by) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n) return;
  char c = text[i];
  if (c >= 'a' && c <= 'z') text[i] = 'a' + (c - 'a' + by + 26) % 26;
  else if (c >= 'A' && c <= 'Z') text[i] = 'A' + (c - 'A' + by + 26) % 26;
}

int main() {
  char text[] = "Attack the zoo at dawn!", *d;
  int n = strlen(text);
  cudaMalloc((void **)&d, n);
  cudaMemcpy(d, text, n, cudaMemcpyHostToDevice);
  for (int by = 3; by >= -3; by -= 6) {
    shift<<<1, 64>>>(d, n, by);
    cudaMemcpy(text, d, n, cudaMemcpyDeviceToHost);
    puts(text);
  }
  cudaFree(d);
  return 0;
}

// status 0
// out: Dwwdfn wkh crr dw gdzq!
// out: Attack the zoo at dawn!
