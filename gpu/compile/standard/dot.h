// Dot products of packed integers. NVRTC 12.0 declares them and lacks their code.
#pragma once
static __device__ __forceinline__ int __dp4a(int a, int b, int c) { int d; asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); return d; }
static __device__ __forceinline__ int __dp4a(char4 a, char4 b, int c) { return __dp4a(reinterpret_cast<int&>(a), reinterpret_cast<int&>(b), c); }
static __device__ __forceinline__ unsigned __dp4a(unsigned a, unsigned b, unsigned c) { unsigned d; asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); return d; }
static __device__ __forceinline__ unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) { return __dp4a(reinterpret_cast<unsigned&>(a), reinterpret_cast<unsigned&>(b), c); }
static __device__ __forceinline__ int __dp2a_lo(int a, int b, int c) { int d; asm("dp2a.lo.s32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); return d; }
static __device__ __forceinline__ int __dp2a_lo(short2 a, char4 b, int c) { return __dp2a_lo(reinterpret_cast<int&>(a), reinterpret_cast<int&>(b), c); }
static __device__ __forceinline__ unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) { unsigned d; asm("dp2a.lo.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); return d; }
static __device__ __forceinline__ unsigned __dp2a_lo(ushort2 a, uchar4 b, unsigned c) { return __dp2a_lo(reinterpret_cast<unsigned&>(a), reinterpret_cast<unsigned&>(b), c); }
static __device__ __forceinline__ int __dp2a_hi(int a, int b, int c) { int d; asm("dp2a.hi.s32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); return d; }
static __device__ __forceinline__ int __dp2a_hi(short2 a, char4 b, int c) { return __dp2a_hi(reinterpret_cast<int&>(a), reinterpret_cast<int&>(b), c); }
static __device__ __forceinline__ unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) { unsigned d; asm("dp2a.hi.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); return d; }
static __device__ __forceinline__ unsigned __dp2a_hi(ushort2 a, uchar4 b, unsigned c) { return __dp2a_hi(reinterpret_cast<unsigned&>(a), reinterpret_cast<unsigned&>(b), c); }
