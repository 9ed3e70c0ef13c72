package sort

import (
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Keys sorts keys in rising order. Float32 has the order of its type.
//
// Shapes: keys, sorted (n), which share no element. Types: uint32, int32, float32 or uint64,
// the same for both. Error: none.
func Keys(h ladder.Runner, keys, sorted gpu.Buffer) error {
	o := Operator
	if keys != nil {
		switch keys.Type() {
		case gpu.Int32:
			o = Int32
		case gpu.Float32:
			o = Float32
		case gpu.Uint64:
			o = Uint64
		}
	}
	return ladder.Call(h, o, ladder.Size{ladder.Elements(keys)}, map[string]gpu.Buffer{"keys": keys, "sorted": sorted})
}

// KeysWithValues sorts keys in rising order and moves the value of each with it. Equal keys
// keep their order.
//
// Shapes: keys, values, sorted, moved (n). Types: uint32. Error: none.
func KeysWithValues(h ladder.Runner, keys, values, sorted, moved gpu.Buffer) error {
	return ladder.Call(h, Pairs, ladder.Size{ladder.Elements(keys)}, map[string]gpu.Buffer{"keys": keys, "values": values, "sorted": sorted, "moved": moved})
}
