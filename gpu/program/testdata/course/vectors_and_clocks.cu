// Host code of C++: vectors, chrono, unique_ptr with a deleter, exceptions.
#include <chrono>
#include <iostream>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

struct DeviceDelete {
  void operator()(void *p) const { cudaFree(p); }
};
template <class T> using DevicePtr = std::unique_ptr<T, DeviceDelete>;

static void check(cudaError_t e, const std::string &what) {
  if (e != cudaSuccess) throw std::runtime_error(what + ": " + cudaGetErrorString(e));
}
template <class T> DevicePtr<T> allocate(size_t n) {
  T *p = nullptr;
  check(cudaMalloc(&p, n * sizeof(T)), "allocate");
  return DevicePtr<T>(p);
}

__global__ void increment(int *x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i]++;
}

int main() try {
  std::vector<int> x(1000);
  std::iota(x.begin(), x.end(), 0);
  auto d = allocate<int>(x.size());
  auto start = std::chrono::steady_clock::now();
  check(cudaMemcpy(d.get(), x.data(), x.size() * sizeof(int), cudaMemcpyHostToDevice), "copy");
  increment<<<4, 64>>>(d.get(), (int)x.size());
  check(cudaGetLastError(), "launch");
  check(cudaMemcpy(x.data(), d.get(), x.size() * sizeof(int), cudaMemcpyDeviceToHost), "copy");
  std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  std::cout << "sum " << std::accumulate(x.begin(), x.end(), 0L) << ", took time: " << std::boolalpha << (took.count() > 0) << std::endl;
  allocate<char>((size_t)1 << 50);
} catch (const std::exception &e) {
  std::cout << "caught " << e.what() << std::endl;
  return 7;
}

// status 7
// out: sum 500500, took time: true
// out: caught allocate: out of memory
// err: vectors_and_clocks.cu:20: error 2: 1125899906842624 bytes were asked for
