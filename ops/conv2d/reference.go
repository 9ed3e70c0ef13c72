package conv2d

import (
	"math"

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
