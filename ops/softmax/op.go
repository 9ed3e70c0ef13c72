// Package softmax normalises each row of a matrix to shares with the sum 1: a ladder of our
// own, its logarithm, a masked form, and kernels that overflow. Of, LogOf and MaskedOf run them
// on buffers. Package ops lists the operators. It must never import ops/bench.
//
// The founding notes 000 and 003 name softmax among the operators and print no CUDA
// listing of it.
package softmax

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

//go:generate go run ../../gpu/nvrtc -arch sm_75 -release 12.0 softmax.cu mistakes.cu
//go:generate go run ../../gpu/nvrtc -arch sm_80 -release 12.0 softmax_last.cu
//go:generate go run ../../gpu/nvrtc -arch sm_90 -release 12.0 softmax_cluster.cu

// Operator is the softmax of each row:
// y[r][c] = e^(x[r][c] - m[r]) / (sum over c of e^(x[r][c] - m[r])), m[r] = max x[r].
//
// A row with NaN or +inf is NaN throughout, and so is a row of -inf alone: 0/0. Any
// other -inf gives 0. Rows without columns have no outputs.
//
// Shapes: x, y (rows, columns), row-major and dense. Types: float32, reference float64.
// Error:  |y - ref| <= u (3 d + 3 w + 10 + k) ref for u = 2^-24, d = m - x, w the mean
// of d by ref, and k roundings on the longest way of a sum; see analysis in reference.go.
// Cost:   8 bytes per element: memory bound.
// Source: ours; founding notes 000 and 003 name it without a listing.
var Operator = &ladder.Operator{
	Name:      "softmax",
	Folder:    folder,
	Files:     files,
	Peers:     []string{"softmax.py"},
	Formula:   "y[r][c] = exp(x[r][c] - max x[r]) / sum exp(x[r] - max x[r])",
	Source:    "ours; founding notes 000 and 003 name it without a listing",
	Dims:      []string{"rows", "columns"},
	MaxDim:    maxDim,
	Valid:     valid("softmax"),
	Inputs:    func(s ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "x", Len: s[0] * s[1]}} },
	Outputs:   func(s ladder.Size) []ladder.Tensor { return outputs(s, relative) },
	Reference: reference(plain),
	Data:      dataSets,
	Cases:     cases,
	Work:      work(8),
	Variants:  variants,
}

// Log is the logarithm of the softmax: y[r][c] = x[r][c] - m[r] - log(sum over c of
// e^(x[r][c] - m[r])), m[r] = max x[r].
//
// It keeps shares that the softmax itself rounds to 0. A row with NaN or +inf, or of
// -inf alone, is NaN throughout; any other -inf stays -inf.
//
// Shapes: x, y (rows, columns), row-major and dense. Types: float32, reference float64.
// Error:  |y - ref| <= u (d + 3 w + 6 + 3 log(sum) + |ref| + k), as of Operator.
// Cost:   8 bytes per element: memory bound.
// Source: ours.
var Log = &ladder.Operator{
	Name:      "log_softmax",
	Module:    "softmax",
	Folder:    folder,
	Files:     files,
	Peers:     []string{"softmax.py"},
	Formula:   "y[r][c] = x[r][c] - max x[r] - log sum exp(x[r] - max x[r])",
	Source:    "ours",
	Dims:      Operator.Dims,
	MaxDim:    maxDim,
	Valid:     valid("log_softmax"),
	Inputs:    Operator.Inputs,
	Outputs:   func(s ladder.Size) []ladder.Tensor { return outputs(s, absolute) },
	Reference: reference(logarithm),
	Data:      dataSets,
	Cases:     fewCases,
	Work:      work(8),
	Variants:  logVariants,
}

// Masked is the softmax of the elements whose mask is not 0; the others count as -inf.
//
// A row that keeps no element, or only -inf, is 0 throughout, not NaN: attention gives a
// query without keys the output 0. A row that keeps a NaN or +inf is NaN throughout.
//
// Shapes: x, mask, y (rows, columns), row-major and dense. Types: x, y float32, mask
// uint8, reference float64.
// Error:  that of Operator, of the elements that are kept.
// Cost:   9 bytes per element: memory bound.
// Source: ours.
var Masked = &ladder.Operator{
	Name:    "masked_softmax",
	Module:  "softmax",
	Folder:  folder,
	Files:   files,
	Peers:   []string{"softmax.py"},
	Formula: "y[r] = softmax of x[r], with -inf where mask[r][c] = 0",
	Source:  "ours",
	Dims:    Operator.Dims,
	MaxDim:  maxDim,
	Valid:   valid("masked_softmax"),
	Inputs: func(s ladder.Size) []ladder.Tensor {
		return []ladder.Tensor{{Name: "x", Len: s[0] * s[1]}, {Name: "mask", Len: s[0] * s[1], Type: gpu.Uint8, Low: 0, High: 2}}
	},
	Outputs:   Operator.Outputs,
	Reference: reference(masked),
	Data:      maskedSets,
	Cases:     fewCases,
	Work:      work(9),
	Variants:  maskedVariants,
}

// Mistakes is Operator with kernels that are right on ordinary logits and overflow on
// others. In its data every third number is -inf and the others are about 1e30; each kernel
// must fail on them.
var Mistakes = mistakesOf(Operator)

func mistakesOf(o *ladder.Operator) *ladder.Operator {
	m := *o
	m.Name, m.Module, m.Peers = "softmax_mistakes", "mistakes", nil
	m.Data, m.Cases = []ladder.DataSet{hostile, normal}, mistakeCases
	fails := func(s ladder.Size) string {
		if s[0] == 0 || s[1] < 3 {
			return ""
		}
		return ladder.CheckNaN
	}
	m.Variants = []ladder.Variant{
		{Name: "mistake_no_maximum", Adds: "nothing is subtracted: e^x overflows from 88.8 on", Source: "ours", Plan: warpARow(twoPassRoundings), Expect: fails},
		{Name: "mistake_two_infinities", Adds: "the running maximum is the shift, also while it is -inf: -inf - -inf is NaN", Source: "ours", Plan: warpARow(onlineRoundings), Expect: fails},
		{Name: "mistake_folded_maximum", Adds: "the maximum is subtracted by the multiplication with log2 e: the rounding of their product overflows by itself", Source: "ours", Plan: warpARow(twoPassRoundings), Expect: fails},
	}
	return &m
}

// maxDim keeps a cluster of eight blocks for each row within a grid's 2^31 - 1.
const maxDim = 1<<28 - 1

// valid rejects matrices that no memory holds.
func valid(name string) func(ladder.Size) error {
	return func(s ladder.Size) error {
		if s[1] > 0 && s[0] > ladder.MostElements/s[1] {
			return fmt.Errorf("ops: %s: %d x %d elements: %w, expected at most 2^38", name, s[0], s[1], gpu.ErrArgument)
		}
		return nil
	}
}

func outputs(s ladder.Size, judge ladder.Judge) []ladder.Tensor {
	return []ladder.Tensor{{Name: "y", Len: s[0] * s[1], Judge: judge}}
}

func work(bytes float64) func(ladder.Size) ladder.Work {
	return func(s ladder.Size) ladder.Work { return ladder.Work{Bytes: bytes * float64(s[0]) * float64(s[1])} }
}

// Operators lists the operators of this package.
func Operators() []*ladder.Operator {
	return []*ladder.Operator{Operator, Log, Masked, Mistakes}
}
