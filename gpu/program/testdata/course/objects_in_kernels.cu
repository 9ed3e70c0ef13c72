// Objects that kernels make by new and delete, with virtual functions, and malloc.
#include <cstdio>
#include <new>

class Shape {
 public:
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
};
class Square : public Shape {
  float side;

 public:
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
class Polygon : public Shape {
  float *parts;
  int n;

 public:
  __device__ explicit Polygon(int n) : parts(new float[n]), n(n) {
    for (int i = 0; i < n; i++) parts[i] = i;
  }
  __device__ ~Polygon() override { delete[] parts; }
  __device__ float area() const override {
    float sum = 0;
    for (int i = 0; i < n; i++) sum += parts[i];
    return sum;
  }
};

__device__ Shape *shapes[8];

__global__ void create() {
  int i = threadIdx.x;
  if (i % 2) shapes[i] = new Polygon(i);
  else shapes[i] = new Square(i);
}
__global__ void measure(float *out) { out[threadIdx.x] = shapes[threadIdx.x]->area(); }
__global__ void destroy() { delete shapes[threadIdx.x]; }

struct Point {
  float x, y;
  __device__ Point() : x(1), y(2) {}
};
__global__ void place(unsigned char *room, float *out) {
  Point *p = new (room) Point;
  out[0] = p->x + p->y;
  int *list = (int *)malloc(4 * sizeof(int));
  for (int i = 0; i < 4; i++) list[i] = i;
  out[1] = list[3];
  free(list);
  char *much = (char *)malloc(1ull << 30); // more than the heap has
  out[2] = much == nullptr;
}

int main() {
  float *out, host[8];
  unsigned char *room;
  size_t heap;
  cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20);
  cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize);
  cudaMalloc(&out, sizeof host);
  cudaMalloc(&room, 64);
  create<<<1, 8>>>();
  measure<<<1, 8>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  printf("%d MiB: %g %g %g\n", (int)(heap >> 20), host[4], host[5], host[7]);
  destroy<<<1, 8>>>();
  place<<<1, 1>>>(room, out);
  cudaMemcpy(host, out, 3 * sizeof(float), cudaMemcpyDeviceToHost);
  printf("%g %g %g\n", host[0], host[1], host[2]);
  cudaFree(room);
  cudaFree(out);
}

// status 0
// out: 16 MiB: 16 10 21
// out: 3 3 1
