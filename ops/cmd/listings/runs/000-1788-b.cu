//! as origin_copy_if
//! mend 000:1788 "__global void" "__global__ void" a typing error
//@ driver
//@ 000:1788
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main() {
  const int n = 1000;
  int *x = integers(n), want[n], m = 0, *in = to_device(x, n), *out = zeros<int>(n), *count = zeros<int>(1);
  for (int i = 0; i < n; i++)
    if (x[i] > 0) want[m++] = x[i];
  origin_copy_if<<<2, 256>>>(out, in, count, n);
  int *got = to_host(out, n), found = *to_host(count, 1);
  if (found != m) return judge(found, m);
  qsort(got, m, sizeof(int), compare); // the order is free
  qsort(want, m, sizeof(int), compare);
  return judge(got, want, m);
}
