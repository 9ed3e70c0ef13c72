package ops

import (
	"math"
	"slices"
	"strings"
)

// The checks that a result can fail, as Variant.Expect and the tables name
// them. A fault of the device is "fault:" and its kind: "fault:out of bounds".
const (
	CheckBound     = "bound"     // further from the reference than rounding can bring it
	CheckTolerance = "tolerance" // further from it than 1e-3 of the sum of |terms|
	CheckNaN       = "nan"       // NaN or Inf where the reference has none, or the reverse
	CheckUnwritten = "unwritten" // an output still holds what was there before the run
	CheckBeyond    = "beyond"    // something was written between the rows of an output
	CheckInput     = "input"     // an input was changed
	CheckOrder     = "order"     // not the bits of a float32 CPU sum in the same order
	CheckLength    = "length"    // not as many outputs as the reference has
	checkFault     = "fault:"

	// CheckUndefined begins what may fail or not, where the emulator reports a
	// fault and a GPU goes on: the checks that may fail follow.
	CheckUndefined = "undefined: "
)

// Tolerance is the error that no result may exceed, as a share of the sum of
// the absolute values of its terms.
const Tolerance = 1e-3

// poison fills outputs and scratch before a run: a quiet NaN with a payload
// that no arithmetic produces.
var poison = math.Float32frombits(0x7fc0_5eed)

// Bound is the largest error that rounding can cause, as a share of the sum of
// |terms|, when at most depth additions that round lie between a term and the
// result: each multiplies by 1+d with |d| <= u = 2^-24, and the product of
// depth such factors is within depth*u / (1 - depth*u) of 1 (Higham, Accuracy
// and Stability, lemma 3.1). So it is depth * 2^-24 to first order, and +Inf
// where depth * 2^-24 reaches 1 and nothing can be said.
func Bound(depth int) float64 {
	e := float64(depth) * 0x1p-24
	if e >= 1 {
		return math.Inf(1)
	}
	return e / (1 - e)
}

// bound is Bound of a plan, with the error of rounding factors and outputs.
func (p Plan) bound() float64 { return Bound(p.Depth)*(1+p.Round) + p.Round }

// comparison is what is known of one run's outputs: the element that is worst
// and the checks that failed anywhere.
type comparison struct {
	Output, Index int
	Got           float32
	Want          float64
	Error         float64 // share of the sum of |terms|
	Bound         float64 // share of it that rounding can cause
	Failed        []string
	tolerance     float64
	flushed       float64 // that atomics may lose besides, in absolute terms
}

// smallestNormal bounds what is lost when a subnormal float32 becomes 0. An
// atomic addition in global memory may lose that twice: of the number that it
// adds and of the sum.
const smallestNormal = 0x1p-126

// compare holds the outputs of a plan's run against the reference.
func compare(stop Stop, outputs [][]float32, expected []Expected, p Plan) comparison {
	c := comparison{Bound: p.bound(), tolerance: Tolerance + p.Round, flushed: 2 * float64(p.Atomics) * smallestNormal}
	worst := -1.0
	for i, out := range outputs {
		e := expected[i]
		if len(out) != len(e.Value) {
			c.fail(CheckLength)
			continue
		}
		stop.pieces(len(out), func(from, to int) {
			for j := from; j < to; j++ {
				share, failed := c.judge(out[j], e.Value[j], e.Magnitude[j])
				for _, name := range failed {
					c.fail(name)
				}
				if share > worst {
					worst = share
					c.Output, c.Index, c.Got, c.Want, c.Error = i, j, out[j], e.Value[j], share
				}
			}
		})
	}
	return c
}

// judge holds one number against its reference and returns its error as a
// share of the magnitude (+Inf if it has none) and the checks that it fails.
//
// A reference that is NaN or infinite demands the same of the number, except
// that finite terms which overflow against an infinity may make it NaN. Where
// the magnitude itself is beyond float32, some order of summation overflows:
// then a number that is not finite passes.
func (c *comparison) judge(got float32, want, magnitude float64) (share float64, failed []string) {
	g := float64(got)
	overflows := magnitude > math.MaxFloat32
	untouched := math.Float32bits(got) == math.Float32bits(poison)
	switch {
	case magnitude == gap && untouched:
		return 0, nil
	case magnitude == gap:
		return math.Inf(1), []string{CheckBeyond}
	case untouched:
		return math.Inf(1), []string{CheckUnwritten}
	case want-want != 0: // NaN or Inf
		if g == want || math.IsNaN(g) && (math.IsNaN(want) || overflows) {
			return 0, nil
		}
		return math.Inf(1), []string{CheckNaN}
	case g-g != 0:
		if overflows {
			return 0, nil
		}
		return math.Inf(1), []string{CheckNaN}
	case g == want:
		return 0, nil
	}
	share = max(0, math.Abs(g-want)-c.flushed)
	if share > 0 {
		share /= magnitude // +Inf where all terms are 0
	}
	if !(share <= c.Bound) {
		failed = append(failed, CheckBound)
	}
	if !(share <= c.tolerance) {
		failed = append(failed, CheckTolerance)
	}
	return share, failed
}

// fail notes a failed check once.
func (c *comparison) fail(name string) {
	for _, f := range c.Failed {
		if f == name {
			return
		}
	}
	c.Failed = append(c.Failed, name)
}

// sameBits reports whether two slices hold the same float32 bit patterns; all
// NaN count as one, because their payloads depend on the device.
func sameBits(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	for i, v := range a {
		if math.Float32bits(v) != math.Float32bits(b[i]) && !(v != v && b[i] != b[i]) {
			return false
		}
	}
	return true
}

// The four verdicts of a correctness row.
const (
	Pass         = "PASS"
	Fail         = "FAIL"
	FailExpected = "FAIL (expected)"
	PassExpected = "PASS (failure expected)"
)

// verdict weighs the failed checks against the one that was expected to fail,
// "" for none, or those that may fail.
func verdict(failed []string, expect string) string {
	may, undefined := strings.CutPrefix(expect, CheckUndefined)
	switch {
	case len(failed) == 0 && (expect == "" || undefined):
		return Pass
	case undefined && !slices.ContainsFunc(failed, func(f string) bool { return !slices.Contains(strings.Split(may, ", "), f) }):
		return FailExpected
	case len(failed) == 0:
		return PassExpected
	}
	for _, name := range failed {
		if name == expect {
			return FailExpected
		}
	}
	return Fail
}
