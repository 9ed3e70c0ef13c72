#include <cstdio>

struct Table {
  Table() {
    volatile int *p = nullptr;
    *p = 1;
  }
} table;

__global__ void k() {}

int main() {
  k<<<1, 1>>>();
  return 0;
}

// status 139
// err: constructor_crash.cu:6: segmentation fault: address 0x0, a null pointer
