//! as its body is empty
//@ driver
//@ 000:225
int main() {
  reduce_v0<256><<<4, 256>>>(nullptr, nullptr);
  check(cudaDeviceSynchronize());
  puts("right");
}
