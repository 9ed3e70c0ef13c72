//! as the macros are of ours
//! mend 003:1208 "\n    block calculate\n" "\n    // block calculate\n" a comment that the print broke
//! mend 003:1208 "\n    block load into shared memory\n" "\n    // block load into shared memory\n" a comment that the print broke
//! mend 003:1208 "\n    calculate\n" "\n    // calculate\n" a comment that the print broke
//! mend 003:1208 "\nor not\n" "\n// or not\n" a comment that the print broke
//! mend 003:1208 "[THREAD_SIZE_X];\n}" "[THREAD_SIZE_X];\n" a brace that the print added
//! mend 003:1257 "\n16) * 4;" "\n// 16) * 4;" a comment that the print broke
//! mend 003:1257 "\n+ (lane_id" "\n// + (lane_id" a comment that the print broke
//! mend 003:1370 "    #pragma unroll\n}\n" "    #pragma unroll\n" a brace that the print added
//! mend 003:1315 "K ]));" "K )]);" two brackets in the wrong order
//@ driver
#define OFFSET(row, col, ld) ((row) * (ld) + (col))
#define FETCH_FLOAT4(x) (reinterpret_cast<float4 *>(&(x))[0])
//@ 003:1208
//@ 003:1257
//@ 003:1315
//@ 003:1370
//@ 003:1429
//@ 003:1487
int main() {
  const int m = 256, n = 128, k = 24;
  float *a = values(m * k), *b = values(k * n), *want = values(m * n);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double s = 0;
      for (int l = 0; l < k; l++) s += (double)a[i * k + l] * b[l * n + j];
      want[i * n + j] = s;
    }
  float *c = zeros<float>(m * n);
  gemm_kernel<128, 8, 128, 8, 8, true><<<dim3(n / 128, m / 128), dim3(16, 16)>>>(to_device(a, m * k), to_device(b, k * n), c, m, n, k);
  return judge(to_host(c, m * n), want, m * n);
}
