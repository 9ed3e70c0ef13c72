//! as n is no multiple of the block
//@ driver
//@ 001:60
int main() {
  const int n = 2000;
  float *x = values(n), *in = to_device(x, n), *out = zeros<float>(1);
  ::sum<<<(n + 256 - 1) / 256, 256>>>(in, out, n);
  return judge(*to_host(out, 1), sum(x, n));
}
