// What the rungs of pooling share: the shape of a call, and what a window keeps.
#pragma once

// A window of window x window elements moves over each of the planes of h x w, `stride`
// elements at a time, from `padding` elements before the first row and column on. There are
// oh x ow places for it.
struct Shape {
    unsigned planes, h, w, oh, ow, window, stride;
    int padding;
    unsigned count_padding;
};

// The part of a window that lies within a row or column of `length` elements: padding is
// never read, so that it counts as -inf for a maximum and as 0 for a sum.
struct Range {
    int first, end;
    __device__ Range(unsigned place, unsigned length, const Shape& s) {
        first = (int)(place * s.stride) - s.padding;
        end = min(first + (int)s.window, (int)length);
        first = max(first, 0);
    }
};

// What a window keeps. Of equal maxima the first one counts, in the order of memory, and a
// NaN counts more than any number; of several, the first.
template <bool average> struct Kept {
    float value = 0;
    int at = -1;

    __device__ void add(float v, int where) {
        if (average) value += v;
        else if (at < 0 || v > value || (v != v && value == value)) value = v, at = where;
    }
    __device__ void add(const Kept& o) { add(o.value, o.at); }

    // Stores the maximum and its place in the plane, or the mean.
    __device__ void store(float* y, int* index, size_t i, const Shape& s, unsigned elements) const {
        y[i] = average ? value / (float)(s.count_padding ? s.window * s.window : elements) : value;
        if (!average) index[i] = at;
    }
};
