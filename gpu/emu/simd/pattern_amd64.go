package simd

import (
	"math/bits"
	"unsafe"
)

// What is below exists for AVX-512 and, in pattern_lanes.go, in Go: AVX2 has no masks.

// Match reports whether the active lanes of a have the distances of a pattern.
func (v Vectors) Match(a *[32]uint32, delta *[32]int32, mask uint32) bool {
	if v == AVX512 {
		return match512(a, a[bits.TrailingZeros32(mask)&31], delta, mask)
	}
	return matchLanes(a, delta, mask)
}

func (v Vectors) MatchWide(a *[32]uint64, delta *[32]int32, mask uint32) bool {
	if v == AVX512 {
		return matchWide512(a, a[bits.TrailingZeros32(mask)&31], delta, mask)
	}
	return matchWideLanes(a, delta, mask)
}

// LoadUnit loads consecutive words; base is the address of the lowest lane.
func (v Vectors) LoadUnit(d *[32]uint32, base unsafe.Pointer, m uint32) {
	if v == AVX512 {
		loadUnit512(d, base, m)
		return
	}
	loadUnitLanes(d, base, m)
}

func (v Vectors) StoreUnit(s *[32]uint32, base unsafe.Pointer, m uint32) {
	if v == AVX512 {
		storeUnit512(s, base, m)
		return
	}
	storeUnitLanes(s, base, m)
}

// Gather loads a word for each lane of the pattern.
func (v Vectors) Gather(d *[32]uint32, base unsafe.Pointer, delta *[32]int32, mask uint32) {
	if v == AVX512 {
		gather512(d, base, delta, mask)
		return
	}
	gatherLanes(d, base, delta, mask)
}

// Scatter stores them; of lanes with the same address, the highest wins.
func (v Vectors) Scatter(s *[32]uint32, base unsafe.Pointer, delta *[32]int32, mask uint32) {
	if v == AVX512 {
		scatter512(s, base, delta, mask)
		return
	}
	scatterLanes(s, base, delta, mask)
}

// LoadQuads loads four words for every lane into four slots. It reports whether the
// processor supports it.
func (v Vectors) LoadQuads(slots unsafe.Pointer, regs *[4]uint32, base unsafe.Pointer, delta *[32]int32) bool {
	if v == AVX512 {
		loadQuads512(slots, regs, base, delta)
	}
	return v == AVX512
}

// Shuffle is shuffleLanes; valid may have other lanes too.
func (v Vectors) Shuffle(d, a, b, c *[32]uint32, m uint32, mode uint8) (valid uint32) {
	switch v {
	case AVX512:
		return shuffle512(d, a, b, c, m, mode)
	case AVX2:
		return shuffle256(d, a, b, c, m, mode)
	}
	return shuffleLanes(d, a, b, c, m, mode)
}

//go:noescape
func shuffle256(d, a, b, c *[32]uint32, m uint32, mode uint8) (valid uint32)

//go:noescape
func shuffle512(d, a, b, c *[32]uint32, m uint32, mode uint8) (valid uint32)

//go:noescape
func match512(a *[32]uint32, first uint32, delta *[32]int32, m uint32) bool

//go:noescape
func matchWide512(a *[32]uint64, first uint64, delta *[32]int32, m uint32) bool

// Prefetch brings bytes at an address into the cache.
func Prefetch(at, bytes uintptr)

// Written reports whether all bytes of a load were written; false also if it cannot
// decide.
func (v Vectors) Written(first *uint32, words *[32]int32, bits *[32]uint32) bool {
	return v == AVX512 && written512(first, words, bits)
}

//go:noescape
func written512(first *uint32, words *[32]int32, bits *[32]uint32) bool

//go:noescape
func loadUnit512(d *[32]uint32, base unsafe.Pointer, m uint32)

//go:noescape
func storeUnit512(s *[32]uint32, base unsafe.Pointer, m uint32)

//go:noescape
func gather512(d *[32]uint32, base unsafe.Pointer, delta *[32]int32, m uint32)

//go:noescape
func scatter512(s *[32]uint32, base unsafe.Pointer, delta *[32]int32, m uint32)

//go:noescape
func loadQuads512(slots unsafe.Pointer, regs *[4]uint32, base unsafe.Pointer, delta *[32]int32)
