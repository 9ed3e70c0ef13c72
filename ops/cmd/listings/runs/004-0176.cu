//! as real is float, and FULL_MASK all lanes
//@ driver
typedef float real;
#define FULL_MASK 0xffffffff
//@ 004:176
int main() {
  const int n = 1000, block = 128;
  float *x = values(n), *in = to_device(x, n), *out = zeros<float>(1);
  reduce_shfl<<<(n + block - 1) / block, block, block * sizeof(real)>>>(in, out, n);
  return judge(*to_host(out, 1), sum(x, n));
}
