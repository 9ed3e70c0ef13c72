// Kernels wait for flags that the host sets while they run, in mapped and in managed memory, and
// answer it. The host takes longer than a kernel takes to repeat its steps.
#include <cstdio>
#include <cuda_runtime.h>
#include <thread>
#include <unistd.h>

__global__ void answer(volatile int *flag, volatile int *data) {
  for (int i = 1; i <= 3; i++) {
    while (flag[0] != i) {}
    data[0] = data[0] * 2;
    __threadfence_system();
    flag[1] = i;
  }
}
__global__ void await(volatile int *flag, int *out) {
  if (threadIdx.x == 0) while (flag[0] == 0) {}
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = flag[0] + threadIdx.x;
}

int main() {
  // Blocks wait for managed memory, while the host waits in one thread and writes in another.
  int *managed, *out;
  cudaMallocManaged(&managed, 4);
  cudaMallocManaged(&out, 4 * 128 * sizeof(int));
  *managed = 0;
  await<<<4, 128>>>(managed, out);
  std::thread later([=] {
    usleep(50000);
    *(volatile int *)managed = 7;
  });
  cudaError_t e = cudaDeviceSynchronize();
  later.join();
  if (e) return 1; // the host would wait for ever below
  printf("%d %d\n", out[0], out[511]);

  // A kernel answers the host, which waits in loops of its own.
  volatile int *flag, *data;
  cudaHostAlloc((void **)&flag, 64, cudaHostAllocMapped);
  cudaHostAlloc((void **)&data, 64, cudaHostAllocMapped);
  flag[0] = flag[1] = 0;
  answer<<<1, 1>>>(flag, data);
  for (int i = 1; i <= 3; i++) {
    usleep(50000);
    data[0] = 10 * i;
    __sync_synchronize();
    flag[0] = i;
    while (flag[1] != i) {}
    printf("%d\n", data[0]);
  }
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(managed), cudaFree(out), cudaFreeHost((void *)flag), cudaFreeHost((void *)data);
}

// status 0
// out: 7 134
// out: 20
// out: 40
// out: 60
// out: cudaSuccess
