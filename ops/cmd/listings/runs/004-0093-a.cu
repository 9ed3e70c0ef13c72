//! as the loop in one warp of ours, and its s_y[0]
//! mend 004:93 "offset >>= 1)/\n" "offset >>= 1)\n" a typing error
//@ driver
#include <cooperative_groups.h>
using namespace cooperative_groups;
typedef float real;
__global__ void warp(const real *x, real *out) {
  __shared__ real s_y[64];
  const int tid = threadIdx.x;
  s_y[tid] = x[tid];
  s_y[tid + 32] = 0;
  real y = 0;
  __syncwarp();
//@ 004:93
  if (tid == 0) *out = s_y[0];
}
int main() {
  float *x = values(32), *out = zeros<float>(1);
  warp<<<1, 32>>>(to_device(x, 32), out);
  return judge(*to_host(out, 1), sum(x, 32));
}
