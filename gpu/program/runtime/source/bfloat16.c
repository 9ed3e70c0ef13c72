// Conversions to bfloat16 that clang calls on the host and zig's library of the compiler lacks:
// to the nearest, ties to even.
#include <stdint.h>
#include <string.h>

static __bf16 bfloat16(uint16_t bits) {
  __bf16 x;
  memcpy(&x, &bits, 2);
  return x;
}
__attribute__((weak)) __bf16 __truncsfbf2(float f) {
  uint32_t bits;
  memcpy(&bits, &f, 4);
  if (f != f) return bfloat16((uint16_t)(bits >> 16 | 64));
  return bfloat16((uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16));
}
// A double goes through a float that is rounded to odd, so that nothing is rounded twice.
__attribute__((weak)) __bf16 __truncdfbf2(double d) {
  float f = (float)d;
  uint32_t bits;
  memcpy(&bits, &f, 4);
  if (f == f && (double)f != d && !(bits & 1)) bits += ((double)f > d) == (f > 0) ? -1 : 1;
  memcpy(&f, &bits, 4);
  return __truncsfbf2(f);
}
