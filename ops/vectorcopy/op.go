// Package vectorcopy copies a vector: the launches of notes 000 and 003, and rungs of
// our own. Its bandwidth is the limit of operators that read one array and write one. Copy
// runs it on buffers. Package ops lists the operator. It must never import ops/bench.
package vectorcopy

import (
	"math"

	"warpbook/ops/ladder"
)

//go:generate go run ../../gpu/nvrtc -arch sm_75 -release 12.0 vectorcopy.cu

// Operator copies a vector: y[i] = x[i].
//
// Shapes: x, y (n). Types: float32.
// Error:  none, every bit counts, also those of NaN.
// Cost:   8n bytes, no arithmetic: memory bound.
// Source: founding notes 000 and 003 for the launches.
var Operator = &ladder.Operator{
	Name:    "vectorcopy",
	Folder:  folder,
	Files:   files,
	Peers:   []string{"vectorcopy.py"},
	Formula: "y[i] = x[i]",
	Source:  "founding notes 000 and 003",
	Dims:    []string{"n"},
	MaxDim:  math.MaxInt32,
	Inputs:  func(s ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "x", Len: s[0]}} },
	Outputs: func(s ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "y", Len: s[0]}} },
	Reference: func(_ ladder.Stop, _ ladder.Size, inputs []ladder.Values) []ladder.Expected {
		return []ladder.Expected{{Exact: inputs[0]}}
	},
	Data:     []ladder.DataSet{ladder.UniformData, ladder.SpecialData},
	Cases:    cases,
	Work:     func(s ladder.Size) ladder.Work { return ladder.Work{Bytes: 8 * float64(s[0])} },
	Variants: variants,
}

// Operators lists the operators of this package.
func Operators() []*ladder.Operator {
	return []*ladder.Operator{Operator}
}
