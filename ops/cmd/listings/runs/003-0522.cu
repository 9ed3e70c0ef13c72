//@ driver
//@ 003:522
int main() {
  const int n = 1000;
  int *x = integers(n), want[n], *out = zeros<int>(n);
  for (int i = 0; i < n; i++) want[i] = x[i] * x[i];
  squareArray<<<4, 256>>>(out, to_device(x, n), n);
  return judge(to_host(out, n), want, n);
}
