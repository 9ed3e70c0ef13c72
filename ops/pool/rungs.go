package pool

import (
	"fmt"
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

func (o Options) variants(average bool) (all []ladder.Variant) {
	name := "maxpool"
	if average {
		name = "avgpool"
	}
	for _, v := range []ladder.Variant{
		{Name: "element", Adds: "one thread for each output, an if for each element of its window", Plan: o.plan(average, o.outputs, 0)},
		{Name: "clipped", Adds: "the window is clipped to the plane first: no if for an element", Plan: o.plan(average, o.outputs, 0)},
		{Name: "shared", Adds: "a block's part of the plane in shared memory: an element of several windows is loaded once", Plan: o.plan(average, o.tiles, 4*o.tile()), Refuses: o.tileLimit},
		{Name: "rows", Adds: "without shared memory: four outputs per thread, each row pooled across once for all of them", Plan: o.plan(average, func(s ladder.Size) int {
			return s[0] * ladder.CeilDiv(o.places(s[1]), outputsDown) * o.places(s[2])
		}, 0)},
		{Name: "vectors", Adds: "windows of 3 in steps of 2: each thread has four neighbouring outputs, loads and stores of 16 bytes", Plan: o.plan(average, func(s ladder.Size) int {
			return ladder.CeilDiv(o.outputs(s), outputsAcross)
		}, 0)},
		{Name: "pairs", Adds: "each thread has two neighbouring outputs in two rows: five rows pooled across once, the element before a vector from the lane before", Plan: o.plan(average, func(s ladder.Size) int {
			return s[0] * ladder.CeilDiv(o.places(s[1]), 2) * ladder.CeilDiv(o.places(s[2]), 2)
		}, 0)},
	} {
		v.Name, v.Source = name+"_"+v.Name, "ours"
		all = append(all, v)
	}
	return all
}

func mistakesOf(m *ladder.Operator) *ladder.Operator {
	o := *m
	o.Name, o.Module, o.Peers, o.Parameters, o.Remake = "maxpool_mistakes", "mistakes", nil, nil, nil
	o.Data = []ladder.DataSet{negative, ladder.NormalData}
	o.Cases = []ladder.Case{{Size: ladder.Size{1, 4, 4}}, {Size: ladder.Size{3, 9, 40}}}
	fails := func(ladder.Size) string { return ladder.CheckExact }
	plan := usual.plan(false, usual.outputs, 0)
	o.Variants = []ladder.Variant{
		{Name: "mistake_zero_padding", Adds: "padding counts as 0, above a window of negative numbers", Source: "ours", Plan: plan, Expect: fails, Refuses: small},
		{Name: "mistake_fmaxf", Adds: "fmaxf: a NaN in the window is lost", Source: "ours", Plan: plan, Expect: fails, Refuses: small},
	}
	return &o
}

// small refuses planes in which no window has both padding and numbers, or no NaN.
func small(s ladder.Size) error {
	if s[0] < 1 || s[1] < 4 || s[2] < 4 {
		return fmt.Errorf("%w: planes of %d x %d: expected 4 x 4 or more, in which a window has padding and one NaN", gpu.ErrUnsupported, s[1], s[2])
	}
	return nil
}
