//! as printed
//@ driver
//@ 000:940
int main() {
  const int n = 8192, block = 256;
  float *x = values(n), *in = to_device(x, n), *out = zeros<float>(n / block / 2), want[n / block / 2];
  for (int b = 0; b < n / block / 2; b++) want[b] = sum(x + 2 * block * b, 2 * block);
  reduce_v5<block><<<n / block / 2, block>>>(in, out);
  return judge(to_host(out, n / block / 2), want, n / block / 2);
}
