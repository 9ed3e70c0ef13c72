//! right ^Active mask: 4294967295$
//@ driver
//@ 000:1565
int main() {
  
  exampleActivemask<<<1, 32>>>();
  check(cudaDeviceSynchronize());
}
