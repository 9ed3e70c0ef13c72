//! as the lines in a kernel of ours
//@ driver
//@ 004:225
__global__ void k(unsigned *out) {
//@ 004:242
  if (g.thread_rank() == 0) out[blockIdx.x] = g.group_index().x + g.size();
}
int main() {
  unsigned want[2] = {64, 65}, *out = zeros<unsigned>(2);
  k<<<2, 64>>>(out);
  return judge(to_host(out, 2), want, 2);
}
