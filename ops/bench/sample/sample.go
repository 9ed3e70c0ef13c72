// Package sample is a small operator for tests: sums, with one rung for each way in
// which an operator's launches use memory. Tests of the bench run it, so that they
// depend on no operator of the catalogue. No program imports it.
package sample

import (
	"embed"
	"math"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

//go:generate go run ../../../gpu/nvrtc -arch sm_75 -release 12.0 sample.cu

//go:embed *.cu *.ptx.zst *.go
var files embed.FS

// Operator sums a vector: y[0] = x[0] + ... + x[n-1], and 0 for n = 0.
//
// Shapes: x (n), y (1). Types: float32, reference float64.
var Operator = &ladder.Operator{
	Name:      "sample",
	Folder:    "ops/bench/sample",
	Files:     files,
	Formula:   "y[0] = x[0] + ... + x[n-1]",
	Source:    "the tests of the bench",
	Dims:      []string{"n"},
	MaxDim:    math.MaxInt32,
	Inputs:    func(s ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "x", Len: s[0]}} },
	Outputs:   func(ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "y", Len: 1}} },
	Reference: reference,
	Exact: func(stop ladder.Stop, s ladder.Size, seed uint64) []ladder.Values {
		return []ladder.Values{ladder.Integers(stop, s[0], ladder.NewRandom(seed))}
	},
	Work: func(s ladder.Size) ladder.Work {
		return ladder.Work{Bytes: 4*float64(s[0]) + 4, Operations: math.Max(0, float64(s[0])-1)}
	},
	Cases:    []ladder.Case{{Size: ladder.Size{0}}, {Size: ladder.Size{1}}, {Size: ladder.Size{255}}, {Size: ladder.Size{257}}, {Size: ladder.Size{70_001}}},
	Variants: variants,
}

var variants = []ladder.Variant{
	{
		Name: "sum_host", Adds: "float32 in compiled Go on one core", Source: "a test",
		Plan: oneThread, Host: inOrder, Order: inOrder,
		Published: []ladder.Figure{{Value: 100, Unit: "ms", Size: ladder.Size{100_000_000}, Device: "CPU", Where: "a test"}},
	},
	{
		Name: "sum_serial", Adds: "one GPU thread adds everything", Source: "a test",
		Plan: oneThread, Order: inOrder,
	},
	{
		Name: "sum_blocks", Adds: "one sum a block; the sums are added by further launches", Source: "a test", Plan: blocks,
		Published: []ladder.Figure{{Size: ladder.Size{25_600_000}, Where: "a test", Comment: "only as an image"}},
	},
	{Name: "sum_static", Adds: "the sums are in a variable of the module", Source: "a test", Plan: static},
	{Name: "sum_atomic", Adds: "blocks of one warp meet in an atomicAdd", Source: "a test", Plan: atomics},
	{Name: "sum_ticket", Adds: "the last block adds the sums of all", Source: "a test", Plan: ticket},
}

// Mistakes is Operator with a rung that changes its input, and a right one after it.
var Mistakes = with("sample_mistakes", []ladder.Variant{
	{Name: "sum_in_place", Adds: "the tree is in the input itself", Source: "a test", Plan: inPlace, Expect: destroys},
	variants[2],
})

// BFloat16 is Operator of inputs that are rounded to bfloat16.
var BFloat16 = bfloat16()

func with(name string, rungs []ladder.Variant) *ladder.Operator {
	o := *Operator
	o.Name, o.Module, o.Variants = name, "sample", rungs
	return &o
}

func bfloat16() *ladder.Operator {
	o := with("sample_bfloat16", []ladder.Variant{{Name: "sum_bfloat16", Adds: "inputs of bfloat16", Source: "a test", Plan: oneThread}})
	o.Inputs = func(s ladder.Size) []ladder.Tensor {
		return []ladder.Tensor{{Name: "x", Len: s[0], Type: gpu.BFloat16}}
	}
	o.Work = func(s ladder.Size) ladder.Work { return ladder.Work{Bytes: 2*float64(s[0]) + 4} }
	return o
}

func reference(stop ladder.Stop, _ ladder.Size, inputs []ladder.Values) []ladder.Expected {
	var value, magnitude float64
	for x := inputs[0].([]float32); len(x) > 0 && !stop.Now(); x = x[min(ladder.Piece, len(x)):] {
		for _, v := range x[:min(ladder.Piece, len(x))] {
			value += float64(v)
			magnitude += math.Abs(float64(v))
		}
	}
	return []ladder.Expected{{Value: []float64{value}, Magnitude: []float64{magnitude}}}
}

func inOrder(stop ladder.Stop, _ ladder.Size, inputs, outputs []ladder.Values) {
	var sum float32
	for x := inputs[0].([]float32); len(x) > 0 && !stop.Now(); x = x[min(ladder.Piece, len(x)):] {
		for _, v := range x[:min(ladder.Piece, len(x))] {
			sum += v
		}
	}
	outputs[0].([]float32)[0] = sum
}

func destroys(s ladder.Size) string {
	switch {
	case s[0] == 0:
		return "" // nothing runs
	case s[0]%block == 0:
		return ladder.CheckInput
	}
	return ladder.CheckFault + gpu.ErrOutOfBounds.Error()
}
