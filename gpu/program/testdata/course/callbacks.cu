// Functions of the host in a stream.
#include <cstdio>

struct Progress {
  int done;
  const char *name;
};
static void CUDART_CB tell(void *data) {
  Progress *p = (Progress *)data;
  printf("%s: step %d\n", p->name, ++p->done);
}
__global__ void work(int *x) { *x = *x * 2 + 1; }

int main() {
  int *x, h = 1;
  Progress p = {0, "work"};
  cudaMalloc(&x, sizeof h);
  cudaMemcpy(x, &h, sizeof h, cudaMemcpyHostToDevice);
  cudaStream_t s;
  cudaStreamCreate(&s);
  for (int i = 0; i < 3; i++) {
    work<<<1, 1, 0, s>>>(x);
    cudaLaunchHostFunc(s, tell, &p);
  }
  cudaStreamSynchronize(s);
  cudaMemcpy(&h, x, sizeof h, cudaMemcpyDeviceToHost);
  printf("result %d\n", h);
  cudaStreamDestroy(s);
  cudaFree(x);
}

// status 0
// out: work: step 1
// out: work: step 2
// out: work: step 3
// out: result 15
