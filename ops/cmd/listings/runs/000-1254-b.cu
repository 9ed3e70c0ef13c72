//! as other data than ones
//! mend 000:1254 "int main(){" "void notes_main(){" its main is not called: ours has other data
//@ driver
//@ 000:1254
int main() {
  const int n = 5000, blocks = 8;
  float *x = values(n), *in = to_device(x, n), *out = zeros<float>(blocks);
  reduce_warp_level<256><<<blocks, 256>>>(in, out, n);
  return judge(sum(to_host(out, blocks), blocks), sum(x, n));
}
