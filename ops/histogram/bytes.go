package histogram

import (
	"math"
	"math/rand/v2"
	"strings"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Bytes counts the values of bytes: counts[v] = |{i : x[i] = v}| for v from 0 to 255.
//
// Shapes: x (n), counts (256). Types: x uint8, counts uint32.
// Error:  none, every count is exact; histogram_u8_signed is wrong.
// Cost:   n + 1024 bytes, n additions: memory bound where the atomics are not.
// Source: founding note 000, 2.11, whose first listing has bytes.
var Bytes = &ladder.Operator{
	Name:    "histogram_u8",
	Module:  "bytes",
	Folder:  folder,
	Files:   files,
	Peers:   []string{"bytes.cu", "counts.py"},
	Formula: "counts[v] = |{i : x[i] = v}|",
	Source:  "founding note 000",
	Dims:    []string{"n"},
	MaxDim:  math.MaxInt32,
	Inputs: func(s ladder.Size) []ladder.Tensor {
		return []ladder.Tensor{{Name: "x", Len: s[0], Type: gpu.Uint8}}
	},
	Outputs: func(ladder.Size) []ladder.Tensor {
		return []ladder.Tensor{{Name: "counts", Len: 256, Type: gpu.Uint32}}
	},
	Reference: func(stop ladder.Stop, _ ladder.Size, inputs []ladder.Values) []ladder.Expected {
		counts := make([]uint32, 256)
		x := inputs[0].([]uint8)
		stop.Pieces(len(x), func(from, to int) {
			for _, v := range x[from:to] {
				counts[v]++
			}
		})
		return []ladder.Expected{{Exact: counts}}
	},
	Data: []ladder.DataSet{ladder.UniformData, ladder.AllEqual, ladder.Skewed, imageOfBytes},
	Cases: func() (all []ladder.Case) {
		for _, c := range cases {
			if c.Data != outside.Name {
				all = append(all, c)
			}
		}
		return all
	}(),
	Work: func(s ladder.Size) ladder.Work {
		return ladder.Work{Bytes: float64(s[0]) + 1024, Operations: float64(s[0]), Unit: "additions"}
	},
	Variants: []ladder.Variant{
		{
			Name: "histogram_u8_signed", Adds: "the bytes are char, with a sign: from 128 on they index in front of the counters",
			Source: "000 2.11", Plan: ofBytes(perByte, 256, 0), Expect: inFront,
		},
		{
			Name: "histogram_u8_atomic", Adds: "the bytes have no sign",
			Source: "000 2.11", Plan: ofBytes(perByte, 256, 0),
		},
		{
			Name: "histogram_u8_shared", Adds: "a block counts in shared memory and adds its counts to the global ones at its end",
			Source: "000 2.11", Plan: ofBytes(func(n, sms int) int { return min(ladder.CeilDiv(n, 1024), 8*sms) }, 256, 0),
		},
		{
			Name: "histogram_u8_per_lane", Adds: "loads of 16 bytes, and counters for each lane in its own bank: no conflicts, whatever the data",
			Source: "ours", Plan: ofBytes(perSM, 1024, 256*128),
		},
		{
			Name: "histogram_u8_prefetch", Adds: "three vectors per thread; the next three are in flight while these are counted",
			Source: "ours", Plan: ofBytes(perSM, 1024, 256*128),
		},
	},
}

var imageOfBytes = ladder.DataSet{Name: image.Name, Text: image.Text,
	Make: func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
		x := make([]uint8, tensors[0].Len)
		paint(stop, len(x), random, func(i int, light float64) { x[i] = uint8(light * 256) })
		return []ladder.Values{x}
	}}

// inFront expects the signed rung to fail, or to pass if no byte is 128 or more. If the
// counters begin inside of their buffer, an index in front of them also lies inside it, on
// elements that were never written.
func inFront(ladder.Size) string {
	fault := func(kind error) string { return ladder.CheckFault + kind.Error() }
	return ladder.CheckUndefined + strings.Join([]string{fault(gpu.ErrOutOfBounds), fault(gpu.ErrUninitialized), ladder.CheckExact, ladder.CheckInput}, ", ")
}

func perByte(n, _ int) int { return ladder.CeilDiv(n, 256) }

// perSM is one block a multiprocessor: its counters pay from 262144 bytes on.
func perSM(n, sms int) int { return min(ladder.CeilDiv(n, 1<<18), sms) }

func ofBytes(blocks func(n, sms int) int, threads, shared int) ladder.Planner {
	return func(entry string, size ladder.Size, info gpu.Info) ladder.Plan {
		n := size[0]
		if n == 0 {
			return ladder.Plan{}
		}
		return ladder.Plan{Steps: []ladder.Step{{
			Entry: entry, Grid: gpu.Dim{X: blocks(n, info.SMs)}, Block: gpu.Dim{X: threads}, Shared: shared,
			Args: []any{"x", "counts", uint32(n)}, Zero: []string{"counts"},
		}}}
	}
}
