#include <cstdio>
#include <unistd.h>
int main() {
  cudaFree(0);
  int done[2];
  pipe(done);
  if (fork() == 0) {
    int *d;
    printf("child: %s\n", cudaGetErrorName(cudaMalloc(&d, 4)));
    fflush(stdout);
    write(done[1], "", 1);
    sleep(100);
    return 0;
  }
  char c;
  read(done[0], &c, 1);
  int *d;
  printf("parent: %s\n", cudaGetErrorName(cudaMalloc(&d, 4)));
  return 5;
}

// status 5
// out: child: cudaErrorInitializationError
// out: parent: cudaSuccess
// err: warpbook: process \d+ has no device: its parent called CUDA before fork\(\): call CUDA in one process only
// err: advice: 4 bytes of 1 calls were never freed, allocated at forks.cu:18
