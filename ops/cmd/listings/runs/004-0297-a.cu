//! as real is float
//@ driver
typedef float real;
//@ 004:225
//@ 004:297
int main() {
  const int n = 5000;
  float *x = values(n), *in = to_device(x, n), *out = zeros<float>(1);
  reduce1<<<1, 128, 128 * sizeof(real)>>>(in, out, n);
  return judge(*to_host(out, 1), sum(x, n));
}
