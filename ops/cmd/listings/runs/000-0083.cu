//@ driver
//@ 000:83
int main() {
  const int n = 1000;
  float *x = values(n), *in = to_device(x, n), *out = zeros<float>(1);
  ReduceBySerial(in, out, n);
  return judge(*to_host(out, 1), sum(x, n));
}
