//! as the branch in a kernel of ours
//@ driver
__global__ void branch(float *result) {
  int tid = threadIdx.x;
//@ 000:437
}
int main() {
  float *x = values(32), want[32], *d = to_device(x, 32);
  for (int i = 0; i < 32; i++) want[i] = x[i] * (i < 16 ? 2 : 3);
  branch<<<1, 32>>>(d);
  return judge(to_host(d, 32), want, 32);
}
