// Loads and stores with cache hints, address spaces, fences, atomics, and blocks of bytes.
#pragma once

// A list of operands is one argument of a macro while it has parentheses.
#define __WB_LIST(...) __VA_ARGS__
#define __WB_ACCESS1(type, as, suffix, c)                                                   \
  __WB_LOADS(type, as r; , suffix, "%0", "%1", ("=" c(r)), (type)r)                           \
  __WB_STORES(type, suffix, "%1", (c((as)v)))
#define __WB_LOADS(type, declare, suffix, list, address, out, result)                       \
  __WB_LOAD(__ldg, "ld.global.nc", , type, declare, suffix, list, address, out, result)     \
  __WB_LOAD(__ldca, "ld.global.ca", volatile, type, declare, suffix, list, address, out, result) \
  __WB_LOAD(__ldcg, "ld.global.cg", volatile, type, declare, suffix, list, address, out, result) \
  __WB_LOAD(__ldcs, "ld.global.cs", volatile, type, declare, suffix, list, address, out, result) \
  __WB_LOAD(__ldlu, "ld.global.lu", volatile, type, declare, suffix, list, address, out, result) \
  __WB_LOAD(__ldcv, "ld.volatile.global", volatile, type, declare, suffix, list, address, out, result)
#define __WB_LOAD(name, ptx, how, type, declare, suffix, list, address, out, result)        \
  __WB type name(const type *p) {                                                           \
    declare asm how(ptx suffix " " list ", [" address "];" : __WB_LIST out : "l"(p) : "memory");      \
    return result;                                                                          \
  }
#define __WB_STORES(type, suffix, list, in)                                                 \
  __WB_STORE(__stwb, "st.global.wb", type, suffix, list, in)                                \
  __WB_STORE(__stcg, "st.global.cg", type, suffix, list, in)                                \
  __WB_STORE(__stcs, "st.global.cs", type, suffix, list, in)                                \
  __WB_STORE(__stwt, "st.global.wt", type, suffix, list, in)
#define __WB_STORE(name, ptx, type, suffix, list, in)                                       \
  __WB void name(type *p, type v) { asm volatile(ptx suffix " [%0], " list ";" ::"l"(p), __WB_LIST in : "memory"); }
#define __WB_ACCESS2(type, part, suffix, c)                                                 \
  __WB_LOADS(type, type r; , ".v2" suffix, "{%0, %1}", "%2", ("=" c(r.x), "=" c(r.y)), r) \
  __WB_STORES(type, ".v2" suffix, "{%1, %2}", (c(v.x), c(v.y)))
#define __WB_ACCESS4(type, part, suffix, c)                                                 \
  __WB_LOADS(type, type r; , ".v4" suffix, "{%0, %1, %2, %3}", "%4",                        \
             ("=" c(r.x), "=" c(r.y), "=" c(r.z), "=" c(r.w)), r) \
  __WB_STORES(type, ".v4" suffix, "{%1, %2, %3, %4}", (c(v.x), c(v.y), c(v.z), c(v.w)))
// Vectors of bytes and of halves are moved as words.
#define __WB_ACCESS_BITS(type, word)                                                        \
  __WB_BITS(type, word, __ldg) __WB_BITS(type, word, __ldca) __WB_BITS(type, word, __ldcg)  \
  __WB_BITS(type, word, __ldcs) __WB_BITS(type, word, __ldlu) __WB_BITS(type, word, __ldcv) \
  __WB_BITS_STORE(type, word, __stwb) __WB_BITS_STORE(type, word, __stcg)                   \
  __WB_BITS_STORE(type, word, __stcs) __WB_BITS_STORE(type, word, __stwt)
#define __WB_BITS(type, word, name) \
  __WB type name(const type *p) { return __builtin_bit_cast(type, name((const word *)p)); }
#define __WB_BITS_STORE(type, word, name) \
  __WB void name(type *p, type v) { name((word *)p, __builtin_bit_cast(word, v)); }

__WB_ACCESS1(char, unsigned int, ".s8", "r")
__WB_ACCESS1(signed char, unsigned int, ".s8", "r")
__WB_ACCESS1(unsigned char, unsigned int, ".u8", "r")
__WB_ACCESS1(short, short, ".s16", "h")
__WB_ACCESS1(unsigned short, unsigned short, ".u16", "h")
__WB_ACCESS1(int, int, ".s32", "r")
__WB_ACCESS1(unsigned int, unsigned int, ".u32", "r")
__WB_ACCESS1(long, long, ".s64", "l")
__WB_ACCESS1(unsigned long, unsigned long, ".u64", "l")
__WB_ACCESS1(long long, long long, ".s64", "l")
__WB_ACCESS1(unsigned long long, unsigned long long, ".u64", "l")
__WB_ACCESS1(float, float, ".f32", "f")
__WB_ACCESS1(double, double, ".f64", "d")
__WB_ACCESS2(short2, short, ".s16", "h")
__WB_ACCESS2(ushort2, unsigned short, ".u16", "h")
__WB_ACCESS2(int2, int, ".s32", "r")
__WB_ACCESS2(uint2, unsigned int, ".u32", "r")
__WB_ACCESS2(longlong2, long long, ".s64", "l")
__WB_ACCESS2(ulonglong2, unsigned long long, ".u64", "l")
__WB_ACCESS2(float2, float, ".f32", "f")
__WB_ACCESS2(double2, double, ".f64", "d")
__WB_ACCESS4(short4, short, ".s16", "h")
__WB_ACCESS4(ushort4, unsigned short, ".u16", "h")
__WB_ACCESS4(int4, int, ".s32", "r")
__WB_ACCESS4(uint4, unsigned int, ".u32", "r")
__WB_ACCESS4(float4, float, ".f32", "f")
__WB_ACCESS_BITS(char2, unsigned short)
__WB_ACCESS_BITS(uchar2, unsigned short)
__WB_ACCESS_BITS(char4, unsigned int)
__WB_ACCESS_BITS(uchar4, unsigned int)

// Address spaces.
#define __WB_SPACE(name, space)                                                             \
  __WB unsigned int __is##name(const void *p) { return __nvvm_isspacep_##space(p); }
__WB_SPACE(Global, global)
__WB_SPACE(Shared, shared)
__WB_SPACE(Constant, const)
__WB_SPACE(Local, local)
#undef __WB_SPACE
__WB size_t __cvta_generic_to_global(const void *p) { return (size_t)(__attribute__((address_space(1))) const void *)p; }
__WB size_t __cvta_generic_to_shared(const void *p) { return (size_t)(unsigned int)(size_t)(__attribute__((address_space(3))) const void *)p; }
__WB size_t __cvta_generic_to_constant(const void *p) { return (size_t)(__attribute__((address_space(4))) const void *)p; }
__WB size_t __cvta_generic_to_local(const void *p) { return (size_t)(__attribute__((address_space(5))) const void *)p; }
__WB void *__cvta_global_to_generic(size_t p) { return (void *)(__attribute__((address_space(1))) void *)p; }
__WB void *__cvta_shared_to_generic(size_t p) { return (void *)(__attribute__((address_space(3))) void *)(size_t)(unsigned int)p; }
__WB void *__cvta_local_to_generic(size_t p) { return (void *)(__attribute__((address_space(5))) void *)p; }

__WB void __threadfence_block() { __nvvm_membar_cta(); }
__WB void __threadfence() { __nvvm_membar_gl(); }
__WB void __threadfence_system() { __nvvm_membar_sys(); }

// Atomics are relaxed, as CUDA's are. Without an ending the scope is the device, and the
// compiler finds the address space. It has no such scopes for the others.
#define __WB_ATOM(name, ptx, type, c)                                                       \
  __WB type name(type *p, type v) {                                                         \
    type r;                                                                                 \
    asm volatile("atom." ptx " %0, [%1], %2;" : "=" c(r) : "l"(p), c(v) : "memory");        \
    return r;                                                                               \
  }
#ifdef __WB_GENERIC_ATOMICS // for an atomic on constant memory, of which the compiler knows none
#define __WB_DEVICE_ATOMIC(name, builtin, ptx, type, c) __WB_ATOM(name, "gpu." ptx, type, c)
#else
#define __WB_DEVICE_ATOMIC(name, builtin, ptx, type, c) \
  __WB type name(type *p, type v) { return builtin(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }
#endif
#define __WB_ATOMIC(name, builtin, ptx, type, c)                                            \
  __WB_DEVICE_ATOMIC(name, builtin, ptx, type, c)                                           \
  __WB_ATOM(name##_block, "cta." ptx, type, c)                                              \
  __WB_ATOM(name##_system, "sys." ptx, type, c)
#define __WB_ATOMICS(type, bits, sign, c)                                              \
  __WB_ATOMIC(atomicAdd, __scoped_atomic_fetch_add, "add.u" bits, type, c)                  \
  __WB_ATOMIC(atomicMin, __scoped_atomic_fetch_min, "min." sign bits, type, c)              \
  __WB_ATOMIC(atomicMax, __scoped_atomic_fetch_max, "max." sign bits, type, c)              \
  __WB_ATOMIC(atomicAnd, __scoped_atomic_fetch_and, "and.b" bits, type, c)                  \
  __WB_ATOMIC(atomicOr, __scoped_atomic_fetch_or, "or.b" bits, type, c)                     \
  __WB_ATOMIC(atomicXor, __scoped_atomic_fetch_xor, "xor.b" bits, type, c)                  \
  __WB_ATOMIC(atomicExch, __scoped_atomic_exchange_n, "exch.b" bits, type, c)               \
  __WB type atomicSub(type *p, type v) { return atomicAdd(p, (type)(0 - v)); } \
  __WB type atomicSub_block(type *p, type v) { return atomicAdd_block(p, (type)(0 - v)); }  \
  __WB type atomicSub_system(type *p, type v) { return atomicAdd_system(p, (type)(0 - v)); } \
  __WB_CAS(atomicCAS, "gpu.cas.b" bits, type, c)                                            \
  __WB_CAS(atomicCAS_block, "cta.cas.b" bits, type, c)                                      \
  __WB_CAS(atomicCAS_system, "sys.cas.b" bits, type, c)
#define __WB_CAS(name, ptx, type, c)                                                        \
  __WB type name(type *p, type expected, type v) {                                          \
    type r;                                                                                 \
    asm volatile("atom." ptx " %0, [%1], %2, %3;" : "=" c(r) : "l"(p), c(expected), c(v) : "memory"); \
    return r;                                                                               \
  }
__WB_ATOMICS(int, "32", "s", "r")
__WB_ATOMICS(unsigned int, "32", "u", "r")
__WB_ATOMICS(long, "64", "s", "l")
__WB_ATOMICS(unsigned long, "64", "u", "l")
__WB_ATOMICS(long long, "64", "s", "l")
__WB_ATOMICS(unsigned long long, "64", "u", "l")
__WB_CAS(atomicCAS, "gpu.cas.b16", unsigned short, "h")
__WB_CAS(atomicCAS_block, "cta.cas.b16", unsigned short, "h")
__WB_CAS(atomicCAS_system, "sys.cas.b16", unsigned short, "h")
__WB_ATOMIC(atomicAdd, __scoped_atomic_fetch_add, "add.f32", float, "f")
__WB_ATOMIC(atomicAdd, __scoped_atomic_fetch_add, "add.f64", double, "d")
__WB_ATOM(atomicInc, "gpu.inc.u32", unsigned int, "r")
__WB_ATOM(atomicInc_block, "cta.inc.u32", unsigned int, "r")
__WB_ATOM(atomicInc_system, "sys.inc.u32", unsigned int, "r")
__WB_ATOM(atomicDec, "gpu.dec.u32", unsigned int, "r")
__WB_ATOM(atomicDec_block, "cta.dec.u32", unsigned int, "r")
__WB_ATOM(atomicDec_system, "sys.dec.u32", unsigned int, "r")
#define __WB_EXCHANGE(ending)                                                               \
  __WB float atomicExch##ending(float *p, float v) { return __int_as_float(atomicExch##ending((int *)p, __float_as_int(v))); } \
  __WB double atomicExch##ending(double *p, double v) {                                     \
    return __longlong_as_double(atomicExch##ending((long long *)p, __double_as_longlong(v))); \
  }
__WB_EXCHANGE()
__WB_EXCHANGE(_block)
__WB_EXCHANGE(_system)
#undef __WB_EXCHANGE
#undef __WB_ATOMICS
#undef __WB_ATOMIC
#undef __WB_DEVICE_ATOMIC
#undef __WB_CAS
#undef __WB_ATOM

extern "C" {
__device__ void *malloc(size_t);
__device__ void free(void *);
}
__WB void *memcpy(void *to, const void *from, size_t n) { return __builtin_memcpy(to, from, n); }
__WB void *memmove(void *to, const void *from, size_t n) { return __builtin_memmove(to, from, n); }
__WB void *memset(void *to, int v, size_t n) { return __builtin_memset(to, v, n); }

// Objects in the heap of the device, and at a given place. The host's are those of its library.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winline-new-delete"
__device__ __attribute__((nodebug)) inline void *operator new(size_t bytes) { return malloc(bytes ? bytes : 1); }
__device__ __attribute__((nodebug)) inline void *operator new[](size_t bytes) { return malloc(bytes ? bytes : 1); }
__device__ __attribute__((nodebug)) inline void operator delete(void *p) noexcept { free(p); }
__device__ __attribute__((nodebug)) inline void operator delete[](void *p) noexcept { free(p); }
__device__ __attribute__((nodebug)) inline void operator delete(void *p, size_t) noexcept { free(p); }
__device__ __attribute__((nodebug)) inline void operator delete[](void *p, size_t) noexcept { free(p); }
__device__ __attribute__((nodebug)) inline void *operator new(size_t, void *p) noexcept { return p; }
__device__ __attribute__((nodebug)) inline void *operator new[](size_t, void *p) noexcept { return p; }
__device__ __attribute__((nodebug)) inline void operator delete(void *, void *) noexcept {}
__device__ __attribute__((nodebug)) inline void operator delete[](void *, void *) noexcept {}
#pragma clang diagnostic pop
