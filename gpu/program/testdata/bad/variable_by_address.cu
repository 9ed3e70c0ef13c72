// The address of a __device__ variable on the host is not that on the device.
#include <cstdio>

__device__ int count;
__device__ int table[4];

__global__ void add() { atomicAdd(&count, 1); }

int main() {
  int n = 7;
  printf("%d\n", cudaMemset(&count, 0, sizeof(int)));
  printf("%d\n", cudaMemcpy(table, &n, sizeof(int), cudaMemcpyHostToDevice));
  add<<<1, 32>>>();
  printf("%d\n", cudaMemcpy(&n, &count, sizeof(int), cudaMemcpyDeviceToHost));
  printf("%d\n", cudaMemcpyFromSymbol(&n, count, sizeof(int)));
  printf("%d\n", n);
}

// status 0
// out: 1
// out: 1
// out: 1
// out: 0
// out: 32
// err: variable_by_address.cu:11: error 1: 0x[0-9a-f]+ is no memory of the device: it is a variable of the device, which the host knows by another address: call cudaMemcpyToSymbol or cudaMemcpyFromSymbol, or take its address by cudaGetSymbolAddress
// err: variable_by_address.cu:12: error 1: cudaMemcpyHostToDevice, and the destination 0x[0-9a-f]+ is no memory of the device: it is a variable of the device.*
// err: variable_by_address.cu:14: error 1: cudaMemcpyDeviceToHost, and the source 0x[0-9a-f]+ is no memory of the device: it is a variable of the device.*
// err: advice: a call returned error 1, and the program never asked: check what each call returns, and cudaGetLastError\(\) after a launch
