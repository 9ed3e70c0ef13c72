//! as one warp in a kernel of ours
//@ driver
//@ 000:1230
__global__ void warp(const float *in, float *out) {
  float s = warpReduceSum<32>(in[threadIdx.x]);
  if (threadIdx.x == 0) *out = s;
}
int main() {
  float *x = values(32), *in = to_device(x, 32), *out = zeros<float>(1);
  warp<<<1, 32>>>(in, out);
  return judge(*to_host(out, 1), sum(x, 32));
}
