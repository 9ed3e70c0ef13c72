package ladder

import (
	"math"
	"slices"
	"sync/atomic"

	"warpbook/gpu"
)

// Judge decides whether an output is right.
type Judge struct {
	// Note explains error and bound below a table.
	Note string

	// OfTerms says that the error is a share of the sum of |terms|. Else it has the unit
	// that Note names.
	OfTerms bool

	// Compare compares the output of a run, of the length of want, with the
	// reference. It names the worst element and every failed check. If no check
	// failed, a table shows the error.
	Compare func(stop Stop, got Values, want Expected, p Plan) Comparison
}

// judge is that of the tensor, or else the one that its reference asks for.
func (t Tensor) judge(want Expected) Judge {
	switch {
	case t.Judge.Compare != nil:
		return t.Judge
	case want.Exact != nil:
		return Exactly
	}
	return RoundedSum
}

// OfTerms reports whether the error of the tensor's result is a share of the sum of |terms|.
func (t Tensor) OfTerms(want Expected) bool { return t.judge(want).OfTerms }

// RoundedSum allows the error that rounding can cause in a sum of the plan's depth,
// and at most Tolerance of the sum of |terms|. It is the judge of floats whose
// reference has magnitudes.
var RoundedSum = Judge{
	OfTerms: true,
	Note: "error and bound are shares of the sum of |terms|; the bound is that of rounding, " +
		"d u / (1 - d u) for a depth of d additions and u = 2^-24, and at most 1e-3, to which a rung that rounds its factors " +
		"(float16, bfloat16, TF32) adds what that costs; where 1e-3 is the smaller one, the float32 bits of a known order of additions are checked too",
	Compare: func(stop Stop, got Values, want Expected, p Plan) Comparison {
		s, u := sums{bound: p.Bound(), tolerance: Tolerance + p.Round, flushed: 2 * float64(p.Atomics) * smallestNormal, largest: math.MaxFloat32}, 0x1p-24
		if _, double := got.([]float64); double {
			u = 0x1p-53
			s.bound, s.flushed, s.largest = bound(p.Depth, u)*(1+p.Round)+p.Round, 0, math.MaxFloat64
		}
		c := Comparison{Bound: min(s.bound, s.tolerance)}
		number, untouched := classOf(got).number(got), classOf(got).untouched(got, got)
		return worstOf(stop, c, got, func(i int) (float64, []string) {
			of := s
			if want.Terms != nil {
				of.bound = min(of.bound, bound(int(want.Terms[i]), u)*(1+p.Round)+p.Round)
			}
			return of.judge(number(i), untouched(i), want.Value[i], want.Magnitude[i])
		}, func(i int) (float64, string) { return want.Value[i], "" })
	},
}

// SumOfProducts is RoundedSum of terms that are products of float32: one below 2^-126 loses
// bits, too, less than an atomic that makes it 0.
var SumOfProducts = Judge{
	OfTerms: true,
	Note:    RoundedSum.Note,
	Compare: func(stop Stop, got Values, want Expected, p Plan) Comparison {
		p.Atomics++
		return RoundedSum.Compare(stop, got, want, p)
	},
}

// Exactly demands every element bit for bit; all NaN are one.
var Exactly = Judge{
	Note: "error is the number of elements that are wrong, of which none may be: every bit counts",
	Compare: func(stop Stop, got Values, want Expected, _ Plan) Comparison {
		class, c := classOf(got), Comparison{}
		var wrong atomic.Int64
		if class != classOf(want.Exact) {
			panic("ops: a reference of another type than the output")
		}
		same, untouched := class.same(got, want.Exact), class.untouched(got, want.Exact)
		c = worstOf(stop, c, got, func(i int) (float64, []string) {
			switch {
			case untouched(i): // first: a poison of NaN is the same as any NaN
				wrong.Add(1)
				return 1, []string{CheckUnwritten, CheckExact}
			case same(i):
				return 0, nil
			}
			wrong.Add(1)
			return 1, []string{CheckExact}
		}, func(i int) (float64, string) { return class.number(want.Exact)(i), class.text(want.Exact, i) })
		c.Error = float64(wrong.Load())
		return c
	},
}

// ULP allows so many units in the last place of a float32 between each element and
// the reference's value in float64.
func ULP(most float64) Judge { return ULPOf(gpu.Float32, most) }

// ULPOf is ULP for float16, bfloat16 or float32. Where the reference has magnitudes, a
// unit is larger by the plan's Round of the magnitude: what the arithmetic of a rung
// may lose before its result is rounded.
func ULPOf(t gpu.Type, most float64) Judge {
	return Judge{
		Note: "error and bound are units in the last place of the reference, as " + t.String() + " has it; " +
			"a rung whose arithmetic may lose a share of its operands has units that are larger by it",
		Compare: func(stop Stop, got Values, want Expected, p Plan) Comparison {
			number, untouched := classOf(got).number(got), classOf(got).untouched(got, got)
			return worstOf(stop, Comparison{Bound: most}, got, func(i int) (float64, []string) {
				g, w := number(i), want.Value[i]
				overflows := math.IsInf(rounded(t, w), 0)
				switch {
				case untouched(i):
					return math.Inf(1), []string{CheckUnwritten}
				case w != w && g != g, g == w, overflows && g == rounded(t, w):
					return 0, nil
				case g-g != 0 || w != w:
					return math.Inf(1), []string{CheckNaN}
				}
				one := LastPlace(t, w)
				if want.Magnitude != nil {
					one += p.Round * want.Magnitude[i]
				}
				if ulps := math.Abs(g-w) / one; !(ulps <= most) {
					return ulps, []string{CheckULP}
				} else {
					return ulps, nil
				}
			}, func(i int) (float64, string) { return want.Value[i], "" })
		},
	}
}

// LastPlace is the distance from a number to its neighbour in float16, bfloat16 or
// float32.
func LastPlace(t gpu.Type, v float64) float64 {
	fraction, bias := 23, 127
	if n, ok := narrows[t]; ok {
		fraction, bias = n.fraction, n.bias
	}
	_, exponent := math.Frexp(v)
	if v == 0 {
		exponent = math.MinInt16
	}
	return math.Ldexp(1, max(exponent-1, 1-bias)-fraction)
}

// rounded is the number that a type of floats has for v.
func rounded(t gpu.Type, v float64) float64 {
	if n, ok := narrows[t]; ok {
		return float64(n.widen(n.round(float32(v))))
	}
	return float64(float32(v))
}

// AnyOrder demands the elements of the reference in whatever order.
var AnyOrder = Judge{
	Note: "error is the number of elements that are missing or too many; they may have any order",
	Compare: func(stop Stop, got Values, want Expected, p Plan) Comparison {
		sorted := []Values{Clone(got), Clone(want.Exact)}
		for _, v := range sorted {
			classOf(v).sort(v)
		}
		c := Exactly.Compare(stop, sorted[0], Expected{Exact: sorted[1]}, p)
		if slices.Contains(c.Failed, CheckExact) {
			c.Failed = []string{CheckElements}
		}
		return c
	},
}

// CountOnly demands nothing of the elements: their number alone is compared.
var CountOnly = Judge{
	Note:    "only the number of elements is compared",
	Compare: func(Stop, Values, Expected, Plan) Comparison { return Comparison{} },
}

// worstOf judges elements one by one by their error and the checks that they fail, and
// keeps the first of the worst with its expected value, the first that fails, and how many
// do. Several goroutines call judge.
func worstOf(stop Stop, c Comparison, got Values, judge func(i int) (float64, []string), want func(i int) (float64, string)) Comparison {
	type part struct {
		worst  float64
		at     int
		failed Comparison // with the first and the number of wrong elements
	}
	class := classOf(got)
	parts := make([]part, CeilDiv(class.length(got), Piece))
	for i := range parts {
		parts[i].worst = -1 // also where an interrupt leaves a part out
	}
	stop.Parallel(class.length(got), func(from, to int) {
		p := part{worst: -1}
		for i := from; i < to; i++ {
			failure, failed := judge(i)
			if len(failed) > 0 {
				p.failed.wrong(i, 1)
			}
			for _, name := range failed {
				p.failed.Fail(name)
			}
			if failure > p.worst {
				p.worst, p.at = failure, i
			}
		}
		parts[from/Piece] = p
	})
	worst, at := -1.0, 0
	for _, p := range parts {
		for _, name := range p.failed.Failed {
			c.Fail(name)
		}
		c.wrong(p.failed.First, p.failed.Wrong)
		if p.worst > worst {
			worst, at = p.worst, p.at
		}
	}
	c.Of = class.length(got)
	if worst >= 0 {
		c.Index, c.Got, c.GotText, c.Error = at, class.number(got)(at), class.text(got, at), worst
		c.Want, c.WantText = want(at)
	}
	return c
}

// sums are the rules for numbers that are sums.
type sums struct {
	bound, tolerance float64 // shares of the sum of |terms|
	flushed          float64 // that atomics may lose besides, in absolute terms
	largest          float64 // finite number of the type
}

// smallestNormal bounds the loss when a subnormal float32 becomes 0. An atomic
// addition in global memory may lose that twice: of the number that it adds and of
// the sum.
const smallestNormal = 0x1p-126

// judge holds one number against its reference and returns its error as a
// share of the magnitude (+Inf if it has none) and the checks that it fails.
//
// A reference that is NaN or infinite demands the same of the number, except
// that finite terms which overflow against an infinity may make it NaN. Where
// the magnitude itself is beyond the type, some order of summation overflows:
// then a number that is not finite passes.
func (s sums) judge(got float64, untouched bool, want, magnitude float64) (share float64, failed []string) {
	overflows := magnitude > s.largest
	switch {
	case magnitude == Gap && untouched:
		return 0, nil
	case magnitude == Gap:
		return math.Inf(1), []string{CheckBeyond}
	case untouched:
		return math.Inf(1), []string{CheckUnwritten}
	case want-want != 0: // NaN or Inf
		if got == want || math.IsNaN(got) && (math.IsNaN(want) || overflows) {
			return 0, nil
		}
		return math.Inf(1), []string{CheckNaN}
	case got-got != 0:
		if overflows {
			return 0, nil
		}
		return math.Inf(1), []string{CheckNaN}
	case got == want:
		return 0, nil
	}
	share = max(0, math.Abs(got-want)-s.flushed)
	if share > 0 {
		share /= magnitude // +Inf where all terms are 0
	}
	if !(share <= s.bound) {
		failed = append(failed, CheckBound)
	}
	if !(share <= s.tolerance) {
		failed = append(failed, CheckTolerance)
	}
	return share, failed
}
