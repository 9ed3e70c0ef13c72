// Package vectorcopy copies a vector: the launches of notes 000 and 003, and rungs of
// our own. Its bandwidth is the limit of operators that read one array and write one.
// Package ops lists the operator. It must never import ops/bench.
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

// cases bracket warps, blocks of 256 threads, vectors, four vectors a thread, and the
// turns of the loops, whose grids depend on the device.
var cases = func() (all []ladder.Case) {
	for _, n := range []int{0, 1, 3, 4, 5, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097, 65_537} {
		all = append(all, ladder.Case{Size: ladder.Size{n}})
	}
	for start := 1; start < 5; start++ {
		all = append(all, ladder.Case{Size: ladder.Size{5_003}, Start: start})
	}
	all = append(all, ladder.Case{Size: ladder.Size{10_007}, Data: "special"})
	for _, n := range []int{4_500_000, 9_000_011} { // past one turn, and four, of an H200's grid
		all = append(all, ladder.Case{Size: ladder.Size{n}, Long: true})
	}
	return all
}()
