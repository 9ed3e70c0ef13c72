//go:build !amd64

package emu

import "unsafe"

var bestVectors = NoVectors

func (Vectors) shuffle(d, a, b, c *[32]uint32, m uint32, mode uint8) (valid uint32) {
	return shuffleLanes(d, a, b, c, m, mode)
}

// Nothing of this runs: there are no vectors to run it with.

const unreachable = "emu: vector instructions on a processor that has none"

func prefetch(at, bytes uintptr)                              { panic(unreachable) }
func (Vectors) run(*vectorRun)                                { panic(unreachable) }
func (Vectors) match(*[32]uint32, *pattern) bool              { panic(unreachable) }
func (Vectors) matchWide(*[32]uint64, *pattern) bool          { panic(unreachable) }
func (Vectors) loadUnit(*[32]uint32, unsafe.Pointer, uint32)  { panic(unreachable) }
func (Vectors) storeUnit(*[32]uint32, unsafe.Pointer, uint32) { panic(unreachable) }
func (Vectors) gather(*[32]uint32, unsafe.Pointer, *pattern)  { panic(unreachable) }
func (Vectors) scatter(*[32]uint32, unsafe.Pointer, *pattern) { panic(unreachable) }
func (Vectors) loadQuads(unsafe.Pointer, *[4]uint32, unsafe.Pointer, *[32]int32) bool {
	panic(unreachable)
}
func (Vectors) written(*pattern, *contents, uint64) bool { panic(unreachable) }
