package optest

import (
	"fmt"
	"slices"
	"testing"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// explain sums rungs up by source line at a small case, on the emulator: the lines are those
// of its own source, and their sum equals its counters. In an ordinary run the seed chooses
// the rungs.
func explain(t *testing.T, o *ladder.Operator, seed uint64) {
	own := map[string]bool{}
	for _, module := range o.Modules() {
		own[module+".cu"] = true
	}
	some := *o
	some.Variants = nil
	for i, yes := range chosen(len(o.Variants), byLine, seed) {
		if yes {
			some.Variants = append(some.Variants, o.Variants[i])
		}
	}
	b := NewBench(t, Emulator(t), &some, 42, explained(o)...)
	counts, err := b.Count()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range counts.Rows {
		if row.Verdict != ladder.Pass {
			continue // a fault ends the counting
		}
		r, err := b.Explain(row.Name)
		if err != nil {
			t.Fatal(err)
		}
		var sum gpu.Counters
		for _, l := range r.Lines {
			sum.WarpInstructions += l.Warps
			sum.ThreadInstructions += l.Threads
			sum.DivergentBranches += l.Divergent
			if l.Line > 0 && l.Text == "" && own[l.File] {
				t.Errorf("%s: no text of %s:%d", row.Name, l.File, l.Line)
			}
		}
		if got, want := fmt.Sprint(sum.WarpInstructions, sum.ThreadInstructions, sum.DivergentBranches),
			fmt.Sprint(row.Total.WarpInstructions, row.Total.ThreadInstructions, row.Total.DivergentBranches); got != want {
			t.Errorf("%s: lines sum up to %s, counted %s", row.Name, got, want)
		}
	}
}

// explained is the size of the case with the median number of bytes of those that have
// any and are run anyway.
func explained(o *ladder.Operator) ladder.Size {
	var some []ladder.Size
	for _, c := range o.Cases {
		if !c.Long && !c.OnGPU && c.Profile == "" && !slices.Contains(c.Size, 0) {
			some = append(some, c.Size)
		}
	}
	if len(some) == 0 {
		return smallest(o)
	}
	slices.SortFunc(some, func(a, b ladder.Size) int { return int(o.Work(a).Bytes - o.Work(b).Bytes) })
	return some[len(some)/2]
}
