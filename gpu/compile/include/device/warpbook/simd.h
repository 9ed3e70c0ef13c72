// The intrinsics on four bytes or two halves of a word. A GPU since Maxwell has few of them as
// instructions, and CUDA writes the others in terms of integers, too.
#pragma once

// Calls an operation on the parts of words: bits 8 or 16.
#define __WB_PARTS(name, n, bits, signed_type, unsigned_type, part)                                     \
  __WB unsigned int name##n(unsigned int a, unsigned int b) {                                           \
    unsigned int to = 0;                                                                                \
    for (int i = 0; i < 32; i += bits) {                                                                \
      int sa = (signed_type)(a >> i), sb = (signed_type)(b >> i);                                       \
      int ua = (unsigned_type)(a >> i), ub = (unsigned_type)(b >> i);                                   \
      (void)sa, (void)sb, (void)ua, (void)ub;                                                           \
      to |= ((unsigned int)(part) & (unsigned_type)~0u) << i;                                           \
    }                                                                                                   \
    return to;                                                                                          \
  }
#define __WB_SIMD(name, part2, part4)                                  \
  __WB_PARTS(name, 2, 16, short, unsigned short, part2)                \
  __WB_PARTS(name, 4, 8, signed char, unsigned char, part4)
#define __WB_SAME(name, part) __WB_SIMD(name, part, part)
__WB_SAME(__vadd, ua + ub)
__WB_SAME(__vsub, ua - ub)
__WB_SAME(__vavgs, (sa + sb + (sa + sb >= 0)) >> 1)
__WB_SAME(__vavgu, (ua + ub + 1) >> 1)
__WB_SAME(__vhaddu, (ua + ub) >> 1)
__WB_SAME(__vmaxs, sa > sb ? sa : sb)
__WB_SAME(__vmaxu, ua > ub ? ua : ub)
__WB_SAME(__vmins, sa < sb ? sa : sb)
__WB_SAME(__vminu, ua < ub ? ua : ub)
__WB_SAME(__vabsdiffs, sa > sb ? sa - sb : sb - sa)
__WB_SAME(__vabsdiffu, ua > ub ? ua - ub : ub - ua)
#define __WB_CLAMP(v, low, high) ((v) < (low) ? (low) : (v) > (high) ? (high) : (v))
__WB_SIMD(__vaddss, __WB_CLAMP(sa + sb, -32768, 32767), __WB_CLAMP(sa + sb, -128, 127))
__WB_SIMD(__vaddus, __WB_CLAMP(ua + ub, 0, 65535), __WB_CLAMP(ua + ub, 0, 255))
__WB_SIMD(__vsubss, __WB_CLAMP(sa - sb, -32768, 32767), __WB_CLAMP(sa - sb, -128, 127))
__WB_SIMD(__vsubus, __WB_CLAMP(ua - ub, 0, 65535), __WB_CLAMP(ua - ub, 0, 255))
#define __WB_COMPARISON(name, condition)              \
  __WB_SAME(__vcmp##name, (condition) ? ~0u : 0u)     \
  __WB_SAME(__vset##name, (condition) ? 1u : 0u)
__WB_COMPARISON(eq, ua == ub)
__WB_COMPARISON(ne, ua != ub)
__WB_COMPARISON(ges, sa >= sb)
__WB_COMPARISON(geu, ua >= ub)
__WB_COMPARISON(gts, sa > sb)
__WB_COMPARISON(gtu, ua > ub)
__WB_COMPARISON(les, sa <= sb)
__WB_COMPARISON(leu, ua <= ub)
__WB_COMPARISON(lts, sa < sb)
__WB_COMPARISON(ltu, ua < ub)
#undef __WB_COMPARISON
#undef __WB_CLAMP
#undef __WB_SAME
#undef __WB_SIMD
#undef __WB_PARTS
__WB unsigned int __vneg2(unsigned int a) { return __vsub2(0, a); }
__WB unsigned int __vneg4(unsigned int a) { return __vsub4(0, a); }
__WB unsigned int __vnegss2(unsigned int a) { return __vsubss2(0, a); }
__WB unsigned int __vnegss4(unsigned int a) { return __vsubss4(0, a); }
__WB unsigned int __vabs2(unsigned int a) { return __vabsdiffs2(a, 0); }
__WB unsigned int __vabs4(unsigned int a) { return __vabsdiffs4(a, 0); }
__WB unsigned int __vabsss2(unsigned int a) { return __vmaxs2(a, __vnegss2(a)); }
__WB unsigned int __vabsss4(unsigned int a) { return __vmaxs4(a, __vnegss4(a)); }
__WB unsigned int __wb_sum2(unsigned int v) { return (v & 0xffff) + (v >> 16); }
__WB unsigned int __wb_sum4(unsigned int v) { return (v & 0xff) + (v >> 8 & 0xff) + (v >> 16 & 0xff) + (v >> 24); }
__WB unsigned int __vsads2(unsigned int a, unsigned int b) { return __wb_sum2(__vabsdiffs2(a, b)); }
__WB unsigned int __vsads4(unsigned int a, unsigned int b) { return __wb_sum4(__vabsdiffs4(a, b)); }
__WB unsigned int __vsadu2(unsigned int a, unsigned int b) { return __wb_sum2(__vabsdiffu2(a, b)); }
__WB unsigned int __vsadu4(unsigned int a, unsigned int b) { return __wb_sum4(__vabsdiffu4(a, b)); }
