#include <cstdio>
int main() {
  int *d;
  cudaMalloc(&d, 400);
  printf("before\n");
  fflush(stdout);
  d[3] = 1;
  return 0;
}

// status 139
// out: before
// err: device_pointer.cu:7: the host accesses memory of the device: address 0x\w+ is byte 12 of the 400 bytes of cudaMalloc at device_pointer.cu:4: copy them by cudaMemcpy, or allocate by cudaMallocManaged
