package gelu

import (
	"math"
	"math/rand/v2"
	"warpbook/ops/ladder"
)

// everyHalf has the 65536 halves in turn.
var everyHalf = ladder.DataSet{Name: "every half", Text: "the 65536 halves in turn",
	Make: func(stop ladder.Stop, tensors []ladder.Tensor, _ *rand.Rand) []ladder.Values {
		x := tensors[0].Make().([]float32)
		stop.Pieces(len(x), func(from, to int) {
			for i := from; i < to; i++ {
				x[i] = half(uint16(i))
			}
		})
		return []ladder.Values{x}
	}}

// half is the number of the bits of a half.
func half(bits uint16) float32 {
	exponent, fraction := int(bits>>10&31), float64(bits&1023)
	switch {
	case exponent == 31 && fraction != 0:
		return float32(math.NaN())
	case exponent == 31:
		fraction = math.Inf(1)
	case exponent > 0:
		fraction += 1024
	}
	v := math.Ldexp(fraction, max(exponent, 1)-25)
	if bits>>15 != 0 {
		v = -v
	}
	return float32(v)
}

// cases bracket warps, blocks of 256 threads, vectors of 2 and 8, and have every half
// there is.
var cases = func() (all []ladder.Case) {
	for _, n := range []int{0, 1, 2, 3, 7, 8, 9, 63, 255, 256, 257, 2047, 2048, 2049, 10_007} {
		all = append(all, ladder.Case{Size: ladder.Size{n}})
	}
	for start := 1; start < 9; start++ {
		all = append(all, ladder.Case{Size: ladder.Size{1_003}, Start: start})
	}
	return append(all, ladder.Case{Size: ladder.Size{65_536}, Data: "every half"}, ladder.Case{Size: ladder.Size{5_003}, Data: "uniform"},
		ladder.Case{Size: ladder.Size{1 << 20}, Long: true})
}()
