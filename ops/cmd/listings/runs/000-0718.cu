//! as the load in a kernel of ours
//@ driver
template <int blockSize> __global__ void load(const float *d_in, float *d_out) {
//@ 000:718
  d_out[gtid] = smem[blockSize - 1 - tid];
}
int main() {
  const int n = 1024;
  float *x = values(n), *in = to_device(x, n), *out = zeros<float>(n), want[n];
  for (int i = 0; i < n; i++) want[i] = x[i / 256 * 256 + 255 - i % 256];
  load<256><<<n / 256, 256>>>(in, out);
  return judge(to_host(out, n), want, n);
}
