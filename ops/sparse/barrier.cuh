// Barriers in shared memory that count the bytes of copies.
#pragma once

static __device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

static __device__ void barrier_wait(unsigned long long* b, unsigned phase) {
    asm volatile("{.reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @!done bra again;}" ::"r"(shared_address(b)), "r"(phase) : "memory");
}
