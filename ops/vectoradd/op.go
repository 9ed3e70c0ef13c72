// Package vectoradd adds two vectors: the loop of note 003 in several launches, and
// rungs of our own. Its bandwidth is the limit of operators that read two arrays and write
// one. Add runs it on buffers. Package ops lists the operator. It must never import ops/bench.
package vectoradd

import (
	"math"

	"warpbook/ops/ladder"
)

//go:generate go run ../../gpu/nvrtc -arch sm_75 -release 12.0 vectoradd.cu

// Operator adds two vectors: z[i] = x[i] + y[i].
//
// Shapes: x, y, z (n). Types: float32.
// Error:  none: a sum of two floats has one rounding, so that every bit counts.
// Cost:   12n bytes, n additions: memory bound.
// Source: founding note 003, task_cuda.
var Operator = &ladder.Operator{
	Name:    "vectoradd",
	Folder:  folder,
	Files:   files,
	Peers:   []string{"vectoradd.py"},
	Formula: "z[i] = x[i] + y[i]",
	Source:  "founding note 003",
	Dims:    []string{"n"},
	MaxDim:  math.MaxInt32,
	Inputs: func(s ladder.Size) []ladder.Tensor {
		return []ladder.Tensor{{Name: "x", Len: s[0]}, {Name: "y", Len: s[0]}}
	},
	Outputs:   func(s ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "z", Len: s[0]}} },
	Reference: reference,
	Data:      []ladder.DataSet{ladder.UniformData, ladder.NormalData, ladder.SpecialData},
	Cases:     cases,
	Work: func(s ladder.Size) ladder.Work {
		return ladder.Work{Bytes: 12 * float64(s[0]), Operations: float64(s[0])}
	},
	Variants: variants,
}

// Operators lists the operators of this package.
func Operators() []*ladder.Operator {
	return []*ladder.Operator{Operator}
}
