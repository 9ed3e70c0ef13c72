package simd

import (
	"math/bits"
	"unsafe"
)

// This file is what the accesses of a known pattern need where assembly does not run them.
//
// The memory is that of a kernel, which may have a race of its own: its blocks run on several
// goroutines. Go's race detector does not look at these accesses; package engine finds the
// races of kernels.

const all = 1<<32 - 1

// Match reports whether the active lanes of a have the distances of a pattern.
func Match(a *[32]uint32, delta *[32]int32, mask uint32) bool {
	first := a[bits.TrailingZeros32(mask)&31]
	if mask == all {
		for l := range a {
			if int32(a[l]-first) != delta[l] {
				return false
			}
		}
		return true
	}
	for x := mask; x != 0; x &= x - 1 {
		if l := bits.TrailingZeros32(x) & 31; int32(a[l]-first) != delta[l] {
			return false
		}
	}
	return true
}

func MatchWide(a *[32]uint64, delta *[32]int32, mask uint32) bool {
	first := a[bits.TrailingZeros32(mask)&31]
	if mask == all {
		for l := range a {
			if int64(a[l]-first) != int64(delta[l]) {
				return false
			}
		}
		return true
	}
	for x := mask; x != 0; x &= x - 1 {
		if l := bits.TrailingZeros32(x) & 31; int64(a[l]-first) != int64(delta[l]) {
			return false
		}
	}
	return true
}

// LoadUnit loads consecutive words; base is the address of the lowest lane.
//
//go:norace
func LoadUnit(d *[32]uint32, base unsafe.Pointer, m uint32) {
	if m == all {
		*d = *(*[32]uint32)(base)
		return
	}
	first := bits.TrailingZeros32(m)
	for x := m; x != 0; x &= x - 1 {
		l := bits.TrailingZeros32(x) & 31
		d[l] = *(*uint32)(unsafe.Add(base, 4*(l-first)))
	}
}

//go:norace
func StoreUnit(s *[32]uint32, base unsafe.Pointer, m uint32) {
	if m == all {
		*(*[32]uint32)(base) = *s
		return
	}
	first := bits.TrailingZeros32(m)
	for x := m; x != 0; x &= x - 1 {
		l := bits.TrailingZeros32(x) & 31
		*(*uint32)(unsafe.Add(base, 4*(l-first))) = s[l]
	}
}

// Gather loads a word for each lane of the pattern.
//
//go:norace
func Gather(d *[32]uint32, base unsafe.Pointer, delta *[32]int32, mask uint32) {
	if mask == all {
		for l := range d {
			d[l] = *(*uint32)(unsafe.Add(base, delta[l]))
		}
		return
	}
	for x := mask; x != 0; x &= x - 1 {
		l := bits.TrailingZeros32(x) & 31
		d[l] = *(*uint32)(unsafe.Add(base, delta[l]))
	}
}

// Scatter stores them; of lanes with the same address, the highest wins.
//
//go:norace
func Scatter(s *[32]uint32, base unsafe.Pointer, delta *[32]int32, mask uint32) {
	if mask == all {
		for l := range s {
			*(*uint32)(unsafe.Add(base, delta[l])) = s[l]
		}
		return
	}
	for x := mask; x != 0; x &= x - 1 {
		l := bits.TrailingZeros32(x) & 31
		*(*uint32)(unsafe.Add(base, delta[l])) = s[l]
	}
}
