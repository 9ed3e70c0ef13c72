//! as real is float
//@ driver
typedef float real;
//@ 002:244
int main() {
  const int n = 4096, block = 128;
  float *x = values(n), *in = to_device(x, n), *out = zeros<float>(n / block), want[n / block];
  for (int b = 0; b < n / block; b++) want[b] = sum(x + block * b, block);
  reduce_global<<<n / block, block>>>(in, out);
  return judge(to_host(out, n / block), want, n / block);
}
