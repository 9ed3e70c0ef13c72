package ladder

import "math"

// Elementwise judges each element of a float output by a rule, which returns its error
// and the check that it fails, "" for none. An element that was not written fails
// whatever the rule says. Several goroutines call the rule. A table shows the largest
// error beside the bound.
func Elementwise(note string, bound float64, rule func(got, want, magnitude float64, p Plan) (float64, string)) Judge {
	return Judge{Note: note, Compare: func(stop Stop, got Values, want Expected, p Plan) Comparison {
		number, untouched := classOf(got).number(got), classOf(got).untouched(got, got)
		return worstOf(stop, Comparison{Bound: bound}, got, func(i int) (float64, []string) {
			if untouched(i) {
				return math.Inf(1), []string{CheckUnwritten}
			}
			share, failed := rule(number(i), want.Value[i], want.Magnitude[i], p)
			if failed == "" {
				return share, nil
			}
			return share, []string{failed}
		}, func(i int) (float64, string) { return want.Value[i], "" })
	}}
}
