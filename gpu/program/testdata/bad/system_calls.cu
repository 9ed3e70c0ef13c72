// Memory that is given to the system: of both sides while a kernel runs, and of the device.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>

__global__ void increment(char *p) { p[threadIdx.x]++; }

int main() {
  char *both, *device, name[] = "/tmp/system_calls.XXXXXX";
  int file = mkstemp(name), pair[2];
  unlink(name);
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  cudaMallocManaged(&both, 4096);
  cudaMalloc(&device, 100);
  printf("write %d\n", (int)write(file, "HAL 9000", 8));
  increment<<<1, 1>>>(both + 4000);
  printf("pread %d\n", (int)pread(file, both, 8, 0));
  increment<<<1, 1>>>(both + 4000);
  printf("pwrite %d\n", (int)pwrite(file, "XYZ", 3, 0));
  increment<<<1, 1>>>(both + 4000);
  printf("send %d\n", (int)send(pair[0], both, 8, 0));
  cudaDeviceSynchronize();
  increment<<<1, 1>>>(both + 4000);
  printf("recv %d: %.8s\n", (int)recv(pair[1], both + 8, 8, 0), both + 8);
  cudaDeviceSynchronize();
  fflush(stdout);
  int n = (int)pread(file, device + 10, 8, 0);
  printf("pread %d: %s\n", n, strerror(errno));
  n = (int)send(pair[0], device, 8, 0);
  printf("send %d: %s, %s\n", n, strerror(errno), cudaGetErrorString(cudaGetLastError()));
  cudaFree(both), cudaFree(device);
}

// status 0
// out: write 8
// out: pread 8
// out: pwrite 3
// out: send 8
// out: recv 8: HAL 9000
// out: pread -1: Bad address
// out: send -1: Bad address, no error
// err: system_calls.cu:30: pread was given memory of the device, byte 10 of the 100 bytes allocated at system_calls.cu:17: copy them by cudaMemcpy, or allocate by cudaMallocManaged
// err: system_calls.cu:32: send was given memory of the device, byte 0 of the 100 bytes allocated at system_calls.cu:17: copy them by cudaMemcpy, or allocate by cudaMallocManaged
