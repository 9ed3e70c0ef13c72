package softmax

import (
	"math"

	"warpbook/ops/ladder"
)

// form of a softmax.
type form int

const (
	plain form = iota
	logarithm
	masked
)

// reference computes the rows in float64. The magnitude of an element is the error
// that rounding can cause in it, in units of u = 2^-24, without the additions of the
// plan: as a share of the element, or of 1 for the logarithm.
//
// With d = m - x, the rungs compute e^-d as 2^(-d log2 e). The difference, log2 e and
// the product round once each, which moves the exponent by 3 u d; the power of two is
// within 4 u: (3 d + 4) u. A sum that is rescaled from one maximum to the next goes
// the same way in steps, whose d add to the whole one, because maxima only grow. The
// sum's own error is the mean of its terms': (3 w + 4) u with w the mean of d by the
// shares. Quotient and product round twice: 3 d + 3 w + 10. The factors of rescalings
// and the additions are the plan's Depth.
//
// The logarithm adds |error of the sum| / sum, 2 u log(sum) by logf, the rounding of
// d, and of two differences: d + 3 w + 6 + 3 log(sum) + |y|.
func reference(f form) func(ladder.Stop, ladder.Size, []ladder.Values) []ladder.Expected {
	return func(stop ladder.Stop, s ladder.Size, inputs []ladder.Values) []ladder.Expected {
		rows, columns := s[0], s[1]
		x := inputs[0].([]float32)
		want := ladder.Expected{Value: make([]float64, len(x)), Magnitude: make([]float64, len(x))}
		row := make([]float64, columns)
		for r := 0; r < rows && !stop.Now(); r++ {
			from, to := r*columns, (r+1)*columns
			for c, v := range x[from:to] {
				row[c] = float64(v)
				if f == masked && inputs[1].([]uint8)[from+c] == 0 {
					row[c] = math.Inf(-1)
				}
			}
			softmaxRow(f, row, want.Value[from:to], want.Magnitude[from:to])
		}
		return []ladder.Expected{want}
	}
}

// softmaxRow computes a row and the error that rounding can cause in each element.
func softmaxRow(f form, x, y, errors []float64) {
	maximum := math.Inf(-1)
	for _, v := range x {
		maximum = math.Max(maximum, v) // NaN stays
	}
	if f == masked && math.IsInf(maximum, -1) {
		clear(y)
		clear(errors)
		return
	}
	sum, weighted := 0.0, 0.0
	for i, v := range x {
		d := maximum - v
		y[i] = math.Exp(-d)
		sum += y[i]
		if y[i] > 0 {
			weighted += d * y[i]
		}
	}
	mean := weighted / sum
	for i, v := range x {
		d := maximum - v
		if f == logarithm {
			y[i] = -d - math.Log(sum)
			errors[i] = d + 3*mean + 6 + 3*math.Log(sum) + math.Abs(y[i])
		} else {
			y[i] /= sum
			errors[i] = 3*d + 3*mean + 10
		}
	}
}

// unit is the roundoff of float32.
const unit = 0x1p-24

// underflow bounds the error of subnormal exponentials, sums and outputs.
const underflow = 4 * 0x1p-149

// relative and absolute judge an element by the error that rounding can cause in it.
// The bound of a product of roundings is e^first - 1, which has the second order, too;
// from 1 on the element itself is below underflow.
var (
	relative = within("(3 d + 3 w + 10 + k) 2^-24 of it", func(want, first float64) float64 {
		return math.Abs(want)*math.Expm1(min(first, 1)) + underflow
	})
	absolute = within("(d + 3 w + 6 + 3 log(sum) + |y| + k) 2^-24", func(_, first float64) float64 {
		return first * (1 + 0x1p-10)
	})
)

// within allows an element the error that its magnitude and the plan's Depth make.
// Where the reference is NaN or infinite in float32, so must the element be.
func within(formula string, allowed func(want, first float64) float64) ladder.Judge {
	note := "error is a share of what rounding can cause in that element, " + formula +
		", where d is how far x is below the row's maximum, w the mean of d, and k the roundings of the sum; so the bound is 1"
	return ladder.Elementwise(note, 1, func(got, want, magnitude float64, p ladder.Plan) (float64, string) {
		switch {
		case math.IsNaN(want) || math.IsInf(float64(float32(want)), 0):
			if got == float64(float32(want)) || got != got && want != want {
				return 0, ""
			}
			return math.Inf(1), ladder.CheckNaN
		case got-got != 0:
			return math.Inf(1), ladder.CheckNaN
		}
		share := math.Abs(got-want) / allowed(want, unit*(magnitude+float64(p.Depth)))
		if !(share <= 1) {
			return share, ladder.CheckBound
		}
		return share, ""
	})
}
