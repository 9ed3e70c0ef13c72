//go:build !amd64

package simd

import "unsafe"

// Best is portable Go: there is no assembly for this processor.
var Best = NoVectors

func (Vectors) Shuffle(d, a, b, c *[32]uint32, m uint32, mode uint8) (valid uint32) {
	return shuffleLanes(d, a, b, c, m, mode)
}

func (Vectors) Match(a *[32]uint32, delta *[32]int32, mask uint32) bool {
	return matchLanes(a, delta, mask)
}

func (Vectors) MatchWide(a *[32]uint64, delta *[32]int32, mask uint32) bool {
	return matchWideLanes(a, delta, mask)
}

func (Vectors) LoadUnit(d *[32]uint32, base unsafe.Pointer, m uint32)  { loadUnitLanes(d, base, m) }
func (Vectors) StoreUnit(s *[32]uint32, base unsafe.Pointer, m uint32) { storeUnitLanes(s, base, m) }

func (Vectors) Gather(d *[32]uint32, base unsafe.Pointer, delta *[32]int32, mask uint32) {
	gatherLanes(d, base, delta, mask)
}

func (Vectors) Scatter(s *[32]uint32, base unsafe.Pointer, delta *[32]int32, mask uint32) {
	scatterLanes(s, base, delta, mask)
}

func (Vectors) LoadQuads(unsafe.Pointer, *[4]uint32, unsafe.Pointer, *[32]int32) bool { return false }
func (Vectors) Written(*uint32, *[32]int32, *[32]uint32) bool                         { return false }

// Prefetch does nothing: Go has no instruction for it here.
func Prefetch(at, bytes uintptr) {}

// Nothing of this runs: there are no vectors to run it with.

const unreachable = "simd: vector instructions on a processor that has none"

func (Vectors) Run(*Run) { panic(unreachable) }
