// What printf makes of the conversions that CUDA documents: the emulator must
// print what a GPU prints, which formats.h200.txt holds. %hhd and a width of *
// are not among them: an H200 reads their arguments wrongly.
//
//	nvcc -arch=sm_90 -o formats gpu/emu/testdata/formats.cu && ./formats > gpu/emu/testdata/formats.h200.txt
#ifdef __CUDACC_RTC__
extern "C" __device__ int printf(const char *, ...);
#else
#include <cstdio>
#endif

// The arguments come from memory, so that the compiler cannot fold them.
extern "C" __global__ void formats(const int *i, const long long *l, const double *d) {
  printf("[%d|%5d|%-5d|%05d|%+d|% d|%i]\n", i[0], i[0], i[0], i[1], i[0], i[0], i[2]);
  printf("[%.3d|%8.3d|%-8.3d|%08.3d|%.0d]\n", i[3], i[1], i[1], i[1], i[4]);
  printf("[%u|%x|%X|%#x|%#X|%#o|%o|%08x|%-8x|%#010x]\n", i[1], i[5], i[5], i[5], i[5], i[5], i[5], i[5], i[5], i[5]);
  printf("[%lld|%llu|%llx|%llX|%20lld|%-20lld|%020lld]\n", l[0], l[1], l[1], l[1], l[0], l[0], l[0]);
  printf("[%f|%.2f|%10.3f|%-10.3f|%+.1f|%010.2f|%.0f|%#.0f]\n", d[0], d[1], d[2], d[2], d[0], d[2], d[1], d[1]);
  printf("[%e|%.2e|%E|%12.4e|%.0e]\n", d[3], d[4], d[5], d[2], d[3]);
  printf("[%g|%g|%g|%g|%G|%.3g|%#g|%10g|%-10g|%010g]\n", d[6], d[7], d[8], d[9], d[5], d[3], d[6], d[0], d[0], d[2]);
  printf("[%f|%F|%e|%g|%5f|%-5f|%05f|%f|%f]\n", d[10], d[11], d[11], d[10], d[10], d[10], d[10], d[12], d[13]);
  printf("[%a|%A|%.2a|%a|%a]\n", d[0], d[3], d[0], d[5], d[14]);
  printf("[%c|%5c|%-3c|%s|%10s|%-6s|%.2s|%5.1s|%%]\n", i[7], i[7], i[7], "abc", "abc", "abc", "abc", "abc");
  printf("[%p|%p]\n", (void *)0x10, (void *)0);
  printf("[%d %lld %d %f %d %c %lld]\n", i[0], l[0], i[1], d[0], i[2], i[7], l[1]);
  int n = printf("no arguments\n"), m = printf("%d %f %s\n", i[0], d[0], "x");
  printf("%d %d\n", n, m);
}

#ifndef __CUDACC_RTC__
int main() {
  int i[11] = {42, -42, 0, 7, 0, 48879, 70000, 'q', 6, 2, -5};
  long long l[2] = {-1234567890123, -1};
  double inf = 1e308 * 10, d[15] = {3.14159265358979, 2.5, -1.5, 12345.678, 0.00012, 1e100, 100000, 1000000, 0.0001, 0.00001, inf, -inf, inf - inf, -(inf - inf), -0.0};
  void *p[3];
  cudaMalloc(&p[0], sizeof i), cudaMalloc(&p[1], sizeof l), cudaMalloc(&p[2], sizeof d);
  cudaMemcpy(p[0], i, sizeof i, cudaMemcpyHostToDevice);
  cudaMemcpy(p[1], l, sizeof l, cudaMemcpyHostToDevice);
  cudaMemcpy(p[2], d, sizeof d, cudaMemcpyHostToDevice);
  formats<<<1, 1>>>((int *)p[0], (long long *)p[1], (double *)p[2]);
  return cudaDeviceSynchronize();
}
#endif
