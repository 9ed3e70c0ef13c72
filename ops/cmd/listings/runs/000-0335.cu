//! as the loop in a kernel of ours
//! mend 000:335 "indxe" "index" a typing error
//@ driver
__global__ void reduce(const float *d_in, float *d_out) {
  __shared__ float sdata[256];
  int tid = threadIdx.x;
  sdata[tid] = d_in[blockIdx.x * blockDim.x + tid];
  __syncthreads();
//@ 000:335
  if (tid == 0) d_out[blockIdx.x] = sdata[0];
}
int main() {
  const int n = 4096;
  float *x = values(n), *in = to_device(x, n), *out = zeros<float>(n / 256), want[n / 256];
  for (int b = 0; b < n / 256; b++) want[b] = sum(x + 256 * b, 256);
  reduce<<<n / 256, 256>>>(in, out);
  return judge(to_host(out, n / 256), want, n / 256);
}
