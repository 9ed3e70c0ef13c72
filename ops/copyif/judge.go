package copyif

import (
	"fmt"
	"math"
	"slices"

	"warpbook/ops/ladder"
)

// ordered demands the elements in the order of the reference; of a plan with AnyOrder it
// demands the same elements. If y is shorter, it demands the first elements that fit, or
// that many of them.
var ordered = ladder.Judge{
	Note: "error is the number of elements that are wrong, of which none may be: every bit counts, and the order does where the rung keeps it",
	Compare: func(stop ladder.Stop, got ladder.Values, want ladder.Expected, p ladder.Plan) ladder.Comparison {
		if !p.AnyOrder {
			return ladder.Exactly.Compare(stop, got, want, p)
		}
		return anyOrder(stop, got.([]float32), want.Exact.([]float32), p)
	},
}

// anyOrder compares sums of hashes first: sorting 2^29 floats takes minutes.
func anyOrder(stop ladder.Stop, got, want []float32, p ladder.Plan) ladder.Comparison {
	if len(got) == len(want) && hash(stop, got) == hash(stop, want) {
		c := ladder.Comparison{}
		if len(got) > 0 {
			c.Got, c.Want = float64(got[0]), float64(got[0])
			c.GotText, c.WantText = fmt.Sprint(got[0]), fmt.Sprint(got[0])
		}
		return c
	}
	got, want = slices.Clone(got), slices.Clone(want)
	slices.Sort(got)
	slices.Sort(want)
	c := ladder.Exactly.Compare(stop, got, ladder.Expected{Exact: among(got, want)}, p)
	if i := slices.Index(c.Failed, ladder.CheckExact); i >= 0 {
		c.Failed[i] = ladder.CheckElements
	}
	return c
}

// hash does not depend on the order of the elements. Different elements have the same hash
// with a probability of 2^-64.
func hash(stop ladder.Stop, x []float32) (sum uint64) {
	stop.Pieces(len(x), func(from, to int) {
		for _, v := range x[from:to] {
			h := uint64(math.Float32bits(v)) + 0x9e3779b97f4a7c15
			h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
			h = (h ^ h>>27) * 0x94d049bb133111eb
			sum += h ^ h>>31
		}
	})
	return sum
}

// among is for each element of got the same one of want, each of these taken once, and
// the next larger where there is none. Both are sorted, and want is no shorter.
func among(got, want []float32) []float32 {
	found := make([]float32, len(got))
	next := 0
	for i, v := range got {
		for next < len(want)-(len(got)-i) && want[next] < v {
			next++
		}
		found[i] = want[next]
		next++
	}
	return found
}
