//! as other data than ones
//! mend 000:99 "int main(){" "void notes_main(){" its main is not called: ours has other data
//@ driver
//@ 000:99
int main() {
  const int n = 4096;
  float *x = values(n), *in = to_device(x, n), *out = zeros<float>(n / 256), want[n / 256];
  for (int b = 0; b < n / 256; b++) want[b] = sum(x + 256 * b, 256);
  reduce_v0<256><<<n / 256, 256>>>(in, out);
  return judge(to_host(out, n / 256), want, n / 256);
}
