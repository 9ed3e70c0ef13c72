// Comparisons of halves, alone and in pairs, with NaN, infinities, subnormals and both zeros.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum { comparisons = 12, words = 2 * comparisons + 4 };

#define EACH(DO) DO(eq) DO(ne) DO(lt) DO(le) DO(gt) DO(ge) DO(equ) DO(neu) DO(ltu) DO(leu) DO(gtu) DO(geu)
template <class Half, class Pair> __global__ void compare(const Pair *a, const Pair *b, unsigned *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
  if (i >= n) return;
  Pair x = a[i], y = b[i];
  unsigned *to = out + i * words;
  unsigned all = 0, low = 0;
#define ONE(name)                         \
  {                                       \
    Pair pair = __h##name##2(x, y);       \
    memcpy(&to[k], &pair, sizeof pair);   \
    to[comparisons + k] = __h##name##2_mask(x, y); \
    all |= __hb##name##2(x, y) << k;      \
    low |= __h##name(x.x, y.x) << k++;    \
  }
  EACH(ONE)
  to[2 * comparisons] = all, to[2 * comparisons + 1] = low;
  to[2 * comparisons + 2] = (x != y) | (x == y) << 1 | (x.x != y.x) << 2 | (x.x == y.x) << 3;
  Pair larger = __hmax2_nan(x, y);
  memcpy(&to[2 * comparisons + 3], &larger, sizeof larger);
}

static float number(unsigned bits, bool brain) { // bfloat16 is the upper half of a float
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  float f;
  if (brain) {
    bits <<= 16;
    memcpy(&f, &bits, sizeof f);
    return f;
  }
  f = exponent == 31 ? (fraction ? NAN : INFINITY) : exponent ? ldexpf(1024 + fraction, exponent - 25) : ldexpf(fraction, -24);
  return bits >> 15 ? -f : f;
}
static unsigned expected(float a, float b) { // a bit for each comparison
  bool nan = a != a || b != b;
  unsigned ordered = (a == b) | (!nan && a != b) << 1 | (a < b) << 2 | (a <= b) << 3 | (a > b) << 4 | (a >= b) << 5;
  return ordered | (nan ? 63u : ordered) << 6;
}

static unsigned larger(unsigned a, unsigned b, bool brain) { // NaN is the one that GPUs give
  float x = number(a, brain), y = number(b, brain);
  if (x != x || y != y) return 0x7fff;
  return x > y || (x == y && b >> 15) ? a : b;
}

int main() {
  const unsigned values[] = {0, 0x8000, 1, 0x8001, 0x3c00, 0xbc00, 0x3f80, 0xbf80, 0x7c00, 0xfc00, 0x7e00, 0xfe00, 0x7f80, 0xff80, 0x7fc0, 0x4200};
  const int count = 16, n = count * count;
  static unsigned a[n], b[n], out[n * words], *da, *db, *to;
  for (int i = 0; i < n; i++) {
    a[i] = values[i / count] | values[i * 7 % count] << 16;
    b[i] = values[i % count] | values[(i / count + 3) % count] << 16;
  }
  cudaMalloc(&da, sizeof a);
  cudaMalloc(&db, sizeof b);
  cudaMalloc(&to, sizeof out);
  cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice);
  for (int brain = 0; brain < 2; brain++) {
    if (brain) compare<__nv_bfloat16><<<n / 64, 64>>>((__nv_bfloat162 *)da, (__nv_bfloat162 *)db, to, n);
    else compare<__half><<<n / 64, 64>>>((__half2 *)da, (__half2 *)db, to, n);
    cudaMemcpy(out, to, sizeof out, cudaMemcpyDeviceToHost);
    int wrong = 0;
    unsigned one = brain ? 0x3f80 : 0x3c00;
    for (int i = 0; i < n; i++) {
      unsigned low = expected(number(a[i] & 0xffff, brain), number(b[i] & 0xffff, brain));
      unsigned high = expected(number(a[i] >> 16, brain), number(b[i] >> 16, brain));
      const unsigned *got = out + i * words;
      for (int k = 0; k < comparisons; k++) {
        unsigned l = low >> k & 1, h = high >> k & 1;
        wrong += got[k] != (l * one | h * one << 16);
        wrong += got[comparisons + k] != (l * 0xffffu | h * 0xffff0000u);
      }
      wrong += got[2 * comparisons] != (low & high);
      wrong += got[2 * comparisons + 1] != low;
      unsigned both = low & high; // a pair is equal or unequal in both halves, or neither
      wrong += got[2 * comparisons + 2] != ((both >> 7 & 1) | (both & 1) << 1 | (low >> 7 & 1) << 2 | (low & 1) << 3);
      wrong += got[2 * comparisons + 3] != (larger(a[i] & 0xffff, b[i] & 0xffff, brain) | larger(a[i] >> 16, b[i] >> 16, brain) << 16);
    }
    printf("%d wrong\n", wrong);
  }
  cudaFree(da);
  cudaFree(db);
  cudaFree(to);
}

// status 0
// out: 0 wrong
// out: 0 wrong
