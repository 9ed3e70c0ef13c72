//! as the macros, and the end that the note does not print, are of ours
//@ driver
#define OFFSET(row, col, ld) ((row) * (ld) + (col))
#define FETCH_FLOAT4(x) (reinterpret_cast<float4 *>(&(x))[0])
//@ 003:823
//@ 003:853
//@ 003:909
//@ 003:967
    __syncthreads();
    write_stage_idx ^= 1;
  }
  for (int i = 0; i < THREAD_SIZE_Y; i += 4)
    FETCH_FLOAT4(frag_a[0][i]) = FETCH_FLOAT4(As[load_stage_idx ^ 1][0][THREAD_SIZE_Y * ty + i]);
  for (int i = 0; i < THREAD_SIZE_X; i += 4)
    FETCH_FLOAT4(frag_b[0][i]) = FETCH_FLOAT4(Bs[load_stage_idx ^ 1][0][THREAD_SIZE_X * tx + i]);
  for (int i = 0; i < THREAD_SIZE_Y; i++)
    for (int j = 0; j < THREAD_SIZE_X; j++) accum[i][j] += frag_a[1][i] * frag_b[1][j];
} while (tile_idx < K);
for (int i = 0; i < THREAD_SIZE_Y; i++)
  for (int j = 0; j < THREAD_SIZE_X; j++) C[OFFSET(BLOCK_SIZE_M * by + THREAD_SIZE_Y * ty + i, BLOCK_SIZE_N * bx + THREAD_SIZE_X * tx + j, N)] = accum[i][j];
}
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
