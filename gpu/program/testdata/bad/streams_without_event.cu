// A stream reads what another one copies and computes: no event orders them.
#include <cstdio>

__global__ void scale(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
__global__ void sum(const float *x, float *y, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s += x[i];
  atomicAdd(y, s);
}

int main() {
  const int n = 1 << 14;
  float *h, *x, *y, total;
  cudaMallocHost(&h, n * sizeof(float));
  for (int i = 0; i < n; i++) h[i] = 1;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, sizeof(float));
  cudaStream_t copies, kernels;
  cudaStreamCreate(&copies);
  cudaStreamCreate(&kernels);
  cudaMemsetAsync(y, 0, sizeof(float), copies);
  cudaMemcpyAsync(x, h, n * sizeof(float), cudaMemcpyHostToDevice, copies);
  scale<<<n / 256, 256, 0, kernels>>>(x, n);
  sum<<<1, 256, 0, copies>>>(x, y, n);
  cudaMemcpyAsync(&total, y, sizeof(float), cudaMemcpyDeviceToHost, kernels);
  cudaDeviceSynchronize();
  printf("%.0f\n", total);
  cudaStreamDestroy(copies);
  cudaStreamDestroy(kernels);
  cudaFreeHost(h);
  cudaFree(x);
  cudaFree(y);
}

// status 0
// out: 32768
// err: warning: scale: ld.global.b32 at streams_without_event.cu:6 .*read-after-write hazard on element 0 \(byte 0\) of buffer of cudaMalloc at streams_without_event.cu:19.*: cudaMemcpyAsync wrote it in another stream, and nothing orders the two, .*: record an event after the cudaMemcpyAsync, and let this stream wait for it before the launch of scale,.*; launched at streams_without_event.cu:26
// err: warning: sum: ld.global.b32 at streams_without_event.cu:10 .*read-after-write hazard on .*: scale wrote it in another stream with st.global.b32 at streams_without_event.cu:6, .*; launched at streams_without_event.cu:27
// err: streams_without_event.cu:28: warning: cudaMemcpyAsync: race: read-after-write hazard on byte 0 of buffer of cudaMalloc at streams_without_event.cu:20: cudaMemsetAsync wrote it in another stream, .*record an event after the cudaMemsetAsync, and let this stream wait for it before the cudaMemcpyAsync
