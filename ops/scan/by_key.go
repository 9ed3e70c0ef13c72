package scan

import (
	"math/rand/v2"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// ByKey is the scan by key: y[i] = x[i], plus y[i-1] where key[i] = key[i-1]. Keys need
// not be sorted: a segment ends where the key changes.
//
// Shapes: key, x, y (n). Types: key int32, x and y float32, reference float64.
// Error:  that of Operator, for each segment.
// Cost:   12n bytes, n additions: memory bound.
// Source: ours.
var ByKey = &ladder.Operator{
	Name:    "scan_by_key",
	Module:  "by_key",
	Folder:  folder,
	Files:   files,
	Peers:   []string{"scan.cu"},
	Formula: "y[i] = x[i] + (key[i] = key[i-1] ? y[i-1] : 0)",
	Source:  "ours",
	Dims:    []string{"n"},
	MaxDim:  maxDim,
	Inputs: func(s ladder.Size) []ladder.Tensor {
		return []ladder.Tensor{{Name: "key", Len: s[0], Type: gpu.Int32}, {Name: "x", Len: s[0]}}
	},
	Outputs:   func(s ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "y", Len: s[0]}} },
	Reference: byKey,
	Exact: func(stop ladder.Stop, s ladder.Size, seed uint64) []ladder.Values {
		random := ladder.NewRandom(seed)
		x := ladder.Integers(stop, s[0], random)
		return []ladder.Values{keysOf(stop, s[0], 1000, random), x}
	},
	Data: []ladder.DataSet{segments("segments of 10", 10), segments("segments of 1000", 1000), segments("segments of 1", 1), segments("one segment", 1<<40)},
	Cases: []ladder.Case{
		{Size: ladder.Size{0}}, {Size: ladder.Size{1}}, {Size: ladder.Size{2}}, {Size: ladder.Size{33}}, {Size: ladder.Size{257}, Data: "one segment"},
		{Size: ladder.Size{1023}, Data: "segments of 1000"}, {Size: ladder.Size{1025}}, {Size: ladder.Size{4099}, Data: "segments of 1"},
		{Size: ladder.Size{4099}, Data: "segments of 1000"}, {Size: ladder.Size{40_001}, Data: "segments of 1000"}, {Size: ladder.Size{40_001}, Data: "one segment"},
		{Size: ladder.Size{keyedTile}}, {Size: ladder.Size{keyedTile + 1}, Data: "one segment"}, {Size: ladder.Size{3_001}, Start: 1},
		{Size: ladder.Size{2*keyedTile + 5}, Data: "segments of 1000", Start: 1}, {Size: ladder.Size{270_337}, Data: "segments of 1000", Long: true},
	},
	Work: func(s ladder.Size) ladder.Work {
		return ladder.Work{Bytes: 12 * float64(s[0]), Operations: float64(s[0]), Unit: "additions"}
	},
	Variants: []ladder.Variant{
		{Name: "scan_by_key_shuffle", Adds: "one block, 256 elements per iteration; the pair of a sum and a flag is added in order", Source: "ours", Plan: keyed(oneBlock(256, false))},
		{Name: "scan_by_key_look_back", Adds: "one pass over tiles of 1024; a warp looks back over sums and flags", Source: "ours", Plan: keyed(onePass(smallTile, 1, false, true))},
		{Name: "scan_by_key_look_back_wide", Adds: "28 elements per thread in accesses of 16 bytes; a ballot finds the segment's first lane; a tile in which a segment begins waits for no other tile", Source: "ours", Plan: keyed(onePass(keyedTile, 1, false, true))},
	},
}

// keyedTile is how many elements a block of scan_by_key_look_back_wide has.
const keyedTile = 7168

// keyed is a plan with keys before x, and without the flag of exclusive sums at its end.
func keyed(of ladder.Planner) ladder.Planner {
	return func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
		p := of(entry, s, info)
		for i, step := range p.Steps {
			p.Steps[i].Args = append([]any{"key"}, step.Args[:len(step.Args)-1]...)
		}
		return p
	}
}

func byKey(stop ladder.Stop, _ ladder.Size, inputs []ladder.Values) []ladder.Expected {
	keys, x := inputs[0].([]int32), inputs[1].([]float32)
	want := ladder.Expected{Value: make([]float64, len(x)), Magnitude: make([]float64, len(x))}
	sum, magnitude := 0.0, 0.0
	stop.Pieces(len(x), func(from, to int) {
		for i := from; i < to; i++ {
			if i > 0 && keys[i] != keys[i-1] {
				sum, magnitude = 0, 0
			}
			sum += float64(x[i])
			magnitude += finite(x[i])
			want.Value[i], want.Magnitude[i] = sum, magnitude
		}
	})
	return []ladder.Expected{want}
}

// segments has keys that change with the chance of 1 in the mean length, so that the
// lengths vary.
func segments(name string, mean int) ladder.DataSet {
	return ladder.DataSet{Name: name, Text: "x uniform in [0, 1), keys in " + name, Make: func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
		return []ladder.Values{keysOf(stop, tensors[0].Len, mean, random), ladder.Uniform(stop, tensors[1].Len, random)}
	}}
}

func keysOf(stop ladder.Stop, n, mean int, random *rand.Rand) []int32 {
	keys, key := make([]int32, n), int32(0)
	stop.Pieces(n, func(from, to int) {
		for i := from; i < to; i++ {
			if random.IntN(mean) == 0 {
				key++
			}
			keys[i] = key
		}
	})
	return keys
}
