package bench

import (
	"errors"
	"strings"
	"warpbook/gpu"
	"warpbook/ops/results"
)

// Pair compares two rungs: the lines of their entries, what machine.json says of
// their machine code, and their verified counters.
func (b *Bench) Pair(left, right string) (*results.Pair, error) {
	source, err := b.operator.LinePairs(left, right)
	if err != nil {
		return nil, err
	}
	counts, err := b.Compare(left, right)
	if err != nil {
		return nil, err
	}
	p := &results.Pair{Source: source, Counts: counts}
	machine, err := b.operator.Machine(left, right)
	switch {
	case errors.Is(err, gpu.ErrNotFound):
		p.Note = strings.TrimPrefix(err.Error(), "ops: ")
	case err != nil:
		return nil, err
	default:
		p.SetMachine(machine)
	}
	return p, nil
}

// Compare is Count for a few rungs, shown side by side, below their times in b.Steps.
func (b *Bench) Compare(variants ...string) (*results.SideBySide, error) {
	counts, err := b.Count(variants...)
	if err != nil {
		return nil, err
	}
	return &results.SideBySide{Counts: counts, Steps: b.Steps}, nil
}
