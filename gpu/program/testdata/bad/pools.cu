// Pools of memory that are no longer there, or never were, and attributes of two pools.
#include <cstdio>

int main() {
  cudaMemPoolProps of = {};
  cudaMemPool_t first, second, device;
  printf("%d\n", (int)cudaMemPoolCreate(&first, &of));
  of.allocType = cudaMemAllocationTypePinned;
  of.location.type = cudaMemLocationTypeDevice;
  of.location.id = 1;
  printf("%d\n", (int)cudaMemPoolCreate(&first, &of));
  of.location.id = 0;
  cudaMemPoolCreate(&first, &of);
  cudaMemPoolCreate(&second, &of);
  cudaDeviceGetDefaultMemPool(&device, 0);

  size_t keep = 100, kept[3];
  cudaMemPoolSetAttribute(first, cudaMemPoolAttrReleaseThreshold, &keep);
  cudaMemPoolGetAttribute(first, cudaMemPoolAttrReleaseThreshold, &kept[0]);
  cudaMemPoolGetAttribute(second, cudaMemPoolAttrReleaseThreshold, &kept[1]);
  cudaMemPoolGetAttribute(device, cudaMemPoolAttrReleaseThreshold, &kept[2]);
  printf("%zu %zu %zu\n", kept[0], kept[1], kept[2]);

  cudaMemPool_t now[3];
  cudaDeviceGetMemPool(&now[0], 0);
  cudaDeviceSetMemPool(0, first);
  cudaDeviceGetMemPool(&now[1], 0);
  cudaMemPoolDestroy(first);
  cudaDeviceGetMemPool(&now[2], 0);
  printf("%d %d %d\n", now[0] == device, now[1] == first, now[2] == device);

  void *p;
  printf("%d\n", (int)cudaMallocFromPoolAsync(&p, 4, first, 0));
  printf("%d\n", (int)cudaMemPoolDestroy(first));
  printf("%d\n", (int)cudaMemPoolDestroy(device));
  for (int i = 0; i < 1000; i++) {
    cudaMemPool_t more;
    if (cudaMemPoolCreate(&more, &of) || cudaMemPoolDestroy(more)) printf("pool %d\n", i);
  }
  cudaMemPoolDestroy(second);
}

// status 0
// out: 1
// out: 101
// out: 100 0 0
// out: 1 1 1
// out: 1
// out: 1
// out: 1
// err: pools.cu:7: error 1: allocType is 0 and location.type 0, expected cudaMemAllocationTypePinned and cudaMemLocationTypeDevice
// err: pools.cu:11: error 101: there is one device, number 0
// err: pools.cu:33: error 1: 0x[0-9a-f]+ is no pool of memory: it was destroyed before, or never created
// err: pools.cu:34: error 1: 0x[0-9a-f]+ is no pool of memory.*
// err: pools.cu:35: error 1: the device's default pool cannot be destroyed
// err: advice: a call returned error 1, and the program never asked: .*
