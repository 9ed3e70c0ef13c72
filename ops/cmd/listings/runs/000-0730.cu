//! as the load in a kernel of ours
//@ driver
template <int blockSize> __global__ void load(const float *d_in, float *d_out) {
//@ 000:730
  d_out[blockIdx.x * blockSize + tid] = sdata[tid];
}
int main() {
  const int n = 1024;
  float *x = values(n), *in = to_device(x, n), *out = zeros<float>(n / 2), want[n / 2];
  for (int i = 0; i < n / 2; i++) want[i] = x[i / 256 * 512 + i % 256] + x[i / 256 * 512 + i % 256 + 256];
  load<256><<<n / 512, 256>>>(in, out);
  return judge(to_host(out, n / 2), want, n / 2);
}
