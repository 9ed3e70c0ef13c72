//@ driver
//@ 003:708
int main() {
  const int m = 37, n = 19, k = 23;
  float *a = values(m * k), *b = values(k * n), *want = values(m * n);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double s = 0;
      for (int l = 0; l < k; l++) s += (double)a[i * k + l] * b[l * n + j];
      want[i * n + j] = s;
    }
  float *c = zeros<float>(m * n);
  gemm_baseline_kernel<<<dim3(2, 3), dim3(16, 16)>>>(to_device(a, m * k), to_device(b, k * n), c, m, n, k);
  return judge(to_host(c, m * n), want, m * n);
}
