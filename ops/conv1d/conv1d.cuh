// What the rungs of conv1d share: the shape of a call, and the taps in constant memory.
#pragma once

// y[i] = sum over j < k of tap(j) * x[i * stride + j * dilation - before], where tap(j) is
// mask[first + j * step]: first = 0 and step = 1 correlate, first = k - 1 and step = -1
// convolve. Elements before and behind x add nothing.
struct Shape {
    unsigned n, k, outputs;
    int before;
    unsigned stride, dilation;
    int first, step;
};

// The constant memory of a module is 64 KiB: 16384 taps, in the order of x.
const unsigned most_taps = 16384;
__constant__ __align__(16) float conv1d_taps[most_taps];
