// What the mains of this folder share: data, copies of it on the device, and the judgement.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// value is the i-th number of the data: multiples of 1/8, whose sums are exact.
static float value(int i) { return (i * 37 % 101 - 50) / 8.0f; }

static void check(cudaError_t e) {
  if (e == cudaSuccess) return;
  printf("error: %s\n", cudaGetErrorString(e));
  exit(1);
}

template <class T> T *to_device(const T *from, int n) {
  T *p;
  check(cudaMalloc(&p, n * sizeof(T)));
  check(cudaMemcpy(p, from, n * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}

template <class T> T *zeros(int n) {
  T *p;
  check(cudaMalloc(&p, n * sizeof(T)));
  check(cudaMemset(p, 0, n * sizeof(T)));
  return p;
}

template <class T> T *to_host(const T *from, int n) {
  T *p = (T *)malloc(n * sizeof(T));
  check(cudaMemcpy(p, from, n * sizeof(T), cudaMemcpyDeviceToHost));
  return p;
}

static float *values(int n) {
  float *p = (float *)malloc(n * sizeof(float));
  for (int i = 0; i < n; i++) p[i] = value(i);
  return p;
}

static int *integers(int n) {
  int *p = (int *)malloc(n * sizeof(int));
  for (int i = 0; i < n; i++) p[i] = i * 37 % 101 - 50;
  return p;
}

static double sum(const float *p, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) s += p[i];
  return s;
}

static int judge(double got, double want) {
  if (got == want) return puts("right"), 0;
  printf("wrong: %g, expected %g\n", got, want);
  return 0;
}

template <class T> int judge(const T *got, const T *want, int n, double within = 0) {
  int wrong = 0, first = 0;
  for (int i = n - 1; i >= 0; i--)
    if (!(fabs((double)got[i] - (double)want[i]) <= within)) wrong++, first = i;
  if (!wrong) return puts("right"), 0;
  printf("wrong: %d of %d, the first is element %d: %g, expected %g\n", wrong, n, first, (double)got[first], (double)want[first]);
  return 0;
}
