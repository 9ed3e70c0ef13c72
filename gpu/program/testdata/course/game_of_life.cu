// A glider on a torus.
#include <cstdio>
#include <cstring>

const int N = 8;

__global__ void generation(const unsigned char *old, unsigned char *now) {
  int x = threadIdx.x, y = threadIdx.y, alive = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++)
      if (dx || dy) alive += old[(y + dy + N) % N * N + (x + dx + N) % N];
  now[y * N + x] = alive == 3 || (alive == 2 && old[y * N + x]);
}

int main() {
  unsigned char world[N * N] = {};
  world[0 * N + 1] = world[1 * N + 2] = world[2 * N + 0] = world[2 * N + 1] = world[2 * N + 2] = 1;
  unsigned char *a, *b;
  cudaMalloc(&a, N * N);
  cudaMalloc(&b, N * N);
  cudaMemcpy(a, world, N * N, cudaMemcpyHostToDevice);
  for (int i = 0; i < 8; i++) {
    generation<<<1, dim3(N, N)>>>(a, b);
    unsigned char *t = a;
    a = b, b = t;
  }
  cudaMemcpy(world, a, N * N, cudaMemcpyDeviceToHost);
  for (int y = 0; y < N; y++) {
    for (int x = 0; x < N; x++) putchar(world[y * N + x] ? '#' : '.');
    putchar('\n');
  }
  cudaFree(a);
  cudaFree(b);
}

// status 0
// out: ........
// out: ........
// out: ...#....
// out: ....#...
// out: ..###...
// out: ........
// out: ........
// out: ........
