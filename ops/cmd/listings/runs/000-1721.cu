//@ driver
//@ 000:1721
int main() {
  const int n = 1024;
  int x[n];
  int want[256] = {};
  for (int i = 0; i < n; i++) x[i] = i * 37 % 101, want[x[i]]++;
  int *in = to_device(x, n);
  int *bins = zeros<int>(256);
  histgram<256><<<2, 256>>>(in, bins, n);
  return judge(to_host(bins, 256), want, 256);
}
