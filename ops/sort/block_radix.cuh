// One block sorts few keys in one launch. A digit has 5 bits, as many as number the lanes of
// a warp: lane d counts the keys of digit d in its warp, so that a warp counts and ranks in
// registers, and shared memory holds only the sums of warps and the keys on their way.

// The lanes whose word has a bit. Of the same test in C++ the assembler makes a shift, a mask
// and a comparison; in this form it tests all bits of a digit by one instruction.
static __device__ unsigned lanes_with(unsigned word, unsigned bit) {
    unsigned lanes;
    asm volatile("{ .reg .pred p; .reg .b32 t; and.b32 t, %1, %2; setp.ne.b32 p, t, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(lanes) : "r"(word), "r"(bit));
    return lanes;
}

template <unsigned threads, unsigned items> struct Block {
    static constexpr unsigned bits = 5, passes = 7, warps = threads / 32, column = warps + 1; // an odd column: lanes never meet
    // The keys of the largest block fill the 64 KB that a block of sm_75 has at most, so that
    // its counts lie where the keys do.
    static constexpr bool apart = threads * items < 16384;
    unsigned keys[items];

    // Missing keys are the largest that there is: a real key of that value has the same bits.
    __device__ void load(const unsigned* __restrict__ in, unsigned n) {
#pragma unroll
        for (unsigned k = 0; k < items; k++) {
            unsigned i = k * threads + threadIdx.x;
            keys[k] = i < n ? in[i] : U32::largest;
        }
    }

    // Moves the keys by one digit, from registers to shared memory. Lane d then has
    // in `start` the place of the warp's first key of digit d.
    __device__ void pass(unsigned* buffer, unsigned* counts, unsigned shift) {
        unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        unsigned others[bits], ranks[(items + 1) / 2], mine = 0; // keys of digit `lane` in the rows so far
#pragma unroll
        for (unsigned bit = 0; bit < bits; bit++) others[bit] = (lane >> bit & 1) - 1;
#pragma unroll
        for (unsigned k = 0; k < items; k++) {
            unsigned digit = keys[k] >> shift, own = all_lanes; // the lanes with digit `lane`
#pragma unroll
            for (unsigned bit = 0; bit < bits; bit++) own &= lanes_with(digit, 1u << bit) ^ others[bit];
            unsigned same = __shfl_sync(all_lanes, own, digit); // those with the digit of this one
            unsigned rank = __shfl_sync(all_lanes, mine, digit) + __popc(same & lanes_before());
            ranks[k / 2] = k % 2 ? ranks[k / 2] | rank << 16 : rank;
            mine += __popc(own);
        }
        if (!apart) __syncthreads();
        counts[lane * column + warp] = mine;
        __syncthreads();
        unsigned before = 0, all = 0;
#pragma unroll
        for (unsigned w = 0; w < warps; w++) {
            if (w == warp) before = all;
            all += counts[lane * column + w];
        }
        unsigned start = all;
#pragma unroll
        for (unsigned step = 1; step < 32; step *= 2) {
            unsigned other = __shfl_up_sync(all_lanes, start, step);
            if (lane >= step) start += other;
        }
        start += before - all;
        if (!apart) __syncthreads();
        asm volatile("" : "+r"(shift)); // digits are computed again: there is no register for each
#pragma unroll
        for (unsigned k = 0; k < items; k++) {
            unsigned place = __shfl_sync(all_lanes, start, keys[k] >> shift) + (k % 2 ? ranks[k / 2] >> 16 : ranks[k / 2] & 0xffff);
            buffer[place] = keys[k];
        }
        __syncthreads();
    }

    __device__ void all_passes(unsigned* buffer, unsigned* counts) {
#pragma unroll 1
        for (unsigned turn = 0; turn < passes; turn++) {
            if (turn)
#pragma unroll
                for (unsigned k = 0; k < items; k++) keys[k] = buffer[threadIdx.x / 32 * 32 * items + k * 32 + threadIdx.x % 32];
            pass(buffer, counts, min(turn * bits, 32 - bits)); // the last digit has bits of the one before it, too
        }
    }

    static __device__ void store(const unsigned* buffer, unsigned* __restrict__ out, unsigned n) {
#pragma unroll
        for (unsigned k = 0; k < items; k++) {
            unsigned i = k * threads + threadIdx.x;
            if (i < n) out[i] = buffer[i];
        }
    }
};

template <unsigned threads, unsigned items> static __device__ void block_radix(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned n) {
    extern __shared__ unsigned memory[];
    typedef Block<threads, items> Sort;
    Sort sort;
    sort.load(in, n);
    sort.all_passes(memory, memory + (Sort::apart ? threads * items : 0));
    Sort::store(memory, out, n);
}
