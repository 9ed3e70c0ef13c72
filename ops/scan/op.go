// Package scan computes prefix sums of a vector: a ladder from one block to one pass over
// memory, for float32, int32 and uint64, along the rows of a matrix, and by key, and a
// kernel that hangs. Inclusive and its siblings run it on buffers. Package ops lists the
// operators. It must never import ops/bench.
//
// The founding note 000 names scan and cumsum among the operators and prints no
// listing of them.
package scan

import (
	"fmt"
	"math"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

//go:generate go run ../../gpu/nvrtc -arch sm_75 -release 12.0 scan.cu scan_u64.cu rows.cu by_key.cu mistakes.cu
//go:generate go run ../../gpu/nvrtc -plain -arch sm_75 -release 12.0 testdata/look_back.cu
//go:generate go run ../../gpu/nvrtc -arch sm_90 -release 12.0 pipeline.cu cluster.cu

// Operator is the inclusive scan of float32: y[i] = x[0] + ... + x[i]. With its
// parameter exclusive = 1 it is y[i] = x[0] + ... + x[i-1], and y[0] = 0.
//
// Shapes: x, y (n). Types: float32, reference float64.
// Error:  |y[i] - ref| <= min(depth 2^-24, 1e-3) of |x[0]| + ... + |x[i]|, with the
// additions of the rung as depth. The rungs that look back add in an order that varies
// from run to run; scan_deterministic, scan_pipeline_groups and those before the look-back
// do not.
// Cost:   8n bytes, n additions: memory bound.
// Source: ours; founding note 000 names it without a listing.
var Operator = must(Of(gpu.Float32, false))

// Int32 is the scan of int32, which wraps around.
//
// Shapes: x, y (n). Types: int32.
// Error:  none, every bit counts.
// Cost:   8n bytes, n additions: memory bound.
// Source: ours.
var Int32 = must(Of(gpu.Int32, false))

// Uint64 is the scan of uint64, which wraps around.
//
// Shapes: x, y (n). Types: uint64.
// Error:  none, every bit counts.
// Cost:   16n bytes, n additions: memory bound.
// Source: ours.
var Uint64 = must(Of(gpu.Uint64, false))

// maxDim keeps offsets within the signed index of the look-back, and a grid of tiles of
// 1024 within its limits.
const maxDim = math.MaxInt32

// names are those of the operators by their type.
var names = map[gpu.Type]string{gpu.Float32: "scan", gpu.Int32: "scan_i32", gpu.Uint64: "scan_u64"}

// Of is the scan of float32, int32 or uint64, inclusive or exclusive.
func Of(t gpu.Type, exclusive bool) (*ladder.Operator, error) {
	name, ok := names[t]
	if !ok {
		return nil, fmt.Errorf("ops: scan: elements of %v: %w, expected float32, int32 or uint64", t, gpu.ErrArgument)
	}
	module := "scan"
	if t == gpu.Uint64 {
		module = name
	}
	o := &ladder.Operator{
		Name:    name,
		Module:  module,
		Folder:  folder,
		Files:   files,
		Peers:   []string{"scan.cu", "scans.py"},
		Formula: "y[i] = x[0] + ... + x[i]",
		Source:  "ours; founding note 000 names it without a listing",
		Dims:    []string{"n"},
		MaxDim:  maxDim,
		Inputs:  func(s ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "x", Len: s[0], Type: t}} },
		Outputs: func(s ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "y", Len: s[0], Type: t}} },
		Reference: func(stop ladder.Stop, _ ladder.Size, inputs []ladder.Values) []ladder.Expected {
			switch x := inputs[0].(type) {
			case []int32:
				return integers(stop, x, exclusive)
			case []uint64:
				return integers(stop, x, exclusive)
			}
			return floats(stop, inputs[0].([]float32), exclusive)
		},
		Cases:      cases(t),
		Parameters: []ladder.Parameter{{Name: "exclusive", Value: float64(flag(exclusive)), Whole: true}},
		PeersTake:  []string{"exclusive"},
		Remake:     remake(name, func(exclusive bool) (*ladder.Operator, error) { return Of(t, exclusive) }),
		Work: func(s ladder.Size) ladder.Work {
			return ladder.Work{Bytes: 2 * float64(t.Bytes()) * float64(s[0]), Operations: float64(s[0]), Unit: "additions"}
		},
		Variants: variants(t, name+"_", exclusive),
	}
	if t == gpu.Float32 {
		o.Data = []ladder.DataSet{ladder.UniformData, ladder.NormalData, ladder.SpecialData}
		o.Exact = func(stop ladder.Stop, s ladder.Size, seed uint64) []ladder.Values {
			return []ladder.Values{ladder.Integers(stop, s[0], ladder.NewRandom(seed))}
		}
	}
	return o, nil
}

// remake sets the parameter exclusive.
func remake(name string, of func(exclusive bool) (*ladder.Operator, error)) func([]float64) (*ladder.Operator, error) {
	return func(values []float64) (*ladder.Operator, error) {
		if values[0] != 0 && values[0] != 1 {
			return nil, fmt.Errorf("ops: %s: exclusive = %v: %w, expected 0 or 1", name, values[0], gpu.ErrArgument)
		}
		return of(values[0] == 1)
	}
}

func must(o *ladder.Operator, err error) *ladder.Operator {
	if err != nil {
		panic(err)
	}
	return o
}

// integers are the sums that wrap around.
func integers[T int32 | uint64](stop ladder.Stop, x []T, exclusive bool) []ladder.Expected {
	y, sum := make([]T, len(x)), T(0)
	stop.Pieces(len(x), func(from, to int) {
		for i := from; i < to; i++ {
			before := sum
			sum += x[i]
			y[i] = sum
			if exclusive {
				y[i] = before
			}
		}
	})
	return []ladder.Expected{{Exact: y}}
}

// floats are the sums in float64, and those of the absolute values of finite terms.
func floats(stop ladder.Stop, x []float32, exclusive bool) []ladder.Expected {
	y, magnitudes := make([]float64, len(x)), make([]float64, len(x))
	sum, magnitude := 0.0, 0.0
	stop.Pieces(len(x), func(from, to int) {
		for i := from; i < to; i++ {
			y[i], magnitudes[i] = sum, magnitude
			sum += float64(x[i])
			magnitude += finite(x[i])
			if !exclusive {
				y[i], magnitudes[i] = sum, magnitude
			}
		}
	})
	return []ladder.Expected{{Value: y, Magnitude: magnitudes}}
}

// finite is the absolute value of a finite number, and 0 of others.
func finite(v float32) float64 {
	if a := math.Abs(float64(v)); a <= math.MaxFloat32 {
		return a
	}
	return 0
}

// Mistakes is Operator with a rung that is right only if blocks start in order. Its results
// do not show the mistake: it hangs, or it is right. A test runs it on an emulator that
// starts the last block first, with a limit of steps.
var Mistakes = mistakesOf(Operator)

func mistakesOf(o *ladder.Operator) *ladder.Operator {
	m := *o
	m.Name, m.Module, m.Peers, m.Parameters, m.Remake = "scan_mistakes", "mistakes", nil, nil, nil
	m.Cases = []ladder.Case{{Size: ladder.Size{0}}, {Size: ladder.Size{1}}, {Size: ladder.Size{20_001}}}
	m.Variants = []ladder.Variant{{
		Name: "mistake_no_tickets", Adds: "block b has tile b: where later blocks run first, they wait for blocks that cannot start", Source: "ours",
		Plan: onePass(smallTile, 1, false, false),
	}}
	return &m
}

// Operators lists the operators of this package.
func Operators() []*ladder.Operator {
	return []*ladder.Operator{Operator, Int32, Uint64, ByKey, Rows, Mistakes}
}
