//! as the function, and the loop after it in a kernel of ours
//@ driver
//@ 000:790 1-22
__global__ void reduce(const float *d_in, float *d_out) {
  __shared__ float smem[256];
  int tid = threadIdx.x;
  smem[tid] = d_in[blockIdx.x * blockDim.x + tid];
  __syncthreads();
//@ 000:790 23-34
  if (tid == 0) d_out[blockIdx.x] = smem[0];
}
int main() {
  const int n = 4096;
  float *x = values(n), *in = to_device(x, n), *out = zeros<float>(n / 256), want[n / 256];
  for (int b = 0; b < n / 256; b++) want[b] = sum(x + 256 * b, 256);
  reduce<<<n / 256, 256>>>(in, out);
  return judge(to_host(out, n / 256), want, n / 256);
}
