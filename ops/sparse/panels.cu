// C = A B with panels of B in shared memory: many rows of A read each of them. Asynchronous
// copies need sm_80.

#include "panel.cuh"

// Copies 16 bytes to shared memory, or zeros.
static __device__ void copy16(float* to, const float* from, bool there) {
    unsigned at = (unsigned)__cvta_generic_to_shared(to), bytes = there ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(bytes) : "memory");
}

// Copies 4 bytes, or a zero.
static __device__ void copy4(float* to, const float* from, bool there) {
    unsigned at = (unsigned)__cvta_generic_to_shared(to), bytes = there ? 4 : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(bytes) : "memory");
}

// A block has 256 rows and 128 columns of C in registers, a warp 16 of these rows, a lane
// four columns. It goes through B in panels of 64 rows, of which the next is on its way.
extern "C" __global__ void __launch_bounds__(512) spmm_panels(const int* __restrict__ offsets, const int* __restrict__ columns, const float* __restrict__ values, const float* __restrict__ b, float* __restrict__ c, unsigned rows, unsigned width, unsigned k) {
    extern __shared__ __align__(16) float staged[]; // two panels
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, groups = (k + wide - 1) / wide;
    unsigned row0 = blockIdx.x / groups * 256 + warp * 16, j0 = blockIdx.x % groups * wide, j = j0 + 4 * lane;
    bool vectors = k % 4 == 0 && ((size_t)b | (size_t)c) % 16 == 0;
    Part part(offsets, columns, values, row0, rows);

    auto fetch = [&](unsigned first) {
        for (unsigned i = threadIdx.x; i < panel * (wide / 4); i += 512) {
            unsigned r = i / (wide / 4), column = j0 + i % (wide / 4) * 4;
            float* to = staged + first / panel % 2 * panel * wide + i * 4;
            const float* from = b + (size_t)(first + r) * k + column;
            bool there = first + r < width;
            if (vectors) copy16(to, there && column < k ? from : b, there && column < k);
            else
                for (unsigned q = 0; q < 4; q++) copy4(to + q, there && column + q < k ? from + q : b, there && column + q < k);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    fetch(0);
    for (unsigned first = 0; first < width; first += panel) {
        asm volatile("cp.async.wait_group 0;" ::: "memory");
        __syncthreads(); // the panel is here, and the one before is read
        if (first + panel < width) fetch(first + panel);
        part.add(staged + first / panel % 2 * panel * wide, first, b, k, j);
    }
    part.store(c, row0, rows, k, j, vectors);
}
