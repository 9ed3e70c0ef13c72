//@ driver
//@ 003:669
int main() {
  const int m = 17, n = 19, k = 23;
  float *a = values(m * k), *b = values(k * n), *want = values(m * n);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double s = 0;
      for (int l = 0; l < k; l++) s += (double)a[i * k + l] * b[l * n + j];
      want[i * n + j] = s;
    }
  float *c = values(m * n);
  gemm_example(a, b, c, m, n, k);
  return judge(c, want, m * n);
}
