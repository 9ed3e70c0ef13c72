package conv2d

import (
	"math"
	"math/rand/v2"

	"warpbook/ops/ladder"
)

// each calls f for every output with the indices of its terms in w and x, and with its own
// and its channel's. Elements outside x are no terms. Several goroutines call f.
func (o Options) each(stop ladder.Stop, s ladder.Size, f func(y, k int, terms [][2]int)) {
	d, p := o.of(s), o.shape(s)
	products := d.od * d.oh * d.ow * int(p.C) * d.taps() // of an image's channel
	stop.ParallelBy(max(1, ladder.Piece/max(1, products)), d.n*d.k, func(from, to int) {
		var terms [][2]int
		for i := from; i < to; i++ {
			n, k := i/d.k, i%d.k
			for place := range d.od * d.oh * d.ow {
				od, oh, ow := place/(d.oh*d.ow), place/d.ow%d.oh, place%d.ow
				terms = terms[:0]
				for c := range int(p.C) {
					for tap := range d.taps() {
						t, r, q := tap/(d.r*d.s), tap/d.s%d.r, tap%d.s
						a, b, e := od*o.Stride+t*o.Dilation-int(p.DepthPadding), oh*o.Stride+r*o.Dilation-o.Padding, ow*o.Stride+q*o.Dilation-o.Padding
						if a < 0 || a >= d.d || b < 0 || b >= d.h || e < 0 || e >= d.w {
							continue
						}
						channel := k/int(p.K)*int(p.C) + c
						terms = append(terms, [2]int{
							k*int(p.WK) + c*int(p.WC) + t*int(p.WT) + r*int(p.WR) + q*int(p.WS),
							n*int(p.XN) + channel*int(p.XC) + a*int(p.XD) + b*int(p.XH) + e*int(p.XW),
						})
					}
				}
				f(n*int(p.YN)+k*int(p.YK)+od*int(p.YD)+oh*int(p.YH)+ow*int(p.YW), k, terms)
			}
		}
	})
}

// reference computes the sums in float64.
func (o Options) reference(stop ladder.Stop, s ladder.Size, inputs []ladder.Values) []ladder.Expected {
	x, w := inputs[0].([]float32), inputs[1].([]float32)
	n := o.of(s).elementsOfY()
	e := ladder.Expected{Value: make([]float64, n), Magnitude: make([]float64, n)}
	o.each(stop, s, func(y, k int, terms [][2]int) {
		add := func(v float64) {
			e.Value[y] += v
			if v-v == 0 {
				e.Magnitude[y] += math.Abs(v)
			}
		}
		for _, t := range terms {
			add(float64(w[t[0]]) * float64(x[t[1]]))
		}
		if o.Bias {
			add(float64(inputs[2].([]float32)[k]))
		}
		if o.ReLU && e.Value[y] < 0 {
			e.Value[y] = 0
		}
	})
	return []ladder.Expected{e}
}

// dataSets are uniform numbers, and an x with NaN and infinities under finite filters.
var dataSets = []ladder.DataSet{ladder.UniformData, special}

var special = ladder.DataSet{Name: "special", Text: ladder.SpecialData.Text + "; filters and biases uniform",
	Make: func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
		return append(ladder.SpecialData.Make(stop, tensors[:1], random), ladder.UniformData.Make(stop, tensors[1:], random)...)
	}}

// cases bracket tiles of 64 places and 64 channels, steps of 16 and 32 of the inner
// dimension, tiles of 16 x 16 outputs of 8 channels, vectors of channels, and views that
// start anywhere. Sizes that the options do not take are left out.
func (o Options) cases() (all []ladder.Case) {
	some := []ladder.Case{
		{Size: ladder.Size{1, 1, 1, 1, 1, 1, 1}}, {Size: ladder.Size{1, 1, 3, 3, 1, 3, 3}}, {Size: ladder.Size{2, 3, 5, 7, 4, 3, 3}}, {Size: ladder.Size{1, 2, 7, 9, 65, 3, 3}},
		{Size: ladder.Size{1, 4, 8, 8, 8, 3, 3}}, {Size: ladder.Size{1, 2, 16, 17, 9, 2, 2}}, {Size: ladder.Size{1, 1, 15, 33, 8, 5, 3}},
		{Size: ladder.Size{3, 16, 4, 5, 6, 1, 1}}, {Size: ladder.Size{1, 8, 6, 11, 64, 1, 3}}, {Size: ladder.Size{2, 17, 3, 3, 3, 1, 1}}, {Size: ladder.Size{1, 40, 5, 4, 10, 3, 1}},
		{Size: ladder.Size{2, 8, 7, 6, 12, 3, 3}, Start: 1}, {Size: ladder.Size{2, 4, 9, 6, 5, 3, 3}, Data: "special"},
		{Size: ladder.Size{2, 64, 14, 15, 80, 3, 3}, Long: true},
		{Size: ladder.Size{60, 8, 28, 28, 16, 3, 3}, OnGPU: true}, // the wider products of Hopper take fewer rounds
		{Size: ladder.Size{60, 8, 28, 28, 80, 3, 3}, OnGPU: true}, // and those of more than 64 channels
	}
	if o.Depth {
		some = []ladder.Case{
			{Size: ladder.Size{1, 1, 1, 1, 1, 1, 1, 1, 1}}, {Size: ladder.Size{1, 1, 1, 2, 2, 1, 3, 3, 3}}, {Size: ladder.Size{2, 3, 1, 3, 3, 4, 2, 1, 3}}, {Size: ladder.Size{1, 2, 1, 2, 4, 65, 1, 1, 3}},
			{Size: ladder.Size{1, 2, 2, 4, 5, 4, 2, 1, 2}, Start: 1}, {Size: ladder.Size{1, 3, 1, 3, 12, 33, 3, 1, 3}},
			{Size: ladder.Size{1, 2, 2, 4, 5, 34, 3, 1, 3}, Data: "special"}, // a NaN spreads in the rungs _depths, which refuse so many channels
			{Size: ladder.Size{2, 8, 16, 56, 56, 16, 1, 3, 3}, OnGPU: true},  // as the last of those above
		}
	}
	if o.Depth && o.NHWC {
		some = some[1:5] // and deepCases
	}
	for _, c := range some {
		if o.valid("conv2d", c.Size) == nil && (c.Data == "" || o.Type == 0) {
			all = append(all, c)
		}
	}
	return all
}
