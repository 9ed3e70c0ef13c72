#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <iostream>

__global__ void add(int n, float *x, float *y) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] + y[i];
}

struct Node {
  int value;
  Node *next;
};
__global__ void increment(Node *list) {
  for (Node *n = list; n; n = n->next) n->value++;
}

int main() {
  const int n = 1 << 14;
  float *x, *y;
  cudaMallocManaged(&x, n * sizeof(float));
  cudaMallocManaged(&y, n * sizeof(float));
  for (int i = 0; i < n; i++) x[i] = 1, y[i] = 2;
  add<<<1, 256>>>(n, x, y);
  float most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(y[i] - 3));
  cudaDeviceSynchronize();
  std::cout << "largest error: " << (most <= 1) << std::endl;

  // A pinned buffer before the end of its copy, and after the wait for another stream.
  int *pinned, *device;
  cudaMallocHost(&pinned, 4096);
  cudaMalloc(&device, 4096);
  cudaStream_t copies, others;
  cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&others, cudaStreamNonBlocking);
  cudaMemset(device, 1, 4096);
  cudaDeviceSynchronize();
  cudaMemcpyAsync(pinned, device, 4096, cudaMemcpyDeviceToHost, copies);
  cudaStreamSynchronize(others);
  printf("%d\n", pinned[5] != 7);
  cudaStreamSynchronize(copies);

  // By a call of the library of C, and through a pointer in a structure.
  add<<<1, 256>>>(n, x, y);
  FILE *f = fopen("/dev/null", "w");
  fwrite(y, sizeof(float), n, f);
  fclose(f);
  Node *node;
  cudaMallocManaged(&node, sizeof(Node));
  node->value = 1, node->next = nullptr;
  increment<<<1, 1>>>(node);
  printf("%d\n", node->value > 0);
  cudaFree(node);
  cudaFree(x), cudaFree(y), cudaFree(device), cudaFreeHost(pinned);
  cudaStreamDestroy(copies), cudaStreamDestroy(others);
  return 0;
}

// status 0
// out: largest error: 1
// out: 1
// out: 1
// err: unwaited_reads.cu:26: advice: the host reads memory of cudaMallocManaged at unwaited_reads.cu:22, which the launch at unwaited_reads.cu:24 writes, and has not waited for it: call cudaDeviceSynchronize\(\) before
// err: unwaited_reads.cu:41: advice: the host reads memory of cudaMallocHost at unwaited_reads.cu:32, which the copy at unwaited_reads.cu:39 writes, and has not waited for it: call cudaDeviceSynchronize\(\) before
// err: unwaited_reads.cu:47: advice: the host reads memory of cudaMallocManaged at unwaited_reads.cu:22, which the launch at unwaited_reads.cu:45 writes, and has not waited for it: call cudaDeviceSynchronize\(\) before
// err: unwaited_reads.cu:53: advice: the host reads memory of cudaMallocManaged at unwaited_reads.cu:50, which the launch at unwaited_reads.cu:52 writes, and has not waited for it: call cudaDeviceSynchronize\(\) before
