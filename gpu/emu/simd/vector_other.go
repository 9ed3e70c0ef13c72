//go:build !amd64 && !(js && simd128)

package simd

// Best is portable Go: there is no assembly for this processor.
var Best = NoVectors

func (Vectors) Shuffle(d, a, b, c *[32]uint32, m uint32, mode uint8) (valid uint32) {
	return shuffleLanes(d, a, b, c, m, mode)
}

// Prefetch does nothing: Go has no instruction for it here.
func Prefetch(at, bytes uintptr) {}

// Nothing of this runs: there are no vectors to run it with.

const unreachable = "simd: vector instructions on a processor that has none"

func (Vectors) Run(*Run) { panic(unreachable) }
