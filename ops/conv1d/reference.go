package conv1d

import (
	"math"

	"warpbook/ops/ladder"
)

// reference computes the sums in float64, tap by tap. Elements outside x are no terms.
func (o Options) reference(stop ladder.Stop, s ladder.Size, inputs []ladder.Values) []ladder.Expected {
	x, mask := inputs[0].([]float32), inputs[1].([]float32)
	before, _ := o.padding(s[1])
	e := ladder.Expected{Value: make([]float64, o.outputs(s)), Magnitude: make([]float64, o.outputs(s))}
	stop.ParallelBy(max(1, ladder.Piece/len(mask)), len(e.Value), func(from, to int) {
		for i := from; i < to; i++ {
			for j := range mask {
				at := i*o.Stride + j*o.Dilation - before
				if at < 0 || at >= len(x) {
					continue
				}
				tap := float64(mask[j])
				if o.Flip {
					tap = float64(mask[len(mask)-1-j])
				}
				term := tap * float64(x[at])
				e.Value[i] += term
				if term-term == 0 {
					e.Magnitude[i] += math.Abs(term)
				}
			}
		}
	})
	return []ladder.Expected{e}
}
