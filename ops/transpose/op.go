// Package transpose turns the rows of a matrix into columns: the ladder of note 002
// and rungs of our own, and the copy that is their limit. Matrix runs it on buffers. Package
// ops lists the operators. It must never import ops/bench.
package transpose

import (
	"warpbook/ops/ladder"
)

//go:generate go run ../../gpu/nvrtc -arch sm_75 -release 12.0 transpose.cu copy.cu trials.cu
//go:generate go run ../../gpu/nvrtc -arch sm_90 -release 12.0 tma.cu

// Operator transposes a matrix: b[c][r] = a[r][c].
//
// Shapes: a (rows, columns), b (columns, rows), both row-major and dense. Types:
// float32.
// Error:  none, every bit counts.
// Cost:   8 bytes per element, no arithmetic: memory bound.
// Source: founding note 002, section on transposes.
var Operator = &ladder.Operator{
	Name:      "transpose",
	Folder:    folder,
	Files:     files,
	Peers:     []string{"transpose.py"},
	Formula:   "b[c][r] = a[r][c]",
	Source:    "founding note 002",
	Dims:      []string{"rows", "columns"},
	MaxDim:    maxDim,
	Inputs:    func(s ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "a", Len: s[0] * s[1]}} },
	Outputs:   func(s ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "b", Len: s[0] * s[1]}} },
	Reference: reference,
	Cases:     cases,
	Work:      work,
	Variants:  variants,
}

// Copy copies a matrix: b[r][c] = a[r][c]. It moves the bytes of a transpose with
// both accesses coalesced, so its time is the limit of a transpose.
//
// Shapes: a, b (rows, columns), row-major and dense. Types: float32.
// Error:  none, every bit counts.
// Cost:   8 bytes per element: memory bound.
// Source: founding note 002, section on transposes.
var Copy = &ladder.Operator{
	Name:    "copy",
	Folder:  folder,
	Files:   files,
	Formula: "b[r][c] = a[r][c]",
	Source:  "founding note 002",
	Dims:    Operator.Dims,
	MaxDim:  maxDim,
	Inputs:  Operator.Inputs,
	Outputs: Operator.Outputs,
	Reference: func(_ ladder.Stop, _ ladder.Size, inputs []ladder.Values) []ladder.Expected {
		return []ladder.Expected{{Exact: inputs[0]}}
	},
	Cases: cases,
	Work:  work,
	Variants: []ladder.Variant{
		{Name: "copy_tile", Adds: "a thread copies one element of a tile of 32 x 32", Source: "002", Plan: tiles(oneElement)},
		{Name: "copy_tile64", Adds: "tiles of 64 x 64, 16 bytes per access", Source: "ours", Plan: tiles(tile64)},
	},
}

// maxDim keeps rows and columns within a grid's 65535 tiles of 32 in y.
const maxDim = 32 * 65535

func work(s ladder.Size) ladder.Work {
	return ladder.Work{Bytes: 8 * float64(s[0]) * float64(s[1])}
}

// Operators lists the operators of this package.
func Operators() []*ladder.Operator {
	return []*ladder.Operator{Operator, Copy, Trials}
}
