// Levels of a graph: a launch for each, until nothing changes.
#include <cstdio>
#include <vector>

__global__ void level(const int *starts, const int *edges, int *depth, int now, int n, int *changed) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || depth[v] != now) return;
  for (int e = starts[v]; e < starts[v + 1]; e++)
    if (atomicCAS(&depth[edges[e]], -1, now + 1) == -1) *(volatile int *)changed = 1;
}

int main() {
  const int side = 12, n = side * side;
  std::vector<int> starts = {0}, edges;
  for (int v = 0; v < n; v++) {
    if (v % side + 1 < side) edges.push_back(v + 1);
    if (v + side < n) edges.push_back(v + side);
    starts.push_back((int)edges.size());
  }
  int *d_starts, *d_edges, *depth, *changed;
  cudaMalloc(&d_starts, starts.size() * sizeof(int));
  cudaMalloc(&d_edges, edges.size() * sizeof(int));
  cudaMallocManaged(&depth, n * sizeof(int));
  cudaMallocManaged(&changed, sizeof(int));
  cudaMemcpy(d_starts, starts.data(), starts.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_edges, edges.data(), edges.size() * sizeof(int), cudaMemcpyHostToDevice);
  for (int v = 0; v < n; v++) depth[v] = v == 0 ? 0 : -1;
  int levels = 0;
  do {
    *changed = 0;
    level<<<(n + 63) / 64, 64>>>(d_starts, d_edges, depth, levels++, n, changed);
    cudaDeviceSynchronize();
  } while (*changed);
  printf("%d levels, the far corner is at %d\n", levels - 1, depth[n - 1]);
  cudaFree(d_starts), cudaFree(d_edges), cudaFree(depth), cudaFree(changed);
}

// status 0
// out: 22 levels, the far corner is at 22
