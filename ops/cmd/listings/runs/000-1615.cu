//! right ^Thread 1 received value: 2.500000$
//@ driver
//@ 000:1615
int main() {
  float x = 2.5;
  exampleShflSync<<<1, 32>>>(to_device(&x, 1));
  check(cudaDeviceSynchronize());
}
