//! as real is float, and N 1000
//@ driver
typedef float real;
const int N = 1000;
//@ 002:282
int main() {
  const int block = 128, blocks = (N + block - 1) / block;
  float *x = values(N), *in = to_device(x, N), *out = zeros<float>(blocks);
  reduce_shared<<<blocks, block>>>(in, out);
  return judge(sum(to_host(out, blocks), blocks), sum(x, N));
}
