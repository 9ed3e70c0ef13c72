package sort

import (
	"math"
	"math/rand/v2"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Mistakes is Pairs with sorts that lose the order of equal keys, or values. Their keys are
// sorted, so that a sort without values would not show it.
var Mistakes = mistakesOf(Pairs)

func mistakesOf(o *ladder.Operator) *ladder.Operator {
	m := *o
	m.Name, m.Module, m.Peers = "sort_mistakes", "mistakes", nil
	m.Data = []ladder.DataSet{withPlaces(allLargest)}
	m.Cases = nil
	for _, n := range []int{0, 1, 2, 8, 9, 255, 257, 2048, 2049} {
		m.Cases = append(m.Cases, ladder.Case{Size: ladder.Size{n}})
	}
	l := layout{gpu.Uint32, true}
	m.Variants = []ladder.Variant{
		{Name: "mistake_turn_as_rank", Adds: "the last pass numbers equal digits by atomicAdd, in the order in which threads arrive", Source: "ours", Plan: l.lastByTurns, Expect: from(radixTile/256 + 1)},
		{Name: "mistake_later_first", Adds: "a merge takes the later of two equal keys first: <= in place of <", Source: "ours", Plan: l.oneTile, Refuses: tooLong, Expect: from(2)},
		{Name: "mistake_sentinel", Adds: "a run that has ended stands for the largest key: real keys of that value lose their values", Source: "ours", Plan: l.oneTile, Refuses: tooLong, Expect: from(2)},
	}
	return &m
}

// allLargest is data on which every mistake shows, whatever the seed: all keys are equal,
// and the one that a sort might use as a padding.
var allLargest = ladder.DataSet{Name: "all largest", Text: "all the largest uint32",
	Make: func(stop ladder.Stop, tensors []ladder.Tensor, _ *rand.Rand) []ladder.Values {
		keys := make([]uint32, tensors[0].Len)
		stop.Pieces(len(keys), func(from, to int) {
			for i := from; i < to; i++ {
				keys[i] = math.MaxUint32
			}
		})
		return []ladder.Values{keys}
	}}

// from expects wrong values of so many pairs or more. Fewer are too few for the mistake.
func from(n int) func(ladder.Size) string {
	return func(s ladder.Size) string {
		if s[0] < n {
			return ""
		}
		return ladder.CheckExact
	}
}

// lastByTurns is a sort by digits of 4 bits whose last pass has another entry.
func (l layout) lastByTurns(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
	p := l.digits(4)(entry, s, info)
	if len(p.Steps) > 0 {
		p.Steps[len(p.Steps)-1].Entry = entry + "_4"
	}
	return p
}
