package simd

import "math/bits"

// The modes of shfl.
const (
	ShuffleDown = iota
	ShuffleUp
	ShuffleButterfly
	ShuffleIndex
)

// shuffleLanes sets the lanes of m in d to the lanes of a that they read from, and
// returns which of these are in their segments.
func shuffleLanes(d, a, b, c *[32]uint32, m uint32, mode uint8) (valid uint32) {
	var result [32]uint32
	for x := m; x != 0; x &= x - 1 {
		l := bits.TrailingZeros32(x) & 31
		from, ok := ShuffleSource(mode, uint32(l), b[l], c[l])
		if ok {
			valid |= 1 << l
		}
		if result[l] = a[from]; m>>from&1 == 0 {
			result[l] = 1<<32 - 1
		}
	}
	Blend(d, &result, m)
	return valid
}

// ShuffleSource is the lane that lane l reads from, and whether it is in its
// segment. c holds the clamp in its low bits and the segment mask above.
func ShuffleSource(mode uint8, l, b, c uint32) (from uint32, ok bool) {
	b, clamp, segment := b&31, c&31, c>>8&31
	last := l&segment | clamp&^segment
	switch mode {
	case ShuffleDown:
		from = l + b
	case ShuffleUp:
		if int(l)-int(b) < int(last) {
			return l, false
		}
		return l - b, true
	case ShuffleButterfly:
		from = l ^ b
	default:
		from = l&segment | b&^segment
	}
	if from > last {
		return l, false
	}
	return from, true
}

// Blend copies the lanes of m.
func Blend[T any](d, t *[32]T, m uint32) {
	for x := m; x != 0; x &= x - 1 {
		l := bits.TrailingZeros32(x) & 31
		d[l] = t[l]
	}
}
