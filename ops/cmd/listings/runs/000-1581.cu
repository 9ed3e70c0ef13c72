//! right ^Number of active threads: 8$
//@ driver
//@ 000:1581
int main() {
  
  examplePopc<<<1, 32>>>(0xf0f);
  check(cudaDeviceSynchronize());
}
