// The host uses memory of both sides while work is pending, always where it may.
#include <cstdio>
#include <cuda_runtime.h>
#include <unistd.h>

__global__ void twice(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
__global__ void plus_one(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1;
}
__global__ void publish(int *data, volatile int *flag) {
  data[0] = 42;
  __threadfence_system();
  *flag = 1;
}

int main() {
  const int n = 1 << 12;
  float *x, *y;
  cudaMallocManaged(&x, n * sizeof *x);
  cudaMallocManaged(&y, n * sizeof *y);
  for (int i = 0; i < n; i++) x[i] = i, y[i] = 0;

  // The device takes one part and the host the other, also within a page.
  for (int part = n / 2; part > 16; part /= 2) {
    twice<<<(part + 255) / 256, 256>>>(x, part);
    for (int i = part; i < n; i++) x[i] *= 2;
    cudaDeviceSynchronize();
  }
  printf("%g %g\n", x[1], x[n - 1]);
  twice<<<1, 128>>>(x, 100);
  double rest = 0;
  for (int i = 100; i < n; i++) rest += x[i];
  cudaDeviceSynchronize();
  printf("%g\n", rest);

  // Both read an input, the host also by calls of the system.
  FILE *f = fopen("/dev/null", "w");
  setvbuf(f, nullptr, _IONBF, 0);
  plus_one<<<n / 256, 256>>>(x, y, n);
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i];
  size_t written = fwrite(x, sizeof *x, n, f);
  written += write(fileno(f), x, n);
  cudaDeviceSynchronize();
  printf("%g %g %zu\n", sum, y[1], written);

  // A kernel publishes its data by a flag.
  int *flag, *data;
  cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped);
  cudaHostAlloc(&data, sizeof *data, cudaHostAllocMapped);
  *flag = 0;
  publish<<<1, 1>>>(data, flag);
  while (*(volatile int *)flag == 0) {}
  printf("%d\n", data[0]);

  // Waits through events, queries, copies and frees.
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaEvent_t event;
  cudaEventCreate(&event);
  for (int i = 0; i < n; i++) x[i] = y[i] = 1;
  twice<<<n / 256, 256, 0, a>>>(x, n);
  cudaEventRecord(event, a);
  cudaStreamWaitEvent(b, event, 0);
  twice<<<n / 256, 256, 0, b>>>(y, n);
  cudaStreamSynchronize(b);
  printf("%g %g\n", x[5], y[5]);
  twice<<<n / 256, 256, 0, a>>>(x, n);
  cudaEventRecord(event, a);
  while (cudaEventQuery(event) == cudaErrorNotReady) {}
  printf("%g\n", x[5]);
  float *device, zero;
  cudaMalloc(&device, 1 << 20);
  twice<<<n / 256, 256, 0, a>>>(x, n);
  cudaMemset(device, 0, 1 << 20);
  cudaMemcpy(&zero, device, sizeof zero, cudaMemcpyDeviceToHost);
  printf("%g\n", x[5]);

  // Pinned buffers in turns.
  const int part = 32768;
  float *pinned;
  cudaMallocHost(&pinned, 8 * part * sizeof *pinned);
  for (int k = 0; k < 8; k++) {
    cudaMemcpyAsync(pinned + k * part, device + k * part, part * sizeof *pinned, cudaMemcpyDeviceToHost, k & 1 ? a : b);
    if (k == 0) continue;
    cudaStreamSynchronize(k & 1 ? b : a);
    if (pinned[(k - 1) * part] != 0 || write(fileno(f), pinned + (k - 1) * part, part) != part) return 1;
  }
  twice<<<n / 256, 256>>>(x, n);
  cudaFree(device);
  printf("%g\n", x[5]);
  cudaFree(x), cudaFree(y), cudaFreeHost(flag), cudaFreeHost(data), cudaFreeHost(pinned);
  cudaStreamDestroy(a), cudaStreamDestroy(b), cudaEventDestroy(event);
  return 0;
}

// status 0
// out: 128 524160
// out: 1.07285e+09
// out: 1.07411e+09 257 8192
// out: 42
// out: 2 2
// out: 4
// out: 8
// out: 16
