package pool

import (
	"math"

	"warpbook/ops/ladder"
)

// windows calls f for every element of every window, in the order of memory, with the
// window's output. Several goroutines call f, one for all elements of a window.
func (o Options) windows(stop ladder.Stop, s ladder.Size, f func(output, element int)) {
	oh, ow := o.places(s[1]), o.places(s[2])
	stop.ParallelBy(max(1, ladder.Piece/max(1, ow*o.Window*o.Window)), s[0]*oh, func(from, to int) {
		for i := from; i < to; i++ {
			plane, row := i/oh, i%oh
			for column := range ow {
				for r := row*o.Stride - o.Padding; r < row*o.Stride-o.Padding+o.Window; r++ {
					for c := column*o.Stride - o.Padding; c < column*o.Stride-o.Padding+o.Window; c++ {
						if r >= 0 && r < s[1] && c >= 0 && c < s[2] {
							f(i*ow+column, (plane*s[1]+r)*s[2]+c)
						}
					}
				}
			}
		}
	})
}

// maxima are the largest elements, of equal ones the first, and the first NaN.
func (o Options) maxima(stop ladder.Stop, s ladder.Size, inputs []ladder.Values) []ladder.Expected {
	x := inputs[0].([]float32)
	y, index := make([]float32, o.outputs(s)), make([]int32, o.outputs(s))
	for i := range index {
		index[i] = -1
	}
	o.windows(stop, s, func(output, element int) {
		v, best := x[element], y[output]
		if index[output] < 0 || v > best || v != v && best == best {
			y[output], index[output] = v, int32(element%(s[1]*s[2]))
		}
	})
	return []ladder.Expected{{Exact: y}, {Exact: index}}
}

// means are sums in float64, divided.
func (o Options) means(stop ladder.Stop, s ladder.Size, inputs []ladder.Values) []ladder.Expected {
	x := inputs[0].([]float32)
	e := ladder.Expected{Value: make([]float64, o.outputs(s)), Magnitude: make([]float64, o.outputs(s))}
	counts := make([]float64, len(e.Value))
	o.windows(stop, s, func(output, element int) {
		v := float64(x[element])
		e.Value[output] += v
		counts[output]++
		if v-v == 0 {
			e.Magnitude[output] += math.Abs(v)
		}
	})
	for i, count := range counts {
		if o.CountPadding {
			count = float64(o.Window * o.Window)
		}
		e.Value[i] /= count
		e.Magnitude[i] /= count
	}
	return []ladder.Expected{e}
}
