// Work that is captured once and launched often.
#include <cstdio>

__global__ void add(int *x, int v) { x[threadIdx.x] += v; }
__constant__ int step;
__global__ void addStep(int *x) { x[threadIdx.x] += step; }
__global__ void twice(int *x) { x[threadIdx.x] *= 2; }

int main() {
  const int n = 32;
  int h[n], *x;
  cudaMalloc(&x, sizeof h);
  cudaMemset(x, 0, sizeof h);
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  add<<<1, n, 0, s>>>(x, 3);
  twice<<<1, n, 0, s>>>(x);
  cudaStreamEndCapture(s, &graph);
  size_t nodes = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0);
  cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
  printf("%zu nodes, nothing ran: %d\n", nodes, h[0]);
  for (int i = 0; i < 4; i++) cudaGraphLaunch(exec, s);
  cudaStreamSynchronize(s);
  cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
  printf("after four: %d\n", h[n - 1]);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaFree(x);

  // A graph with memory of its own, that sets a variable at each launch.
  int by = 1, *y;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  cudaMallocAsync(&y, sizeof h, s);
  cudaMemsetAsync(y, 0, sizeof h, s);
  cudaMemcpyToSymbolAsync(step, &by, sizeof by, 0, cudaMemcpyHostToDevice, s);
  addStep<<<1, n, 0, s>>>(y);
  cudaMemcpyAsync(h, y, sizeof h, cudaMemcpyDeviceToHost, s);
  cudaFreeAsync(y, s);
  cudaStreamEndCapture(s, &graph);
  cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0);
  for (by = 5; by < 8; by++) {
    cudaGraphLaunch(exec, s);
    cudaStreamSynchronize(s);
    printf("by %d: %d\n", by, h[n - 1]);
  }
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(s);
}

// status 0
// out: 2 nodes, nothing ran: 0
// out: after four: 90
// out: by 5: 5
// out: by 6: 6
// out: by 7: 7
