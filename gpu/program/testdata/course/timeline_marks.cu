// Ranges of a timeline, as a profiler shows them, around launches.
#include <cstdio>
#include <nvtx3/nvToolsExt.h>

__global__ void increment(int *p) { p[threadIdx.x]++; }

// A range that ends with its scope.
struct Range {
  explicit Range(const char *name) { nvtxRangePushA(name); }
  ~Range() { nvtxRangePop(); }
};

int main() {
  Range whole("main");
  int *p;
  cudaMallocManaged(&p, 32 * sizeof(int));
  nvtxRangePush("initialise");
  for (int i = 0; i < 32; i++) p[i] = i;
  nvtxRangePop();
  nvtxEventAttributes_t look = {0};
  look.version = NVTX_VERSION;
  look.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  look.colorType = NVTX_COLOR_ARGB;
  look.color = 0xff00ff00;
  look.messageType = NVTX_MESSAGE_TYPE_ASCII;
  look.message.ascii = "launch";
  nvtxRangePushEx(&look);
  increment<<<1, 32>>>(p);
  cudaDeviceSynchronize();
  nvtxRangePop();
  nvtxMark("read");
  printf("%d\n", p[31]);
  cudaFree(p);
}

// status 0
// out: 32
