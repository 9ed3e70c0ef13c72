package ladder

import (
	"math"
	"slices"
	"strings"

	"warpbook/kernel/leaf/record"
)

// The checks that a result can fail, as Variant.Expect and the tables name
// them. A fault of the device is "fault:" and its kind: "fault:out of bounds".
const (
	CheckBound     = "bound"     // further from the reference than rounding can bring it
	CheckTolerance = "tolerance" // further from it than 1e-3 of the sum of |terms|
	CheckNaN       = "nan"       // NaN or Inf where the reference has none, or the reverse
	CheckUnwritten = "unwritten" // an output still holds its contents from before the run
	CheckBeyond    = "beyond"    // something was written between the rows of an output
	CheckInput     = "input"     // an input was changed
	CheckOrder     = "order"     // not the bits of a float32 CPU sum in the same order
	CheckLength    = "length"    // not as many outputs as the reference has
	CheckCount     = "count"     // another number of results than the reference has
	CheckExact     = "exact"     // not the very value, where no rounding is allowed
	CheckULP       = "ulp"       // more units in the last place from the reference than allowed
	CheckElements  = "elements"  // not the same elements, in whatever order
	CheckFault     = "fault:"

	// CheckUndefined begins what may fail or not, where the emulator reports a
	// fault and a GPU goes on: the checks that may fail follow.
	CheckUndefined = "undefined: "
)

// Tolerance is the error that no result may exceed, as a share of the sum of
// the absolute values of its terms.
const Tolerance = 1e-3

// Poison fills outputs and scratch before a run: a quiet NaN with a payload
// that no arithmetic produces.
var Poison = math.Float32frombits(0x7fc0_5eed)

// Bound is the largest error that rounding can cause, as a share of the sum of
// |terms|, when at most depth additions that round lie between a term and the
// result: each multiplies by 1+d with |d| <= u = 2^-24, and the product of
// depth such factors is within depth*u / (1 - depth*u) of 1 (Higham, Accuracy
// and Stability, lemma 3.1). So it is depth * 2^-24 to first order, and +Inf
// where depth * 2^-24 reaches 1 and there is no bound.
func Bound(depth int) float64 { return bound(depth, 0x1p-24) }

// bound is Bound for a unit roundoff.
func bound(depth int, u float64) float64 {
	e := float64(depth) * u
	if e >= 1 {
		return math.Inf(1)
	}
	return e / (1 - e)
}

// Bound is Bound of the plan's additions, with the error of rounding factors and
// outputs.
func (p Plan) Bound() float64 { return Bound(p.Depth)*(1+p.Round) + p.Round }

// Comparison is the result of comparing one run's outputs: the worst element and all
// failed checks.
type Comparison struct {
	Output, Index int
	Got, Want     float64 // a number of more than 53 bits is rounded
	GotText       string  // the same, whole
	WantText      string
	Error         float64 // of that element, as the judge's note says
	Bound         float64 // the largest Error that is allowed
	Failed        []string
	First         int    // index of the first element of the output that fails a check
	Wrong, Of     int    // elements that fail, and all
	Note          string // of the judge
}

// wrong notes more elements that fail, of which first is the first. They come in order.
func (c *Comparison) wrong(first, more int) {
	if c.Wrong == 0 {
		c.First = first
	}
	c.Wrong += more
}

// Compare compares the outputs of a plan's run with the reference, each with the
// judge of its tensor. The output of a tensor with a Count has as many elements as
// the output of that name says. If the reference has more elements than the output
// has room for, the count is of all, and the judge receives the whole reference.
func Compare(stop Stop, tensors []Tensor, outputs []Values, expected []Expected, p Plan) Comparison {
	all := Comparison{}
	worst := -1.0
	for i, t := range tensors {
		got, want := outputs[i], expected[i]
		judge := t.judge(want)
		if t.Count != "" {
			n := counted(tensors, outputs, t.Count)
			if most := Length(got); n > most && n == want.Length() { // more than there is room for
				n = most
			} else if n < 0 || n > most {
				all.Fail(CheckCount)
				n = min(max(n, 0), most)
			}
			if want.Length() < Length(got) && !restUntouched(got, want.Length()) {
				all.Fail(CheckBeyond)
			}
			if n != min(want.Length(), Length(got)) {
				all.Fail(CheckCount)
				continue
			}
			got = classOf(got).cut(got, n)
		} else if Length(got) != want.Length() {
			all.Fail(CheckLength)
			continue
		}
		c := judge.Compare(stop, got, want, p)
		for _, name := range c.Failed {
			all.Fail(name)
		}
		if c.Error > worst {
			worst = c.Error
			failed := all.Failed
			all, all.Failed = c, failed
			all.Output, all.Note = i, judge.Note
		}
	}
	return all
}

// counted is the number of results by the output that counts them, -1 where there
// is none.
func counted(tensors []Tensor, outputs []Values, name string) int {
	for i, t := range tensors {
		if t.Name == name && Length(outputs[i]) > 0 {
			return int(classOf(outputs[i]).number(outputs[i])(0))
		}
	}
	return -1
}

// restUntouched reports whether the elements from the n-th on are as they were
// before the run.
func restUntouched(v Values, n int) bool {
	c := classOf(v)
	untouched := c.untouched(v, c.complement(c.poisoned(c.length(v))))
	for i := n; i < c.length(v); i++ {
		if !untouched(i) {
			return false
		}
	}
	return true
}

// Fail notes a failed check once.
func (c *Comparison) Fail(name string) {
	if !slices.Contains(c.Failed, name) {
		c.Failed = append(c.Failed, name)
	}
}

// The four verdicts of a correctness row.
const (
	Pass         = record.Pass
	Fail         = record.Fail
	FailExpected = record.FailExpected
	PassExpected = record.PassUnexpected
)

// or stands between checks of which one must fail.
const or = " or "

// Either is an expectation for a rung with several mistakes: one of the checks must fail.
// The data decides which.
func Either(checks ...string) string { return strings.Join(checks, or) }

// Verdict weighs the failed checks against the one that was expected to fail, "" for none,
// against those of Either, or against those that may fail.
func Verdict(failed []string, expect string) string {
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
		if slices.Contains(strings.Split(expect, or), name) {
			return FailExpected
		}
	}
	return Fail
}
