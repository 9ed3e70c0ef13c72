// Copies to shared memory past the registers: cp.async, from compute capability
// 8.0 on. Before, a copy is a load and a store, and nothing is waited for.

extern __shared__ __align__(16) float stages[];

#if __CUDA_ARCH__ >= 800
// Copies so many of 16 bytes, and puts 0 in place of the others.
static __device__ void copy16(float* to, const float* from, unsigned bytes = 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(bytes) : "memory");
}

// Copies one float, or puts 0 and reads nothing.
static __device__ void copy4(float* to, const float* from, bool inside) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(inside ? 4 : 0) : "memory");
}

static __device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int pending> static __device__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory"); }
#else
static __device__ void copy16(float* to, const float* from, unsigned bytes = 16) {
#pragma unroll
    for (unsigned i = 0; i < 4; i++) to[i] = i * 4 < bytes ? from[i] : 0;
}

static __device__ void copy4(float* to, const float* from, bool inside) { *to = inside ? *from : 0; }

static __device__ void commit() {}

template <int pending> static __device__ void wait() {}
#endif
