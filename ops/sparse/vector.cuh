// Vectors of four entries, of which some may belong to the rows before and after.
#pragma once

// x of the entries i to i + 3 of a row that has n from begin on, and 0 where it ends.
static __device__ float4 gather(const float* __restrict__ x, int4 c, unsigned i, unsigned begin, unsigned n) {
    float4 g = make_float4(0, 0, 0, 0);
    unsigned k = i - begin; // of an entry before the row it is at least 2^32 - 3
    if (k < n) g.x = x[c.x];
    if (k + 1 < n) g.y = x[c.y];
    if (k + 2 < n) g.z = x[c.z];
    if (k + 3 < n) g.w = x[c.w];
    return g;
}

// The sum of the products of v and what gather has returned. A value of another row may be
// NaN or an infinity, so that it is not multiplied by 0.
static __device__ float dot(float4 v, float4 g, unsigned i, unsigned begin, unsigned n) {
    unsigned k = i - begin;
    return ((k < n ? v.x : 0) * g.x + (k + 1 < n ? v.y : 0) * g.y) + ((k + 2 < n ? v.z : 0) * g.z + (k + 3 < n ? v.w : 0) * g.w);
}
