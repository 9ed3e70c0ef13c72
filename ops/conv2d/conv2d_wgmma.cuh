// Hopper's own instructions as the rungs of conv2d_hopper.cu use them: the copy engine
// (TMA) brings boxes of x and w to shared memory, barriers there hand them over, and a
// warpgroup of four warps multiplies them (wgmma).
#pragma once

struct alignas(64) TensorMap { unsigned long long words[16]; };

static __device__ unsigned address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

static __device__ void barrier_init(unsigned barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}
static __device__ void barrier_expect(unsigned barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
static __device__ void barrier_arrive(unsigned barrier) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory"); }
static __device__ void barrier_wait(unsigned barrier, unsigned phase) {
    asm volatile("{.reg .pred done; again: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], %1; @!done bra again;}" ::"r"(barrier), "r"(phase) : "memory");
}

static __device__ void prefetch(const TensorMap& map) { asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory"); }

// A box of images: channels from c on, columns and rows from w and h on, which may be
// outside of the image: zeros come from there.
static __device__ void copy_image(unsigned to, const TensorMap& map, unsigned c, int w, int h, unsigned image, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];"
                 ::"r"(to), "l"(&map), "r"(c), "r"(w), "r"(h), "r"(image), "r"(barrier) : "memory");
}

// The same box of a volume, of one depth of it, which may be outside too.
static __device__ void copy_depth(unsigned to, const TensorMap& map, unsigned c, int w, int h, int d, unsigned image, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, %6}], [%7];"
                 ::"r"(to), "l"(&map), "r"(c), "r"(w), "r"(h), "r"(d), "r"(image), "r"(barrier) : "memory");
}

// The pixels under tap (r, s) of as many places, one after the other in all images, as
// the map says; w and h are of the first place under the first tap.
static __device__ void copy_places(unsigned to, const TensorMap& map, unsigned c, int w, int h, unsigned image, unsigned short s, unsigned short r, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};"
                 ::"r"(to), "l"(&map), "r"(c), "r"(w), "r"(h), "r"(image), "r"(barrier), "h"(s), "h"(r) : "memory");
}

// The same of volumes, under tap (t, r, s).
static __device__ void copy_deep_places(unsigned to, const TensorMap& map, unsigned c, int w, int h, int d, unsigned image, unsigned short s, unsigned short r, unsigned short t, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, %6}], [%7], {%8, %9, %10};"
                 ::"r"(to), "l"(&map), "r"(c), "r"(w), "r"(h), "r"(d), "r"(image), "r"(barrier), "h"(s), "h"(r), "h"(t) : "memory");
}

// Filters from 16 q on under one tap. The map deals the 16 channels of each q: the even
// ones are rows 0 to 7 of a matrix, the odd ones rows 8 to 15.
static __device__ void copy_filters(unsigned to, const TensorMap& map, unsigned c, unsigned q, unsigned tap, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, 0, 0, %3, %4}], [%5];"
                 ::"r"(to), "l"(&map), "r"(c), "r"(q), "r"(tap), "r"(barrier) : "memory");
}

// Filters from k on under one tap, of one part.
static __device__ void copy_rows(unsigned to, const TensorMap& map, unsigned c, unsigned k, unsigned tap, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
                 ::"r"(to), "l"(&map), "r"(c), "r"(k), "r"(tap), "r"(barrier) : "memory");
}

// A matrix with rows of 128 bytes, whose vectors of 16 bytes the copy engine exchanges by
// bits 7 to 9 of their address. wgmma does so too, by the address as well: a matrix may
// start at any row, as long as the memory that was filled starts at a multiple of 1024.
static __device__ unsigned long long rows_at(unsigned at) {
    return (unsigned long long)(at >> 4 & 0x3fff) | 1ull << 16 | (unsigned long long)(1024 >> 4) << 32 | 1ull << 62;
}

// The first word of such a matrix, which counts 16 bytes as one, and the matrix of a word: one
// that starts some bytes further costs an addition.
static __device__ unsigned rows_word(unsigned at) { return (unsigned)rows_at(at); }
static __device__ unsigned long long rows_of(unsigned word) { return rows_at(0) >> 32 << 32 | word; }

static __device__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
static __device__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int pending> static __device__ void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory"); }

// 64 channels by n places: 32 bytes of each row of both factors. d[n / 2] are the sums;
// FROM and TO are the names of the operands behind them.
#define TEN(tens) "%" #tens "0, %" #tens "1, %" #tens "2, %" #tens "3, %" #tens "4, %" #tens "5, %" #tens "6, %" #tens "7, %" #tens "8, %" #tens "9, "
#define SUMS4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SUMS8(d, i) SUMS4(d, i), SUMS4(d, i + 4)
#define SUMS32(d, i) SUMS8(d, i), SUMS8(d, i + 8), SUMS8(d, i + 16), SUMS8(d, i + 24)
#define NAMES64 TEN() TEN(1) TEN(2) "%30, %31"
#define NAMES120 TEN() TEN(1) TEN(2) TEN(3) TEN(4) "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59"
#define NAMES128 TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) "%60, %61, %62, %63"
#define NAMES208 TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) "%100, %101, %102, %103"
#define NAMES232 TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10) "%110, %111, %112, %113, %114, %115"
#define WGMMA(T, n, shape, type, first, second, third, signs, ...)                                                                   \
    static __device__ void wgmma(T, float (&d)[n / 2], unsigned long long a, unsigned long long b, int add) {                         \
        asm volatile("{.reg .pred add; setp.ne.b32 add, %" #third ", 0; wgmma.mma_async.sync.aligned." shape ".f32." type "." type    \
                     " {" NAMES##n "}, %" #first ", %" #second ", add, " signs ";}"                                                   \
                     : __VA_ARGS__ : "l"(a), "l"(b), "r"(add));                                                                       \
    }
#define WGMMA_OF(T, k, type, signs)                                                                                                   \
    WGMMA(T, 64, "m64n64" k, type, 32, 33, 34, signs, SUMS32(d, 0))                                                                   \
    WGMMA(T, 128, "m64n128" k, type, 64, 65, 66, signs, SUMS32(d, 0), SUMS32(d, 32))                                                  \
    WGMMA(T, 208, "m64n208" k, type, 104, 105, 106, signs, SUMS32(d, 0), SUMS32(d, 32), SUMS32(d, 64), SUMS8(d, 96))                  \
    WGMMA(T, 232, "m64n232" k, type, 116, 117, 118, signs, SUMS32(d, 0), SUMS32(d, 32), SUMS32(d, 64), SUMS8(d, 96), SUMS8(d, 104), SUMS4(d, 112))
WGMMA(__nv_bfloat16, 120, "m64n120k16", "bf16", 60, 61, 62, "1, 1, 0, 0", SUMS32(d, 0), SUMS8(d, 32), SUMS8(d, 40), SUMS8(d, 48), SUMS4(d, 56))
WGMMA_OF(__half, "k16", "f16", "1, 1, 0, 0")
WGMMA_OF(__nv_bfloat16, "k16", "bf16", "1, 1, 0, 0")
WGMMA_OF(float, "k8", "tf32", "1, 1")

// Is true in one lane of a warp.
static __device__ bool elected() {
    unsigned p;
    asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p;}" : "=r"(p));
    return p;
}
