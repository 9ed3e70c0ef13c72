//! as in the kernel of 000:1654
//@ driver
__global__ void count(const int *hist_data, unsigned *bin_data) {
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
//@ 000:1711
}
int main() {
  const int n = 1024;
  int x[n];
  unsigned want[256] = {};
  for (int i = 0; i < n; i++) x[i] = i * 37 % 101, want[x[i]]++;
  int *in = to_device(x, n);
  unsigned *bins = zeros<unsigned>(256);
  count<<<4, 256>>>(in, bins);
  return judge(to_host(bins, 256), want, 256);
}
