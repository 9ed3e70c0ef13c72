#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>
int main() {
  int *d;
  int child = fork();
  if (child) waitpid(child, 0, 0);
  printf("%s: %s\n", child ? "parent" : "child", cudaGetErrorName(cudaMalloc(&d, 4)));
  fflush(stdout);
  _exit(6);
}

// status 6
// out: child: cudaSuccess
// out: parent: cudaErrorNoDevice
// err: warpbook: process \d+ has no device: process \d+ of the program called CUDA first: call CUDA in one process only
