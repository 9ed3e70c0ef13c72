// Particles as an array of structures and as a structure of arrays.
#include <cstdio>
#include <cstdlib>

struct Particle {
  float x, y, vx, vy;
};
struct Particles {
  float *x, *y, *vx, *vy;
};

__global__ void move(Particle *p, int n, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i].x += p[i].vx * dt, p[i].y += p[i].vy * dt;
}
__global__ void move(Particles p, int n, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p.x[i] += p.vx[i] * dt, p.y[i] += p.vy[i] * dt;
}

int main() {
  const int n = 1000;
  Particle *a;
  Particles s;
  cudaMallocManaged(&a, n * sizeof(Particle));
  float **members[] = {&s.x, &s.y, &s.vx, &s.vy};
  for (float **m : members) cudaMallocManaged(m, n * sizeof(float));
  for (int i = 0; i < n; i++) {
    a[i] = {(float)i, -(float)i, i * 0.5f, 2.0f};
    s.x[i] = a[i].x, s.y[i] = a[i].y, s.vx[i] = a[i].vx, s.vy[i] = a[i].vy;
  }
  for (int t = 0; t < 3; t++) {
    move<<<(n + 127) / 128, 128>>>(a, n, 0.25f);
    move<<<(n + 127) / 128, 128>>>(s, n, 0.25f);
  }
  cudaDeviceSynchronize();
  int different = 0;
  for (int i = 0; i < n; i++) different += a[i].x != s.x[i] || a[i].y != s.y[i];
  printf("%d different, the last at %g, %g\n", different, s.x[n - 1], s.y[n - 1]);
  cudaFree(a);
  for (float **m : members) cudaFree(*m);
  return different;
}

// status 0
// out: 0 different, the last at 1373.62, -997.5
