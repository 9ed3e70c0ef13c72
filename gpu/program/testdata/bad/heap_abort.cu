#include <cstdlib>
// The program ends inside of a call of CUDA, as the C library does for a damaged heap. The
// place is the innermost line of its sources.
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
// err: heap_abort.cu:7: abort
