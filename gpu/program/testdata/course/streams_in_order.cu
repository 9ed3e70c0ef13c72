// Each way to put work of one stream after that of another: no race is found.
#include <cstdio>
#include <initializer_list>

__global__ void add(float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += y ? y[i] : 1;
}

const int n = 1 << 14;
static float *x, *y, *z, *h;
static cudaStream_t a, b, apart;
static cudaEvent_t e;
static void run(float *to, const float *from, cudaStream_t s) { add<<<n / 256, 256, 0, s>>>(to, from, n); }

int main() {
  cudaMallocHost(&h, n * sizeof(float));
  for (float **p : {&x, &y, &z}) cudaMalloc(p, n * sizeof(float));
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&e, cudaEventDisableTiming);

  for (float *p : {x, y, z}) cudaMemset(p, 0, n * sizeof(float)); // the legacy stream: a and b wait for it
  run(x, 0, a);
  run(y, 0, b);
  run(z, 0, 0); // waits for a and b, and they for it
  run(x, y, 0);
  run(y, z, b);
  run(x, 0, a);
  cudaEventRecord(e, a);
  cudaStreamWaitEvent(b, e, 0);
  run(y, x, b);
  cudaStreamSynchronize(b);
  run(z, y, apart); // the host has waited for b, which comes after a
  cudaEventRecord(e, apart);
  run(x, 0, a);
  cudaEventSynchronize(e);
  run(y, z, b);
  cudaEventRecord(e, b);
  cudaStreamWaitEvent(0, e, 0);
  cudaMemcpyAsync(h, y, n * sizeof(float), cudaMemcpyDeviceToHost, 0); // x of a comes before, too
  cudaEventRecord(e, 0);
  cudaStreamWaitEvent(apart, e, 0);
  run(x, y, apart);
  cudaDeviceSynchronize();
  cudaMemcpyAsync(y, h, n * sizeof(float), cudaMemcpyHostToDevice, a);
  cudaEventRecord(e, a);
  cudaStreamWaitEvent(b, e, 0);
  cudaStreamDestroy(a);
  run(x, y, b);
  while (cudaStreamQuery(b) == cudaErrorNotReady) {}
  run(y, x, apart);
  float *tmp;
  cudaMalloc(&tmp, 4);
  cudaFree(tmp); // waits for all
  run(z, y, b);

  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(apart, cudaStreamCaptureModeGlobal);
  run(x, z, apart);
  cudaMemcpyAsync(z, x, n * sizeof(float), cudaMemcpyDeviceToDevice, apart);
  cudaStreamEndCapture(apart, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, b); // after the work of b
  cudaGraphLaunch(exec, b);
  run(y, z, b);
  cudaMemcpy(h, y, n * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; i++) wrong += h[i] != h[0];
  printf("%.0f %d\n", h[0], wrong);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaEventDestroy(e);
  cudaStreamDestroy(b);
  cudaStreamDestroy(apart);
  for (float *p : {x, y, z}) cudaFree(p);
  cudaFreeHost(h);
}

// status 0
// out: 175 0
