//! as real is float
//@ driver
typedef float real;
//@ 002:65
//@ 002:50
int main() {
  const int n = 100;
  float *x = values(n * n), *in = to_device(x, n * n), *out = zeros<float>(n * n), *want = values(n * n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) want[i * n + j] = x[i * n + j];
  copy<<<dim3(4, 4), dim3(32, 32)>>>(in, out, n);
  return judge(to_host(out, n * n), want, n * n);
}
