package engine

import "math/bits"

// eachLane calls f for each lane of a mask.
func eachLane(m uint32, f func(l int)) {
	for ; m != 0; m &= m - 1 {
		f(lowest(m) & 31)
	}
}

// all is the mask of a whole warp.
const all = 1<<32 - 1

// lowest is the lowest lane of a mask.
func lowest(m uint32) int { return bits.TrailingZeros32(m) }

// popcount is the number of lanes in a mask.
func popcount(m uint32) int { return bits.OnesCount32(m) }
