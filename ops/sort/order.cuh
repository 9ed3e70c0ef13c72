// The orders of keys. A key is handled as its bits. Its code is an unsigned number, and
// codes have the order of the keys.

struct U32 {
    typedef unsigned Bits;
    static constexpr Bits largest = ~0u;
    static __device__ Bits code(Bits b) { return b; }
};

struct I32 {
    typedef unsigned Bits;
    static __device__ Bits code(Bits b) { return b ^ 0x80000000u; }
};

// The total order of IEEE 754: NaN with a sign, -inf, numbers, -0, +0, numbers, +inf, NaN.
struct F32 {
    typedef unsigned Bits;
    static __device__ Bits code(Bits b) { return b ^ ((unsigned)((int)b >> 31) | 0x80000000u); }
};

struct U64 {
    typedef unsigned long long Bits;
    static __device__ Bits code(Bits b) { return b; }
};

constexpr unsigned all_lanes = 0xffffffff;

template <class Order> static __device__ bool less(typename Order::Bits a, typename Order::Bits b) { return Order::code(a) < Order::code(b); }
