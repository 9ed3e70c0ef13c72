//! as u32 is of ours
//! mend 000:1654 "u32" "unsigned" the notes do not print its typedef
//@ driver
//@ 000:1654
int main() {
  const int n = 1024;
  char x[n];
  unsigned want[256] = {};
  for (int i = 0; i < n; i++) x[i] = i * 37 % 101, want[x[i]]++;
  char *in = to_device(x, n);
  unsigned *bins = zeros<unsigned>(256);
  gpu_count1<<<4, 256>>>(in, bins);
  return judge(to_host(bins, 256), want, 256);
}
