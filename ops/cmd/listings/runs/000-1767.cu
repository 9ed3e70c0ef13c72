//@ driver
//@ 000:1767
int main() {
  const int n = 1000;
  int *x = integers(n), got[n], want[n], m = 0;
  for (int i = 0; i < n; i++)
    if (x[i] > 0) want[m++] = x[i];
  int count = filter(got, x, n);
  if (count != m) return judge(count, m);
  return judge(got, want, m);
}
