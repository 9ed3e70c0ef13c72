// A graph of nodes: copies, a set, two kernels and a function of the host; a clone, and an
// update of its executable.
#include <cstdio>
#include <vector>

__global__ void sums(const float *in, double *out, size_t n) {
  __shared__ double s[256];
  double own = 0;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) own += in[i];
  s[threadIdx.x] = own;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] += s[0];
}
__global__ void last(const double *in, double *out, int n, double factor) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += in[i];
  *out = sum * factor;
}

struct Report {
  const char *name;
  double *value;
};
void CUDART_CB report(void *data) {
  Report *r = (Report *)data;
  printf("%s: %g\n", r->name, *r->value);
  *r->value = 0;
}

int main() {
  size_t n = 1 << 12;
  int blocks = 4;
  float *host, *in;
  double *parts, *result, sum = 0, factor = 1;
  cudaMallocHost(&host, n * sizeof(float));
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&parts, blocks * sizeof(double));
  cudaMalloc(&result, sizeof(double));
  for (size_t i = 0; i < n; i++) host[i] = 0.5f;

  cudaGraph_t graph, clone;
  cudaGraphCreate(&graph, 0);
  std::vector<cudaGraphNode_t> after;
  cudaGraphNode_t node, factorNode;
  cudaMemcpy3DParms copy = {0};
  copy.srcPtr = make_cudaPitchedPtr(host, n * sizeof(float), n, 1);
  copy.dstPtr = make_cudaPitchedPtr(in, n * sizeof(float), n, 1);
  copy.extent = make_cudaExtent(n * sizeof(float), 1, 1);
  copy.kind = cudaMemcpyHostToDevice;
  cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &copy);
  after.push_back(node);
  cudaMemsetParams set = {0};
  set.dst = parts;
  set.elementSize = sizeof(float);
  set.width = 2 * blocks;
  set.height = 1;
  cudaGraphAddMemsetNode(&node, graph, NULL, 0, &set);
  after.push_back(node);

  void *first[] = {&in, &parts, &n};
  cudaKernelNodeParams kernel = {0};
  kernel.func = (void *)sums;
  kernel.gridDim = dim3(blocks);
  kernel.blockDim = dim3(256);
  kernel.kernelParams = first;
  cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &kernel);
  void *second[] = {&parts, &result, &blocks, &factor};
  kernel.func = (void *)last;
  kernel.gridDim = kernel.blockDim = dim3(1);
  kernel.kernelParams = second;
  cudaGraphAddKernelNode(&factorNode, graph, &node, 1, &kernel);
  copy.srcPtr = make_cudaPitchedPtr(result, sizeof(double), 1, 1);
  copy.dstPtr = make_cudaPitchedPtr(&sum, sizeof(double), 1, 1);
  copy.extent = make_cudaExtent(sizeof(double), 1, 1);
  copy.kind = cudaMemcpyDeviceToHost;
  cudaGraphAddMemcpyNode(&node, graph, &factorNode, 1, &copy);
  Report what = {"sum", &sum};
  cudaHostNodeParams call = {report, &what};
  cudaGraphAddHostNode(&node, graph, &node, 1, &call);
  size_t nodes = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  printf("%zu nodes\n", nodes);

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaGraphExec_t run, other;
  cudaGraphInstantiate(&run, graph, 0);
  cudaGraphClone(&clone, graph);
  cudaGraphInstantiate(&other, clone, NULL, NULL, 0);
  for (int i = 0; i < 2; i++) cudaGraphLaunch(run, stream);
  factor = 10;
  cudaGraphExecKernelNodeSetParams(run, factorNode, &kernel);
  cudaGraphLaunch(run, stream);
  cudaGraphLaunch(other, stream);
  cudaStreamSynchronize(stream); // report prints before main does
  cudaGraphExecUpdateResultInfo info = {};
  printf("%d %d\n", (int)cudaGraphExecUpdate(run, clone, &info), (int)info.result);
  cudaGraphLaunch(run, stream);
  cudaStreamSynchronize(stream);
  unsigned int flags = 0;
  cudaStreamGetFlags(stream, &flags);
  printf("%u\n", flags);
  cudaGraphExecDestroy(run);
  cudaGraphExecDestroy(other);
  cudaGraphDestroy(graph);
  cudaGraphDestroy(clone);
  cudaStreamDestroy(stream);
  cudaFree(in);
  cudaFree(parts);
  cudaFree(result);
  cudaFreeHost(host);
}

// status 0
// out: 6 nodes
// out: sum: 2048
// out: sum: 2048
// out: sum: 20480
// out: sum: 2048
// out: 0 0
// out: sum: 2048
// out: 1
