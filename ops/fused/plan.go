package fused

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// launch runs an entry once, with a thread for so many elements.
func launch(scale float32, threads, elements, depth int, round float64) ladder.Planner {
	return func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
		n := s[0] * s[1]
		if n == 0 {
			return ladder.Plan{}
		}
		return ladder.Plan{Depth: depth, Round: round, Steps: []ladder.Step{{
			Entry: entry, Grid: gpu.Dim{X: ladder.CeilDiv(n, threads*elements)}, Block: gpu.Dim{X: threads},
			Args: []any{"x", "bias", "mask", "add", "y", scale, uint32(n), uint32(s[1])},
		}}}
	}
}

// fourLaunches runs the steps of the formula one by one, in memory of its own.
func fourLaunches(scale float32) ladder.Planner {
	return func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
		n := s[0] * s[1]
		if n == 0 {
			return ladder.Plan{}
		}
		p := ladder.Plan{Depth: 3}
		t := p.NewScratch("t", n)
		for i, args := range [][]any{{"x", "bias", t, uint32(n), uint32(s[1])}, {"mask", t, uint32(n)}, {scale, t, uint32(n)}, {t, "add", "y", uint32(n)}} {
			name := entry
			if i > 0 {
				name = fmt.Sprintf("%s_%d", entry, i+1)
			}
			p.Steps = append(p.Steps, ladder.Step{Entry: name, Grid: gpu.Dim{X: ladder.CeilDiv(n, 1024)}, Block: gpu.Dim{X: 1024}, Args: args})
		}
		return p
	}
}
