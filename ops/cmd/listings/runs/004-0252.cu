//! as the lines in a kernel of ours
//! mend 004:252 "thread_block_tile<32> g32 = tile_partition" "thread_block_tile<32> t32 = tiled_partition" a typing error, and a name that is taken
//@ driver
//@ 004:225
__global__ void k(unsigned *out) {
//@ 004:252
  out[threadIdx.x] = 100 * g32.size() + 10 * g4.size() + g4.thread_rank() + t32.size();
}
int main() {
  unsigned want[64], *out = zeros<unsigned>(64);
  for (int i = 0; i < 64; i++) want[i] = 3200 + 40 + i % 4 + 32;
  k<<<1, 64>>>(out);
  return judge(to_host(out, 64), want, 64);
}
