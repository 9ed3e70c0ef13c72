// Package copyif copies the elements of a vector that are above 0 to the front of another
// vector: the ladder of note 000, its mistakes, and rungs of our own that keep the order or
// not. Positive runs it on buffers. Package ops lists the operators. It must never import
// ops/bench.
package copyif

import (
	"fmt"
	"math"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

//go:generate go run ../../gpu/nvrtc -arch sm_75 -release 12.0 copyif.cu mistakes.cu
//go:generate go run ../../gpu/nvrtc -arch sm_90 -release 12.0 pipeline.cu

// Operator copies the elements above 0 of a vector. Half of the elements are above 0,
// and y has room for all.
//
// y[0..count) = the x[i] > 0, in the order of x or in any order, depending on the rung.
// count[0] is their number, also if y has room for fewer; then y holds as many of them
// as fit. NaN, 0 and -0 are not above 0.
//
// Shapes: x (n), y (room n), count (1). Types: x and y float32, count uint32.
// Parameters: keep, the expected share of elements above 0, from 0 to 1; room, the
// length of y as a share of n, from 0 to 1, rounded up.
// Error:  none, every element is copied bit for bit.
// Cost:   4n + 4 keep n + 4 bytes, n comparisons: memory bound.
// Source: founding note 000, 2.12.
var Operator = must(Of(0.5, 1))

// Of is the operator for another share of elements above 0, and another length of y.
func Of(keep, room float64) (*ladder.Operator, error) {
	for _, p := range []struct {
		name  string
		value float64
	}{{"keep", keep}, {"room", room}} {
		if !(p.value >= 0 && p.value <= 1) {
			return nil, fmt.Errorf("ops: copy_if: %s = %v: %w, expected 0 to 1", p.name, p.value, gpu.ErrArgument)
		}
	}
	return &ladder.Operator{
		Name:    "copy_if",
		Module:  "copyif",
		Folder:  folder,
		Files:   files,
		Peers:   []string{"copyif.cu", "copyif_tried.py"},
		Formula: "y = the x[i] > 0",
		Source:  "founding note 000",
		Dims:    []string{"n"},
		MaxDim:  math.MaxUint32,
		Inputs:  func(s ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "x", Len: s[0], Low: -1, High: 1}} },
		Outputs: func(s ladder.Size) []ladder.Tensor {
			return []ladder.Tensor{
				{Name: "y", Len: capacity(room, s), Count: "count", Judge: ordered},
				{Name: "count", Len: 1, Type: gpu.Uint32},
			}
		},
		Reference: reference,
		Data:      dataSets(keep),
		Cases:     cases,
		Parameters: []ladder.Parameter{
			{Name: "keep", Value: keep, Default: 0.5},
			{Name: "room", Value: room, Default: 1},
		},
		PeersTake: []string{"keep"},
		Remake:    func(values []float64) (*ladder.Operator, error) { return Of(values[0], values[1]) },
		Work: func(s ladder.Size) ladder.Work {
			n := float64(s[0])
			return ladder.Work{Bytes: 4*n + 4*math.Min(keep, room)*n + 4, Operations: n, Unit: "comparisons"}
		},
		Variants: variants(room),
	}, nil
}

func must(o *ladder.Operator, err error) *ladder.Operator {
	if err != nil {
		panic(err)
	}
	return o
}

// capacity is the length of y.
func capacity(room float64, s ladder.Size) int { return int(math.Ceil(room * float64(s[0]))) }

// Operators lists the operators of this package.
func Operators() []*ladder.Operator {
	return []*ladder.Operator{Operator, Mistakes}
}
