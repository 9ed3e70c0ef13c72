// The words that CUDA C++ adds to C++, the built-in variables, and the vector types.
#pragma once

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#ifndef __WB_PROGRAM
#define __managed__ __attribute__((managed))
#elif defined(__CUDA_ARCH__)
#define __managed__ __attribute__((device))
#else // the library finds the host's variable by its section
#define __managed__ __attribute__((device, section("wb_managed")))
#endif
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
// Package clang turns the annotation into the attribute of the back end.
#define __cluster_dims__(...) __attribute__((annotate("warpbook.cluster", __VA_ARGS__)))
#define __grid_constant__ __attribute__((grid_constant))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __inline_hint__ __inline__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define __cudart_builtin__
#define CUDARTAPI
#define CUDARTAPI_CDECL
#define __CUDACC__ 1
#ifndef __WB_PROGRAM
#define __CUDACC_RTC__ 1
#endif
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 0
#define CUDART_VERSION 12000
#define CUDA_VERSION 12000

// Functions of these headers: inlined, and without lines of their own, so that a fault
// inside them is reported at the line that calls them. Those of __WB are device functions
// in a whole program, where the host has the functions of its C library by these names.
#define __WB_BOTH __attribute__((host, device, always_inline, nodebug, unused)) static inline
#ifdef __WB_PROGRAM
#define __WB __attribute__((device, always_inline, nodebug, unused)) static inline
#else
#define __WB __WB_BOTH
#endif
#define __WB_MEMBER __attribute__((host, device, always_inline, nodebug)) inline
// Refuses a call with a reason.
#define __WB_REFUSED(name) __attribute__((unavailable("the clang headers of warpbook have no " #name ", NVRTC has it: see warpbook doctor")))

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef decltype(nullptr) nullptr_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#ifndef NULL
#define NULL 0
#endif

// A vector of 16 bytes and more is assigned element by element, which the back end joins to
// one access of 16 bytes. The assignment of a plain struct is a copy of bytes, of at most 8
// at a time.
#define __WB_BYTES(type, element)
#define __WB_PAIR(type, element)                 \
  __WB_MEMBER type& operator=(const type& v) {   \
    element a = v.x, b = v.y;                    \
    x = a, y = b;                                \
    return *this;                                \
  }
#define __WB_FOUR(type, element)                       \
  __WB_MEMBER type& operator=(const type& v) {         \
    element a = v.x, b = v.y, c = v.z, d = v.w;        \
    x = a, y = b, z = c, w = d;                        \
    return *this;                                      \
  }
#define __WB_VECTOR(name, element, align2, assign2, align4, assign4)                        \
  struct name##1 { element x; };                                                            \
  struct __attribute__((aligned(align2))) name##2 { element x, y; assign2(name##2, element) }; \
  struct name##3 { element x, y, z; };                                                      \
  struct __attribute__((aligned(align4))) name##4 { element x, y, z, w; assign4(name##4, element) }; \
  constexpr __WB_BOTH name##1 make_##name##1(element x) { return {x}; }                          \
  constexpr __WB_BOTH name##2 make_##name##2(element x, element y) { return {x, y}; }            \
  constexpr __WB_BOTH name##3 make_##name##3(element x, element y, element z) { return {x, y, z}; } \
  constexpr __WB_BOTH name##4 make_##name##4(element x, element y, element z, element w) { return {x, y, z, w}; }
__WB_VECTOR(char, signed char, 2, __WB_BYTES, 4, __WB_BYTES)
__WB_VECTOR(uchar, unsigned char, 2, __WB_BYTES, 4, __WB_BYTES)
__WB_VECTOR(short, short, 4, __WB_BYTES, 8, __WB_BYTES)
__WB_VECTOR(ushort, unsigned short, 4, __WB_BYTES, 8, __WB_BYTES)
__WB_VECTOR(int, int, 8, __WB_BYTES, 16, __WB_FOUR)
__WB_VECTOR(uint, unsigned int, 8, __WB_BYTES, 16, __WB_FOUR)
__WB_VECTOR(long, long, 16, __WB_PAIR, 16, __WB_FOUR)
__WB_VECTOR(ulong, unsigned long, 16, __WB_PAIR, 16, __WB_FOUR)
__WB_VECTOR(longlong, long long, 16, __WB_PAIR, 16, __WB_FOUR)
__WB_VECTOR(ulonglong, unsigned long long, 16, __WB_PAIR, 16, __WB_FOUR)
__WB_VECTOR(float, float, 8, __WB_BYTES, 16, __WB_FOUR)
__WB_VECTOR(double, double, 16, __WB_PAIR, 16, __WB_FOUR)
#undef __WB_VECTOR
#undef __WB_BYTES
#undef __WB_PAIR
#undef __WB_FOUR

struct dim3 {
  unsigned int x, y, z;
  constexpr __WB_MEMBER dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
  constexpr __WB_MEMBER dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr __WB_MEMBER operator uint3() const { return {x, y, z}; }
};

// A built-in variable is an object without contents, whose members read special registers.
#define __WB_SPECIAL(name, word, type)                                                      \
  struct __wb_##name {                                                                      \
    __declspec(property(get = __get_x)) unsigned int x;                                     \
    __declspec(property(get = __get_y)) unsigned int y;                                     \
    __declspec(property(get = __get_z)) unsigned int z;                                     \
    __WB_MEMBER static unsigned int __get_x() { return __nvvm_read_ptx_sreg_##word##_x(); } \
    __WB_MEMBER static unsigned int __get_y() { return __nvvm_read_ptx_sreg_##word##_y(); } \
    __WB_MEMBER static unsigned int __get_z() { return __nvvm_read_ptx_sreg_##word##_z(); } \
    __WB_MEMBER operator uint3() const { return {x, y, z}; }                                \
    __WB_MEMBER operator dim3() const { return dim3(x, y, z); }                             \
    __wb_##name(const __wb_##name &) = delete;                                              \
    void operator=(const __wb_##name &) const = delete;                                     \
    __wb_##name *operator&() const = delete;                                                \
                                                                                            \
   private:                                                                                 \
    __wb_##name() = default;                                                                \
  };                                                                                        \
  extern const __attribute__((device, weak)) __wb_##name name;
__WB_SPECIAL(threadIdx, tid, uint3)
__WB_SPECIAL(blockIdx, ctaid, uint3)
__WB_SPECIAL(blockDim, ntid, dim3)
__WB_SPECIAL(gridDim, nctaid, dim3)
#undef __WB_SPECIAL
#ifdef __WB_PROGRAM // where cudaDeviceProp has a member of this name
constexpr __attribute__((unused)) int warpSize = 32;
#else
#define warpSize 32
#endif
