// Package vectoradd adds two vectors: the loop of note 003 in several launches, and
// rungs of our own. Its bandwidth is the limit of operators that read two arrays and write
// one. Package ops lists the operator. It must never import ops/bench.
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

// reference rounds the sum twice, to float64 and to float32. float64 has more than twice
// the bits of a float32, so the result equals that of one rounding.
func reference(stop ladder.Stop, _ ladder.Size, inputs []ladder.Values) []ladder.Expected {
	x, y := inputs[0].([]float32), inputs[1].([]float32)
	z := make([]float32, len(x))
	stop.Parallel(len(x), func(from, to int) {
		for i := from; i < to; i++ {
			z[i] = float32(float64(x[i]) + float64(y[i]))
		}
	})
	return []ladder.Expected{{Exact: z}}
}

// cases bracket warps, blocks of 256 threads, vectors, and the turns of the loops,
// whose grids depend on the device.
var cases = func() (all []ladder.Case) {
	for _, n := range []int{0, 1, 3, 4, 5, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 4099, 65_537} {
		all = append(all, ladder.Case{Size: ladder.Size{n}})
	}
	for start := 1; start < 5; start++ {
		all = append(all, ladder.Case{Size: ladder.Size{5_003}, Start: start})
	}
	all = append(all, ladder.Case{Size: ladder.Size{10_007}, Data: "special"}, ladder.Case{Size: ladder.Size{10_007}, Data: "normal"})
	for _, n := range []int{4_500_000, 9_000_011} { // past one turn, and four, of an H200's grid
		all = append(all, ladder.Case{Size: ladder.Size{n}, Long: true})
	}
	return all
}()
