// Numbers from standard input, doubled on the device.
#include <iostream>
#include <string>
#include <vector>

__global__ void twice(double *x, int n) {
  int i = threadIdx.x;
  if (i < n) x[i] *= 2;
}

int main() {
  std::string name;
  std::getline(std::cin, name);
  std::vector<double> x;
  for (double v; std::cin >> v;) x.push_back(v);
  double *d;
  cudaMalloc(&d, x.size() * sizeof(double));
  cudaMemcpy(d, x.data(), x.size() * sizeof(double), cudaMemcpyHostToDevice);
  twice<<<1, 32>>>(d, (int)x.size());
  cudaMemcpy(x.data(), d, x.size() * sizeof(double), cudaMemcpyDeviceToHost);
  std::cout << name << ":";
  for (double v : x) std::cout << ' ' << v;
  std::cout << std::endl;
  cudaFree(d);
}

// status 0
// in: my numbers
// in: 1 2.5
// in: -3
// out: my numbers: 2 5 -6
