// A wait while a stream is captured.
#include <cstdio>

__global__ void k() {}

int main() {
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  k<<<1, 1, 0, s>>>();
  printf("%s\n", cudaGetErrorName(cudaStreamSynchronize(s)));
  cudaGraph_t g;
  printf("%s\n", cudaGetErrorName(cudaStreamEndCapture(s, &g)));
  cudaGraphDestroy(g);
  cudaGetLastError();
}

// status 0
// out: cudaErrorStreamCaptureUnsupported
// out: cudaSuccess
// err: captured_wait.cu:11: error 900: a stream is captured: .*
