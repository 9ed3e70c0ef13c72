package sort

import (
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Pairs sorts keys of uint32, each with a value. Equal keys keep their order.
//
// Shapes: keys, values, sorted, moved (n). Types: uint32.
// Error:  none, every bit counts.
// Cost:   16n bytes at least.
// Source: ours.
var Pairs = pairs()

func pairs() *ladder.Operator {
	o := *of(gpu.Uint32, "sort_pairs", "pairs")
	o.Formula = "(sorted, moved)[i] are (keys, values), sorted[i] <= sorted[i+1], in order where keys are equal"
	o.Inputs = func(s ladder.Size) []ladder.Tensor {
		return []ladder.Tensor{{Name: "keys", Len: s[0], Type: gpu.Uint32}, {Name: "values", Len: s[0], Type: gpu.Uint32}}
	}
	o.Outputs = func(s ladder.Size) []ladder.Tensor {
		return []ladder.Tensor{{Name: "sorted", Len: s[0], Type: gpu.Uint32}, {Name: "moved", Len: s[0], Type: gpu.Uint32}}
	}
	o.Reference = func(stop ladder.Stop, _ ladder.Size, inputs []ladder.Values) []ladder.Expected {
		at := places(stop, inputs[0])
		return []ladder.Expected{{Exact: picked(inputs[0], at)}, {Exact: picked(inputs[1], at)}}
	}
	o.Work = func(s ladder.Size) ladder.Work {
		return ladder.Work{Bytes: 16 * float64(s[0]), Operations: float64(s[0]), Unit: "keys"}
	}
	o.Data = nil
	for _, d := range data(gpu.Uint32) {
		o.Data = append(o.Data, withPlaces(d))
	}
	o.Variants = variants(gpu.Uint32, "sort_pairs_", true)
	return &o
}
