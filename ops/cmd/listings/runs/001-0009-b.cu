//! as n is no multiple of the block
//@ driver
//@ 001:9
int main() {
  const int n = 1000, m = 5;
  float *x = values(n), mask[m] = {1, 2, 4, 2, 1}, *in = to_device(x, n), *out = zeros<float>(n), *want = values(n);
  for (int i = 0; i < n; i++) {
    want[i] = 0;
    for (int j = 0; j < m; j++)
      if (i + j - m / 2 >= 0 && i + j - m / 2 < n) want[i] += mask[j] * x[i + j - m / 2];
  }
  convolution_1D<<<(n + 255) / 256, 256>>>(in, to_device(mask, m), out, n, m);
  return judge(to_host(out, n), want, n);
}
