//! as __lanemask_lt, which CUDA lacks, is of ours
//! right ^Thread 5, Lane mask less than: 31$
//@ driver
__device__ unsigned __lanemask_lt() { return (1u << (threadIdx.x & 31)) - 1; }
//@ 000:1599
int main() {
  exampleLanemaskLt<<<1, 32>>>();
  check(cudaDeviceSynchronize());
}
