//! as BLOCK_SIZE is 256
//@ driver
#define BLOCK_SIZE 256
//@ 001:129
int main() {
  const int n = 2048;
  float *x = values(n), *in = to_device(x, n), *out = zeros<float>(1);
  sum_3<<<(n + 512 - 1) / 512, 256>>>(in, out, n);
  return judge(*to_host(out, 1), sum(x, n));
}
