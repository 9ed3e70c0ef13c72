package sparse

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// mostWide is the largest number of entries of SpMVWide.
const mostWide = 1 << 40

// SpMVWide is SpMV with offsets of 64 bits, for 2^31 entries and more. Rows and columns
// are as many as those of SpMV.
//
// Shapes: offsets (rows + 1), columns and values (nnz), x (columns), y (rows). Types:
// offsets uint64, the others as SpMV. Reference float64.
// Error:  that of SpMV.
// Cost:   8 nnz + 8 (rows + 1) + 4 columns + 4 rows bytes, 2 nnz FLOP: memory bound.
// Source: ours.
var SpMVWide = &ladder.Operator{
	Name: "spmv_wide", Module: "wide", Folder: folder, Files: files,
	Formula: "y = A x, A in CSR with offsets of 64 bits",
	Source:  "ours",
	Dims:    []string{"rows", "columns", "nnz"}, MaxDim: mostWide,
	Valid: func(s ladder.Size) error {
		for i, name := range []string{"rows", "columns"} {
			if s[i] > most {
				return fmt.Errorf("ops: spmv_wide: %s = %d: %w, expected at most %d: columns are int32", name, s[i], gpu.ErrArgument, most)
			}
		}
		return shape("spmv_wide")(s)
	},
	Inputs: func(s ladder.Size) []ladder.Tensor {
		inputs := append(inputsOf(s[0], s[1], s[2]), ladder.Tensor{Name: "x", Len: s[1]})
		inputs[0].Type = gpu.Uint64
		return inputs
	},
	Outputs: SpMV.Outputs,
	ValidInputs: func(s ladder.Size, inputs []ladder.Values) error {
		return named("spmv_wide", checkOffsets("offsets", inputs[0].([]uint64), s[2]), checkIndices("columns", inputs[1].([]int32), s[1]))
	},
	Reference: func(stop ladder.Stop, s ladder.Size, inputs []ladder.Values) []ladder.Expected {
		offsets, index, values, x := inputs[0].([]uint64), inputs[1].([]int32), inputs[2].([]float32), inputs[3].([]float32)
		e := newSums(s[0])
		stop.Pieces(s[0], func(from, to int) {
			for r := from; r < to; r++ {
				for i := offsets[r]; i < offsets[r+1]; i++ {
					e.add(r, float64(values[i])*float64(x[index[i]]))
				}
			}
		})
		return []ladder.Expected{e.Expected}
	},
	Data: widened(matrices),
	Cases: append([]ladder.Case{
		{Size: ladder.Size{0, 0, 0}}, {Size: ladder.Size{1, 1, 1}}, {Size: ladder.Size{5, 0, 0}}, {Size: ladder.Size{300, 7, 0}},
		{Size: ladder.Size{1, 9, 40}}, {Size: ladder.Size{257, 31, 2048}}, {Size: ladder.Size{63, 5000, 4095}, Start: 1},
	}, everyMatrix(149, 151, 2003)...),
	Work: func(s ladder.Size) ladder.Work {
		return ladder.Work{Bytes: 8*float64(s[2]) + 8*float64(s[0]+1) + 4*float64(s[1]) + 4*float64(s[0]), Operations: 2 * float64(s[2])}
	},
	Variants: []ladder.Variant{
		{Name: "spmv_wide_warp_row", Adds: "one warp for each row: lanes read neighbours", Source: "ours", Plan: rowPlan(32)},
		{Name: "spmv_wide_vector_row", Adds: "as many lanes per row as the row has entries on average", Source: "ours", Plan: vectorPlan},
	},
}

// widened are the data sets of SpMV with offsets of 64 bits. Only banded matrices are made
// with more entries than offsets of 32 bits have: the check of inputs refuses others.
func widened(all []matrix) (sets []ladder.DataSet) {
	for _, d := range all {
		sets = append(sets, ladder.DataSet{Name: d.name, Text: d.text, Make: func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
			rows, columns, nnz := tensors[0].Len-1, int(tensors[1].High), tensors[1].Len
			offsets := make([]uint64, rows+1)
			if d.name != "banded" || nnz <= most {
				m := d.make(stop, rows, columns, nnz, random)
				for r, v := range m.Offsets {
					offsets[r] = uint64(v)
				}
				return []ladder.Values{offsets, m.Index, m.Values, d.dense(stop, tensors[3], random)}
			}
			index := wideBand(stop, offsets, columns, nnz)
			return []ladder.Values{offsets, index, d.dense(stop, tensors[2], random), d.dense(stop, tensors[3], random)}
		}})
	}
	return sets
}

// wideBand fills in the offsets of rows of one length, and returns their columns around the
// diagonal.
func wideBand(stop ladder.Stop, offsets []uint64, columns, nnz int) []int32 {
	rows := len(offsets) - 1
	for r := range offsets {
		high, low := bits.Mul64(uint64(r), uint64(nnz))
		offsets[r], _ = bits.Div64(high, low, uint64(rows))
	}
	index := make([]int32, nnz)
	stop.Pieces(rows, func(from, to int) {
		for r := from; r < to; r++ {
			first, n := offsets[r], int(offsets[r+1]-offsets[r])
			start := min(max(0, int(float64(r)/float64(rows)*float64(columns))-n/2), max(0, columns-n))
			for i := range n {
				index[first+uint64(i)] = int32((start + i) % columns)
			}
		}
	})
	return index
}
