// What the device says of itself, as far as every GPU says the same.
#include <cstdio>
#include <cstdlib>

int main() {
  int count = 0;
  cudaError_t e = cudaGetDeviceCount(&count);
  if (e != cudaSuccess || count == 0) {
    printf("no device: %s\n", cudaGetErrorString(e));
    return EXIT_FAILURE;
  }
  for (int i = 0; i < 1; i++) {
    cudaSetDevice(i);
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, i);
    printf("warp size: %d\n", p.warpSize);
    printf("threads per block: %d\n", p.maxThreadsPerBlock);
    printf("block: %d x %d x %d\n", p.maxThreadsDim[0], p.maxThreadsDim[1], p.maxThreadsDim[2]);
    printf("grid: %d x %d x %d\n", p.maxGridSize[0], p.maxGridSize[1], p.maxGridSize[2]);
    printf("shared memory per block: %zu\n", p.sharedMemPerBlock);
    printf("constant memory: %zu\n", p.totalConstMem);
    int major, sms, driver, runtime;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, i);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, i);
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    printf("attributes agree: %d, versions: %d\n", major == p.major && sms == p.multiProcessorCount, driver >= 12000 && runtime >= 12000);
    size_t available, total;
    cudaMemGetInfo(&available, &total);
    printf("memory: %d\n", available <= total && total > 1 << 30);
  }
  return EXIT_SUCCESS;
}

// status 0
// out: warp size: 32
// out: threads per block: 1024
// out: block: 1024 x 1024 x 64
// out: grid: 2147483647 x 65535 x 65535
// out: shared memory per block: 49152
// out: constant memory: 65536
// out: attributes agree: 1, versions: 1
// out: memory: 1
