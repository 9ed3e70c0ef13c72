// Package concat joins tensors along a dimension. Note 000 names the operator without a
// listing; the rungs are ours. Along runs it on buffers. Package ops lists the operator.
// It must never import ops/bench.
package concat

import (
	"fmt"
	"math"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

//go:generate go run ../../gpu/nvrtc -arch sm_75 -release 12.0 concat.cu
//go:generate go run ../../gpu/nvrtc -arch sm_80 -release 12.0 concat_last.cu
//go:generate go run ../../gpu/nvrtc -arch sm_90 -release 12.0 concat_bulk.cu

// Operator joins two parts along their rows: y[r] is x0[r] and then x1[r]. Along joins
// tensors of any rank and number along any dimension.
//
// Shapes: x0 (rows, w0), x1 (rows, w1), y (rows, w0 + w1), row-major and dense. Types:
// float32.
// Error:  none, every bit counts.
// Cost:   8 bytes per element of y, no arithmetic: memory bound.
// Source: founding note 000, 1.8.
var Operator = of(2)

// of is the operator of so many parts. The rungs that copy all parts in one launch are
// for two.
func of(parts int) *ladder.Operator {
	o := &ladder.Operator{
		Name: "concat", Folder: folder, Files: files, Peers: []string{"concat.py"},
		Formula: "y[r] = x0[r] | x1[r]",
		Source:  "founding note 000",
		Dims:    []string{"rows"}, MaxDim: math.MaxInt32, Valid: valid,
		Inputs: func(s ladder.Size) (all []ladder.Tensor) {
			for i, w := range s[1:] {
				all = append(all, ladder.Tensor{Name: part(i), Len: s[0] * w})
			}
			return all
		},
		Outputs:   func(s ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "y", Len: s[0] * width(s)}} },
		Reference: reference,
		Cases:     cases,
		Work:      func(s ladder.Size) ladder.Work { return ladder.Work{Bytes: 8 * float64(s[0]) * float64(width(s))} },
		Variants:  variants,
	}
	for i := range parts {
		o.Dims = append(o.Dims, fmt.Sprintf("w%d", i))
	}
	if parts != 2 {
		o.Variants = variants[:1]
	}
	return o
}

// part is the name of a part.
func part(i int) string { return fmt.Sprintf("x%d", i) }

// width is that of a row of y.
func width(s ladder.Size) (w int) {
	for _, p := range s[1:] {
		w += p
	}
	return w
}

// most is the largest number of elements of y: 64 GiB.
const most = 1 << 34

func valid(s ladder.Size) error {
	if s[0] > 0 && width(s) > most/s[0] {
		return fmt.Errorf("ops: concat: %d rows of %d elements: %w, expected at most 2^34 elements in all", s[0], width(s), gpu.ErrArgument)
	}
	return nil
}

// Operators lists the operators of this package.
func Operators() []*ladder.Operator {
	return []*ladder.Operator{Operator}
}
