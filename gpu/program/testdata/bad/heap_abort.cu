#include <cstdlib>
// The C library ends the program inside of a call of CUDA, as it does for a damaged heap.
static bool damaged;
extern "C" void *__libc_realloc(void *, size_t);
extern "C" void *realloc(void *p, size_t bytes) {
  if (damaged) abort();
  return __libc_realloc(p, bytes);
}
int main() {
  cudaFree(0);
  damaged = true;
  int *d;
  cudaMalloc(&d, 4);
}

// status 134
// err: heap_abort.cu:13: abort
