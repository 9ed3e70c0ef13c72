//! as real is float, N 1000000 and GRID_SIZE 128; the launches in a function of ours
//! mend 004:288 "100000000" "1000000" the emulator takes minutes
//! mend 004:288 "10240" "128" the emulator takes minutes
//@ driver
typedef float real;
#define CHECK(call) check(call)
//@ 004:288
//@ 004:225
//@ 004:297
//@ 004:345 1-1
static void launches(real *d_x, real *d_y) {
  const int smem = BLOCK_SIZE * sizeof(real);
//@ 004:336
}
int main() {
  float *x = values(N), *in = to_device(x, N);
//@ 004:345 2-3
  launches(in, d_y);
  return judge(*to_host(d_y, 1), sum(x, N));
}
