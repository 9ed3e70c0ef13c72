//! right ^Mask of threads with data > 0: 5$
//@ driver
//@ 000:1634
int main() {
  int x[32] = {1, -1, 3};
  exampleBallotSync<<<1, 32>>>(to_device(x, 32));
  check(cudaDeviceSynchronize());
}
