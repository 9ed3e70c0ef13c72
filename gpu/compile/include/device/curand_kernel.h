// Random numbers in kernels: XORWOW, which is cuRAND's default, and Philox4x32-10. The
// streams are those of cuRAND, number by number. Its other generators, Poisson and discrete
// distributions, and its host API are not there.
#pragma once
#include "cuda_runtime.h"
#include "warpbook/xorwow.h"

// What both generators keep of the second of two normal numbers.
struct __wb_normal {
  int single_kind, double_kind; // 0 none, 1 normal, 2 log-normal
  float single_extra;
  double double_extra;
};

// XORWOW.
struct curandStateXORWOW {
  unsigned int d, v[5];
  __wb_normal normal;
};
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandState;

__WB void __wb_xorwow_step(unsigned int *v) {
  unsigned int t = v[0] ^ (v[0] >> 2);
  v[0] = v[1], v[1] = v[2], v[2] = v[3], v[3] = v[4];
  v[4] = v[4] ^ (v[4] << 4) ^ t ^ (t << 1);
}
// Jumps over n times 2^first steps.
__device__ static __attribute__((noinline, nodebug, unused)) void __wb_xorwow_jump(unsigned int *v, unsigned long long n, int first) {
  for (int k = first; n; n >>= 1, k++) {
    if (!(n & 1)) continue;
    unsigned int sum[5] = {0, 0, 0, 0, 0};
    for (int i = 0; i < 160; i++) {
      unsigned int take = 0u - (__wb_xorwow_jumps[k][i >> 5] >> (i & 31) & 1u);
      for (int j = 0; j < 5; j++) sum[j] ^= v[j] & take;
      __wb_xorwow_step(v);
    }
    for (int j = 0; j < 5; j++) v[j] = sum[j];
  }
}
__WB unsigned int curand(curandStateXORWOW *s) {
  __wb_xorwow_step(s->v);
  s->d += 362437;
  return s->v[4] + s->d;
}
__WB void skipahead(unsigned long long n, curandStateXORWOW *s) {
  __wb_xorwow_jump(s->v, n, 0);
  s->d += 362437 * (unsigned int)n;
}
__WB void skipahead_sequence(unsigned long long n, curandStateXORWOW *s) { __wb_xorwow_jump(s->v, n, 67); }
__WB void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset, curandStateXORWOW *s) {
  unsigned int low = ((unsigned int)seed ^ 0xaad26b49u) * 1099087573u, high = ((unsigned int)(seed >> 32) ^ 0xf7dcefddu) * 2591861531u;
  s->d = 6615241u + low + high;
  s->v[0] = 123456789u + low, s->v[1] = 362436069u ^ low, s->v[2] = 521288629u + high, s->v[3] = 88675123u ^ high, s->v[4] = 5783321u + low;
  s->normal = {0, 0, 0, 0};
  skipahead_sequence(sequence, s);
  skipahead(offset, s);
}

// Philox: a counter of 128 bits is encrypted to four numbers.
struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned int STATE; // numbers of output that were taken
  __wb_normal normal;
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

__WB uint4 __wb_philox(uint4 c, uint2 k) {
  for (int round = 0; round < 10; round++) {
    unsigned int high0 = __umulhi(0xD2511F53u, c.x), low0 = 0xD2511F53u * c.x, high1 = __umulhi(0xCD9E8D57u, c.z), low1 = 0xCD9E8D57u * c.z;
    c = make_uint4(high1 ^ c.y ^ k.x, low1, high0 ^ c.w ^ k.y, low0);
    k.x += 0x9E3779B9u, k.y += 0xBB67AE85u;
  }
  return c;
}
__WB void __wb_philox_add(curandStatePhilox4_32_10 *s, unsigned long long n) {
  unsigned long long low = (unsigned long long)s->ctr.y << 32 | s->ctr.x, sum = low + n;
  s->ctr.x = (unsigned int)sum, s->ctr.y = (unsigned int)(sum >> 32);
  if (sum < low && ++s->ctr.z == 0) ++s->ctr.w;
}
__WB void __wb_philox_next(curandStatePhilox4_32_10 *s) {
  __wb_philox_add(s, 1);
  s->output = __wb_philox(s->ctr, s->key);
}
__WB void skipahead(unsigned long long n, curandStatePhilox4_32_10 *s) {
  s->STATE += n & 3;
  n /= 4;
  if (s->STATE > 3) n++, s->STATE -= 4;
  __wb_philox_add(s, n);
  s->output = __wb_philox(s->ctr, s->key);
}
__WB void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10 *s) {
  unsigned long long high = ((unsigned long long)s->ctr.w << 32 | s->ctr.z) + n;
  s->ctr.z = (unsigned int)high, s->ctr.w = (unsigned int)(high >> 32);
  s->output = __wb_philox(s->ctr, s->key);
}
__WB void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset, curandStatePhilox4_32_10 *s) {
  s->ctr = make_uint4(0, 0, 0, 0);
  s->key = make_uint2((unsigned int)seed, (unsigned int)(seed >> 32));
  s->STATE = 0;
  s->normal = {0, 0, 0, 0};
  skipahead_sequence(sequence, s);
  skipahead(offset, s);
}
__WB unsigned int curand(curandStatePhilox4_32_10 *s) {
  unsigned int v = s->STATE == 0 ? s->output.x : s->STATE == 1 ? s->output.y : s->STATE == 2 ? s->output.z : s->output.w;
  if (++s->STATE == 4) {
    __wb_philox_next(s);
    s->STATE = 0;
  }
  return v;
}
__WB uint4 curand4(curandStatePhilox4_32_10 *s) {
  uint4 a = s->output;
  __wb_philox_next(s);
  uint4 b = s->output;
  switch (s->STATE) {
    case 0: return a;
    case 1: return make_uint4(a.y, a.z, a.w, b.x);
    case 2: return make_uint4(a.z, a.w, b.x, b.y);
    default: return make_uint4(a.w, b.x, b.y, b.z);
  }
}

// Distributions. A uniform number is in (0, 1].
__WB float __wb_uniform(unsigned int x) { return x * 2.3283064e-10f + 2.3283064e-10f / 2.0f; }
template <class S> __WB float curand_uniform(S *s) { return __wb_uniform(curand(s)); }
__WB float4 curand_uniform4(curandStatePhilox4_32_10 *s) {
  uint4 x = curand4(s);
  return make_float4(__wb_uniform(x.x), __wb_uniform(x.y), __wb_uniform(x.z), __wb_uniform(x.w));
}
__WB double __wb_uniform53(unsigned int x, unsigned int y) {
  unsigned long long z = x ^ (unsigned long long)y << 21;
  return z * 1.1102230246251565e-16 + 1.1102230246251565e-16 / 2.0;
}
__WB double curand_uniform_double(curandStateXORWOW *s) {
  unsigned int x = curand(s), y = curand(s);
  return __wb_uniform53(x, y);
}
__WB double curand_uniform_double(curandStatePhilox4_32_10 *s) { return curand(s) * 2.3283064365386963e-10 + 2.3283064365386963e-10; }

__WB float2 __wb_normals(unsigned int x, unsigned int y) {
  const float turn = 2.3283064e-10f * 6.2831855f;
  float radius = sqrtf(-2.0f * logf(__wb_uniform(x))), angle = y * turn + turn / 2, sine, cosine;
  __sincosf(angle, &sine, &cosine);
  return make_float2(sine * radius, cosine * radius);
}
__WB double2 __wb_normals53(unsigned int x0, unsigned int x1, unsigned int y0, unsigned int y1) {
  unsigned long long z = y0 ^ (unsigned long long)y1 << 21;
  double radius = sqrt(-2.0 * log(__wb_uniform53(x0, x1))), half = z * (1.1102230246251565e-16 * 2.0) + 1.1102230246251565e-16, sine, cosine;
  sincospi(half, &sine, &cosine);
  return make_double2(sine * radius, cosine * radius);
}
template <class S> __WB float2 curand_normal2(S *s) {
  unsigned int x = curand(s), y = curand(s);
  return __wb_normals(x, y);
}
template <class S> __WB double2 curand_normal2_double(S *s) {
  unsigned int x0 = curand(s), x1 = curand(s), y0 = curand(s), y1 = curand(s);
  return __wb_normals53(x0, x1, y0, y1);
}
__WB float4 curand_normal4(curandStatePhilox4_32_10 *s) {
  uint4 x = curand4(s);
  float2 a = __wb_normals(x.x, x.y), b = __wb_normals(x.z, x.w);
  return make_float4(a.x, a.y, b.x, b.y);
}
template <class S> __WB float curand_normal(S *s) {
  if (s->normal.single_kind == 1) {
    s->normal.single_kind = 0;
    return s->normal.single_extra;
  }
  float2 v = curand_normal2(s);
  s->normal.single_kind = 1, s->normal.single_extra = v.y;
  return v.x;
}
template <class S> __WB double curand_normal_double(S *s) {
  if (s->normal.double_kind == 1) {
    s->normal.double_kind = 0;
    return s->normal.double_extra;
  }
  double2 v = curand_normal2_double(s);
  s->normal.double_kind = 1, s->normal.double_extra = v.y;
  return v.x;
}
template <class S> __WB float curand_log_normal(S *s, float mean, float deviation) {
  if (s->normal.single_kind == 2) {
    s->normal.single_kind = 0;
    return s->normal.single_extra;
  }
  float2 v = curand_normal2(s);
  s->normal.single_kind = 2, s->normal.single_extra = expf(mean + deviation * v.y);
  return expf(mean + deviation * v.x);
}
template <class S> __WB double curand_log_normal_double(S *s, double mean, double deviation) {
  if (s->normal.double_kind == 2) {
    s->normal.double_kind = 0;
    return s->normal.double_extra;
  }
  double2 v = curand_normal2_double(s);
  s->normal.double_kind = 2, s->normal.double_extra = exp(mean + deviation * v.y);
  return exp(mean + deviation * v.x);
}
