//! as the two loops in a kernel of ours
//! mend 000:365 "indxe" "index" a typing error
//@ driver
__global__ void reduce(const float *d_in, float *d_out) {
  __shared__ float smem[256], sdata[256];
  int tid = threadIdx.x;
  smem[tid] = sdata[tid] = d_in[blockIdx.x * blockDim.x + tid];
  __syncthreads();
//@ 000:365
  if (tid == 0) d_out[2 * blockIdx.x] = smem[0], d_out[2 * blockIdx.x + 1] = sdata[0];
}
int main() {
  const int n = 4096;
  float *x = values(n), *in = to_device(x, n), *out = zeros<float>(n / 128), want[n / 128];
  for (int b = 0; b < n / 256; b++) want[2 * b] = want[2 * b + 1] = sum(x + 256 * b, 256);
  reduce<<<n / 256, 256>>>(in, out);
  return judge(to_host(out, n / 128), want, n / 128);
}
