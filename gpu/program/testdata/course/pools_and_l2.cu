// A pool of memory of its own, and a window of data that stays in the L2 cache.
#include <algorithm>
#include <cstdio>

#define CHECK(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { printf("line %d: %s\n", __LINE__, cudaGetErrorString(e)); return 1; } \
  } while (0)

__global__ void reuse(const float *table, int n, float *out) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += table[i];
  atomicAdd(out, sum);
}

int main() {
  const int n = 1024;
  cudaDeviceProp prop;
  CHECK(cudaGetDeviceProperties(&prop, 0));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));

  cudaMemPoolProps of = {};
  of.allocType = cudaMemAllocationTypePinned;
  of.location.type = cudaMemLocationTypeDevice;
  of.location.id = 0;
  cudaMemPool_t pool;
  CHECK(cudaMemPoolCreate(&pool, &of));
  size_t keep = 1 << 20;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  float *table, *out, host[n], sum = 0;
  CHECK(cudaMallocFromPoolAsync((void **)&table, n * sizeof(float), pool, stream));
  CHECK(cudaMallocFromPoolAsync((void **)&out, sizeof(float), pool, stream));

  CHECK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, std::min<size_t>(prop.persistingL2CacheMaxSize, 1 << 16)));
  cudaStreamAttrValue value = {};
  value.accessPolicyWindow.base_ptr = table;
  value.accessPolicyWindow.num_bytes = n * sizeof(float);
  value.accessPolicyWindow.hitRatio = 1;
  value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value));

  for (int i = 0; i < n; i++) host[i] = 0.5f;
  CHECK(cudaMemcpyAsync(table, host, sizeof(host), cudaMemcpyHostToDevice, stream));
  CHECK(cudaMemsetAsync(out, 0, sizeof(float), stream));
  for (int i = 0; i < 3; i++) reuse<<<1, 256, 0, stream>>>(table, n, out);
  CHECK(cudaMemcpyAsync(&sum, out, sizeof(float), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaFreeAsync(table, stream));
  CHECK(cudaFreeAsync(out, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaCtxResetPersistingL2Cache());
  CHECK(cudaMemPoolDestroy(pool));
  CHECK(cudaStreamDestroy(stream));
  printf("%g\n", sum);
}

// status 0
// out: 1536
