// Where rows begin among the entries of a block: a bit for the first entry of each row that
// has entries, and the row at the place of that entry.
#pragma once

// Shared memory has a gap after each 32 words, so that lanes that read rows of 16 entries
// meet at no bank.
static __device__ unsigned padded(unsigned i) { return i + i / 32; }

// The last row that is marked before the word, the same for all lanes of the warp, or the row
// before all of them.
static __device__ int last_row(const unsigned* head, const int* row_of, unsigned word, int before) {
    for (unsigned left = word; left > 0; left -= min(left, 32u)) {
        int w = (int)left - 1 - (int)(threadIdx.x % 32);
        unsigned bits = w >= 0 ? head[w] : 0, any = __ballot_sync(0xffffffff, bits != 0);
        if (any == 0) continue;
        unsigned nearest = __ffs(any) - 1;
        bits = __shfl_sync(0xffffffff, bits, nearest);
        return row_of[padded(32 * (left - 1 - nearest) + 31 - __clz(bits))];
    }
    return before;
}
