// Kernels whose intermediate code has what most have not: numbers of 128 bits, unions, copies
// of a variable size, atomics of 8 and 16 bits, remainders of floats, sums of products of vectors.

union Box { float4 v; int4 i; unsigned char c[16]; };
typedef unsigned __int128 u128;
typedef __int128 s128;
extern "C" __global__ void wide_arith(const unsigned* x, unsigned* y, unsigned n) {
    unsigned t = threadIdx.x, a = x[t];
    u128 p = (u128)(0x9e3779b97f4a7c15ull * a) * (0xc2b2ae3d27d4eb4full + a);
    p = p * (a | 1) + (u128)a * 77 - ((u128)a << 100);
    s128 s = (s128)p - ((s128)1 << 126);
    unsigned r = (unsigned)(p >> 64) ^ (unsigned)(p >> 17) ^ (unsigned)(s >> (a & 127)) ^ (unsigned)(p >> (a & 127)) ^ (unsigned)((p << (a & 127)) >> 90);
    if (p > (u128)s) r += 3;
    if (s < (s128)a) r += 5;
    if (p == ((u128)a << 70)) r += 7;
    if (s >= -((s128)a << 80)) r += 9;
    y[t] = r ^ (unsigned)(s >> 64) ^ (unsigned)(-s >> 90) ^ (unsigned)(((u128)1 << 64) + ((u128)3 << 90) + p >> 88);
}
extern "C" __global__ void wide_divide(const unsigned* x, unsigned* y, unsigned n) {
    unsigned t = threadIdx.x, a = x[t];
    u128 p = (u128)(0x9e3779b97f4a7c15ull * a) * 0xc2b2ae3d27d4eb4full + a;
    u128 q = ((u128)a << (a & 63)) + 12345;
    s128 s = (s128)p, d = (a & 1) ? -(s128)q : (s128)q;
    y[t] = (unsigned)(p / q) ^ (unsigned)(p % q) ^ (unsigned)((p / q) >> 40) ^ (unsigned)((p % q) >> 33) ^ (unsigned)(s / d) ^ (unsigned)(s % d) ^ (unsigned)((s + a) % d >> 64) ^ (unsigned)((s + a) % d) ^ (unsigned)((s / d) >> 31);
}
extern "C" __global__ void unions(const unsigned* x, unsigned* y, unsigned n) {
    unsigned t = threadIdx.x;
    Box b; b.v = make_float4(x[t], x[t] / 3, 7.5f, x[t & 7]);
    Box c = x[t] & 1 ? b : Box{make_float4(1, 2, 3, 4)};
    c.c[x[t] & 15] ^= 85;
    y[t] = c.i.x ^ c.i.y * 3 ^ c.i.z * 5 ^ c.i.w * 7 ^ c.c[(x[t] >> 4) & 15];
}
extern "C" __global__ void cas16(const unsigned* x, unsigned* y, unsigned n) {
    __shared__ unsigned short s[64];
    unsigned t = threadIdx.x;
    s[t] = t & 1 ? (unsigned short)x[t] : 9;
    __syncthreads();
    unsigned short old = atomicCAS(&s[t], (unsigned short)9, (unsigned short)(x[t] + 1));
    __syncthreads();
    y[t] = old << 16 | s[t];
}
extern "C" __global__ void copies(const unsigned* x, unsigned* y, unsigned n) {
    unsigned t = threadIdx.x;
    unsigned char a[64], b[64];
    memset(a, x[t] >> 3, 64);
    memset(b, 1, 64);
    __builtin_memset(b, x[t] >> 8, x[t] & 63);
    for (int i = 0; i < 64; i++) a[i] += i * x[t];
    __builtin_memcpy(b + (x[t] >> 9 & 15), a, x[t] >> 20 & 31);
    __builtin_memmove(a + (x[t] >> 5 & 7), a + (x[t] >> 15 & 7), x[t] >> 10 & 31);
    unsigned r = 0;
    for (int i = 0; i < 64; i++) r = r * 31 + a[i] * 7 + b[i];
    y[t] = r;
}
extern "C" __global__ void rems(const unsigned* x, unsigned* y, unsigned n) {
    unsigned t = threadIdx.x;
    float a = x[t] * 1e-3f, b = (x[t] & 255) * 0.37f + 1;
    double c = x[t] * 1e-5, d = (x[t] & 255) * 0.11 + 1;
    y[t] = __float_as_uint(__builtin_elementwise_fmod(a, b)) ^ (unsigned)__double_as_longlong(__builtin_elementwise_fmod(c, d)) ^ __float_as_uint(__builtin_elementwise_fmod(a, t == 3 ? __int_as_float(0x7f800000) : b));
}
template <class T> __device__ unsigned update(T* s, unsigned a) {
    const auto order = __ATOMIC_RELAXED;
    const auto scope = __MEMORY_SCOPE_WRKGRP;
    T v = (T)(a >> 3);
    T old[8] = {__scoped_atomic_fetch_add(s, v, order, scope), __scoped_atomic_fetch_sub(s, (T)a, __ATOMIC_SEQ_CST, scope), __scoped_atomic_fetch_xor(s, v, order, scope),
        __scoped_atomic_fetch_or(s, (T)(a & 36), __ATOMIC_ACQUIRE, scope), __scoped_atomic_fetch_max(s, v, order, scope), __scoped_atomic_fetch_and(s, (T)(a >> 9 | 65), order, scope),
        __scoped_atomic_fetch_min(s, (T)(a >> 5), order, scope), __scoped_atomic_exchange_n(s, (T)(a ^ 77), __ATOMIC_ACQ_REL, scope)};
    T want = (T)(a & 1 ? a ^ 77 : 5), nand = __scoped_atomic_fetch_nand(s + 1, v, order, scope);
    unsigned r = __scoped_atomic_compare_exchange_n(s, &want, (T)(a >> 7), false, order, order, scope) * 3 + (unsigned)want + (unsigned)nand * 7;
    for (int i = 0; i < 8; i++) r = r * 31 + (unsigned)old[i];
    return r;
}
template <class T> __device__ void narrow(const unsigned* x, unsigned* y) {
    __shared__ T s[72];
    unsigned t = threadIdx.x;
    s[t] = x[t] >> 4;
    if (t < 8) s[64 + t] = t;
    __syncthreads();
    for (unsigned i = 0; i < 64; i++) { // one thread after the other: its neighbours' bits stay
        if (t == i) y[t] = update(s + (x[t] & 63), x[t]);
        __syncthreads();
    }
    y[t] += (unsigned)s[t] * 3;
    for (unsigned i = 0; i < 5; i++) __scoped_atomic_fetch_add(&s[t & 6], (T)x[t], __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP); // by all at once
    __syncthreads();
    y[t] = y[t] * 31 + (unsigned)s[t];
}
extern "C" __global__ void narrow8(const unsigned* x, unsigned* y, unsigned n) { narrow<unsigned char>(x, y); }
extern "C" __global__ void narrow8s(const unsigned* x, unsigned* y, unsigned n) { narrow<signed char>(x, y); }
extern "C" __global__ void narrow16(const unsigned* x, unsigned* y, unsigned n) { narrow<unsigned short>(x, y); }
extern "C" __global__ void narrow16s(const unsigned* x, unsigned* y, unsigned n) { narrow<short>(x, y); }
extern "C" __global__ void classes(const unsigned* x, unsigned* y, unsigned n) {
    unsigned t = threadIdx.x, a = t & 1 ? x[t] : (t & 2 ? 0x80000000u : 0) | (t & 4 ? 0x7f800000u : 0) | (t & 8 ? 0x800000u : 0) | (t & 16 ? 1 : 0);
    float f = __uint_as_float(a);
    double d = __longlong_as_double((long long)a << 32 | (t & 1));
    y[t] = __builtin_isnormal(f) + 2 * __builtin_isfinite(f) + 4 * __builtin_issubnormal(f) + 8 * __builtin_iszero(f) + 16 * __builtin_isnormal(d) + 32 * __builtin_issubnormal(d) + 64 * __builtin_isinf_sign(d) + 128 * __builtin_isfpclass(f, 0x2a4);
    long long l = (long long)a << 20, m = (long long)x[t ^ 1] << 20;
    y[t] += 256 * (l < m ? -1 : l > m) + 1024 * (a < x[t ^ 1] ? -1 : a > x[t ^ 1]) + (unsigned)__fns(a, t & 31, 2) + (unsigned)__double2ll_rn(x[t] * 0.37) + (unsigned)__float2ll_rz(x[t] * 0.7f);
}
extern "C" __global__ void turns(const unsigned* x, unsigned* y, unsigned n) {
    unsigned t = threadIdx.x, a = x[t], s = x[t + 64];
    unsigned long long w = a * 0x9e3779b97f4a7c15ull;
    w = __builtin_rotateleft64(w, s & 63) ^ __builtin_rotateright64(w, s >> 8 & 63) * 3;
    y[t] = (unsigned)(w >> 13) ^ __builtin_rotateleft16((unsigned short)a, s & 15) ^ __builtin_rotateright16((unsigned short)a, s >> 9 & 15) << 3 ^ __builtin_rotateleft8((unsigned char)a, s & 7) << 9 ^ __builtin_rotateright8((unsigned char)a, s >> 7 & 7) << 17;
}
struct Shape { unsigned by; __device__ Shape(unsigned by) : by(by) {} __device__ virtual unsigned of(unsigned v) const = 0; };
struct Sum : Shape { using Shape::Shape; __device__ unsigned of(unsigned v) const override { return v + by; } };
struct Product : Shape { using Shape::Shape; __device__ unsigned of(unsigned v) const override { return v * by; } };
extern "C" __global__ void tables(const unsigned* x, unsigned* y, unsigned n) {
    unsigned t = threadIdx.x;
    Sum a(3);
    Product b(x[t]);
    const Shape* s = x[t] & 1 ? (const Shape*)&a : &b;
    y[t] = s->of(t);
}
#include <mma.h>
extern "C" __global__ void matrices(const unsigned* x, unsigned* y, unsigned n) {
    using namespace nvcuda::wmma;
    __shared__ __half h[512];
    __shared__ signed char c[512];
    __shared__ float f[256];
    __shared__ int g[256];
    unsigned t = threadIdx.x;
    for (unsigned i = t; i < 512; i += 64) h[i] = __int2half_rn((int)(x[i & 255] % 19) - 9), c[i] = x[i & 255] >> 7;
    __syncthreads();
    if (t < 32) {
        fragment<matrix_a, 32, 8, 16, __half, row_major> a;
        fragment<matrix_b, 32, 8, 16, __half, col_major> b;
        fragment<accumulator, 32, 8, 16, float> s;
        fill_fragment(s, 1.5f);
        load_matrix_sync(a, h, 16);
        load_matrix_sync(b, h, 16);
        mma_sync(s, a, b, s);
        store_matrix_sync(f, s, 8, mem_row_major);
        fragment<matrix_a, 8, 32, 16, signed char, col_major> p;
        fragment<matrix_b, 8, 32, 16, signed char, row_major> q;
        fragment<accumulator, 8, 32, 16, int> r;
        fill_fragment(r, 7);
        load_matrix_sync(p, c, 16);
        load_matrix_sync(q, c, 32);
        mma_sync(r, p, q, r);
        store_matrix_sync(g, r, 32, mem_row_major);
    }
    __syncthreads();
    for (unsigned i = t; i < 256; i += 64) y[i] = __float_as_uint(f[i]) ^ g[i];
}
typedef float pair __attribute__((ext_vector_type(2)));
typedef float quad __attribute__((ext_vector_type(4)));
__device__ inline float small(unsigned x) { return (float)(x % 20011) * 1.37e-3f - 11.f; }
// Sums of products: numbers and elements of vectors, with few uses and with many.
extern "C" __global__ void products(const unsigned* x, unsigned* y, unsigned n) {
    unsigned t = threadIdx.x;
    pair a = {small(x[t]), small(x[t] * 7 + 1)}, b = {small(x[t] * 3 + 5), small(x[t] * 11 + 3)}, p = a * b, r = b * b;
    float q = a.x * b.y;
    unsigned h = __float_as_uint(p.x + q) ^ __float_as_uint(q - p.y) * 3 ^ __float_as_uint(p.x + r.x) * 5 ^ __float_as_uint(r.y - p.y) * 7;
    y[t] = h ^ __float_as_uint(p.y + p.x) * 11 ^ __float_as_uint(x[t] & 1 ? q * p.x + p.y : p.x - q) * 13;
}
extern "C" __global__ void sums(const unsigned* x, unsigned* y, unsigned n) {
    unsigned t = threadIdx.x;
    quad a = {small(x[t]), small(x[t] * 7 + 1), small(x[t] * 5 + 1), small(x[t] * 9 + 1)}, b = a.wzyx, p = a * b, s = p + b * b - a;
    pair c = a.xy, d = b.xz, sum = {1, 2};
    for (int i = 0; i < 5; i++) {
        pair q = c * d;
        sum = sum * c + q;
        c = q - sum * d;
        sum += q.y;
    }
    y[t] = __float_as_uint(s.x) ^ __float_as_uint(s.y + p.z) * 3 ^ __float_as_uint(s.w - p.w) * 5 ^ __float_as_uint(sum.x) * 7 ^ __float_as_uint(sum.y) * 11;
}
