// What the rungs of copy_if share: which elements are kept, vectors of four, their
// ranks in a warp and a block, and the look-back over tiles.

// NaN, 0 and -0 are not kept.
static __device__ bool kept(float v) { return v > 0; }

static __device__ unsigned kept(float4 v) { return kept(v.x) + kept(v.y) + kept(v.z) + kept(v.w); }

// The lanes below this one.
static __device__ unsigned lanes_below() {
    unsigned mask;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
}

// Four elements from i on, a multiple of 4; 0, which is not kept, beyond the end.
static __device__ float4 four(const float* __restrict__ x, size_t i, unsigned n) {
    if (i + 4 <= n && (size_t)x % 16 == 0) return __ldcs((const float4*)(x + i));
    return make_float4(i < n ? x[i] : 0, i + 1 < n ? x[i + 1] : 0, i + 2 < n ? x[i + 2] : 0, i + 3 < n ? x[i + 3] : 0);
}

// Loads a warp's part of a tile: ROUNDS times 128 neighbours, four per lane.
template <int ROUNDS>
static __device__ void load(float4* v, const float* __restrict__ x, size_t first, unsigned n) {
    first += threadIdx.x / 32 * ROUNDS * 128 + threadIdx.x % 32 * 4;
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) v[r] = four(x, first + r * 128, n);
}

// How many elements of the warp are kept. at[r] is how many of them lie before v[r].
// A count of 0 to 4 has three bits, so three ballots add up the warp.
template <int ROUNDS>
static __device__ unsigned rank(const float4* v, unsigned* at) {
    unsigned total = 0, below = lanes_below();
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
        unsigned c = kept(v[r]);
        unsigned ones = __ballot_sync(0xffffffff, c & 1), twos = __ballot_sync(0xffffffff, c & 2), fours = __ballot_sync(0xffffffff, c & 4);
        at[r] = total + __popc(ones & below) + 2 * __popc(twos & below) + 4 * __popc(fours & below);
        total += __popc(ones) + 2 * __popc(twos) + 4 * __popc(fours);
    }
    return total;
}

// How many elements are kept by the warps before this one, and by all of the block.
// Every warp passes its own number; totals is shared memory of WARPS words.
template <int WARPS>
static __device__ unsigned before_warp(unsigned own, unsigned* totals, unsigned& all) {
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0) totals[warp] = own;
    __syncthreads();
    unsigned t = lane < WARPS ? totals[lane] : 0, up = t;
#pragma unroll
    for (unsigned d = 1; d < 32; d *= 2) {
        unsigned other = __shfl_up_sync(0xffffffff, up, d);
        if (lane >= d) up += other;
    }
    all = __shfl_sync(0xffffffff, up, 31);
    return __shfl_sync(0xffffffff, up - t, warp);
}

// Writes the kept elements side by side; before is how many the block keeps before
// those of this warp.
template <int ROUNDS>
static __device__ void pack(float* packed, const float4* v, const unsigned* at, unsigned before) {
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
        float* next = packed + before + at[r];
        if (kept(v[r].x)) *next++ = v[r].x;
        if (kept(v[r].y)) *next++ = v[r].y;
        if (kept(v[r].z)) *next++ = v[r].z;
        if (kept(v[r].w)) *next++ = v[r].w;
    }
}

// Copies packed elements to y from element first on, as far as y has room.
static __device__ void store(float* __restrict__ y, const float* packed, unsigned first, unsigned total, unsigned capacity, unsigned threads) {
    for (unsigned i = threadIdx.x; i < total; i += threads)
        if (first + i < capacity) __stcs(y + first + i, packed[i]);
}

// The status of a tile is one word, so that state and number are written at once:
// 0 nothing yet, 1 how many the tile keeps, 2 how many it and all tiles before keep.
typedef unsigned long long Status;

static __device__ Status status_of(unsigned state, unsigned number) { return (Status)state << 32 | number; }

static __device__ Status read_status(const Status* status) {
    Status s;
    asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(s) : "l"(status) : "memory");
    return s;
}

static __device__ void write_status(Status* status, Status s) {
    asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(status), "l"(s) : "memory");
}

// How many elements the tiles before this one keep, in every lane of a warp: adds the
// tiles' own numbers from the nearest back to the first that knows its prefix.
// PER words per lane are in flight.
template <int PER>
static __device__ unsigned look_back(const Status* status, unsigned tile) {
    unsigned lane = threadIdx.x % 32, sum = 0;
    for (long long nearest = (long long)tile - 1 - lane;; nearest -= 32 * PER) {
        Status s[PER];
#pragma unroll
        for (int k = 0; k < PER; k++) s[k] = nearest - 32 * k >= 0 ? read_status(status + nearest - 32 * k) : status_of(2, 0);
        bool found = false;
#pragma unroll
        for (int k = 0; k < PER; k++) {
            while (!found) { // until no tile is missing before the first prefix
                unsigned prefixes = __ballot_sync(0xffffffff, s[k] >> 32 == 2), missing = __ballot_sync(0xffffffff, s[k] >> 32 == 0);
                unsigned first = prefixes ? __ffs(prefixes) - 1 : 31;
                if (!(missing & (2u << first) - 1)) {
                    if (lane <= first) sum += (unsigned)s[k];
                    found = prefixes;
                    break;
                }
                if (s[k] >> 32 == 0) s[k] = read_status(status + nearest - 32 * k);
            }
        }
        if (found) break;
    }
#pragma unroll
    for (unsigned d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    return sum;
}
