// A recursion of the host that never ends.
#include <cstdio>

int depth(int n) {
  volatile char room[4096];
  room[0] = (char)n;
  return depth(n + 1) + room[0];
}

int main() {
  cudaSetDevice(0);
  printf("%d\n", depth(0));
}

// status 139
// err: stack_overflow.cu:\d+: segmentation fault: .*
