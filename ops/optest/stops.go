package optest

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"warpbook/ops/ladder"
)

// Stops wants a long computation on the host to look at its Stop while it works, and to
// end soon after the look that stops it.
func Stops(t *testing.T, what string, compute func(stop ladder.Stop)) {
	t.Helper()
	var looks atomic.Int64
	compute(func() bool { looks.Add(1); return false })
	whole := looks.Swap(0)
	const last = 3
	compute(func() bool { return looks.Add(1) >= last })
	more := int64(8 * (runtime.GOMAXPROCS(0) + 1)) // workers, and the loops around
	if stopped := looks.Load(); whole < 20 || stopped > min(last+more, whole/2) {
		t.Errorf("%s: %d looks, %d when it is stopped at look %d", what, whole, stopped, last)
	}
}

// Host returns the function of the operator's rung that runs in compiled Go.
func Host(t *testing.T, o *ladder.Operator) func(stop ladder.Stop, size ladder.Size, inputs, outputs []ladder.Values) {
	t.Helper()
	i := slices.IndexFunc(o.Variants, func(v ladder.Variant) bool { return v.Host != nil })
	if i < 0 {
		t.Fatalf("%s: no variant of the host", o.Name)
	}
	return o.Variants[i].Host
}
