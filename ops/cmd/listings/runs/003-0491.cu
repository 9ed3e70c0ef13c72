//! as the note's main launches on data of ours
//! mend 003:491 "int main() {" "void notes_main() {" the note leaves its data out: our main sets them
//@ driver
//@ 003:491 1-7
static int *d_a, *d_b, *d_c;
const int N = 1000;
//@ 003:491 8-12
int main() {
  int *a = integers(N), *b = integers(N), want[N];
  for (int i = 0; i < N; i++) b[i] = 3 * b[i], want[i] = a[i] + b[i];
  d_a = to_device(a, N), d_b = to_device(b, N), d_c = zeros<int>(N);
  notes_main();
  return judge(to_host(d_c, N), want, N);
}
