//go:build !amd64

package simd

import "unsafe"

var Best = NoVectors

func (Vectors) Shuffle(d, a, b, c *[32]uint32, m uint32, mode uint8) (valid uint32) {
	return shuffleLanes(d, a, b, c, m, mode)
}

// None of these functions runs: there are no vector instructions.

const unreachable = "simd: vector instructions on a processor that has none"

func Prefetch(at, bytes uintptr)                                        { panic(unreachable) }
func (Vectors) Run(*Run)                                                { panic(unreachable) }
func (Vectors) Match(*[32]uint32, *[32]int32, uint32) bool              { panic(unreachable) }
func (Vectors) MatchWide(*[32]uint64, *[32]int32, uint32) bool          { panic(unreachable) }
func (Vectors) LoadUnit(*[32]uint32, unsafe.Pointer, uint32)            { panic(unreachable) }
func (Vectors) StoreUnit(*[32]uint32, unsafe.Pointer, uint32)           { panic(unreachable) }
func (Vectors) Gather(*[32]uint32, unsafe.Pointer, *[32]int32, uint32)  { panic(unreachable) }
func (Vectors) Scatter(*[32]uint32, unsafe.Pointer, *[32]int32, uint32) { panic(unreachable) }
func (Vectors) LoadQuads(unsafe.Pointer, *[4]uint32, unsafe.Pointer, *[32]int32) bool {
	panic(unreachable)
}
func (Vectors) HasAccess() bool { return false }
func Access(unsafe.Pointer, *[32]int32, unsafe.Pointer, unsafe.Pointer, *[4]uint32, uint32, Move) bool {
	panic(unreachable)
}
func (Vectors) Written(*uint32, *[32]int32, *[32]uint32) bool { panic(unreachable) }
