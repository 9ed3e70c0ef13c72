package sparse

import (
	"fmt"
	"math/rand/v2"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// ToCOO writes the row of each entry of a matrix in CSR; columns and values are the same
// in COO.
//
// Shapes: offsets (rows + 1), row (nnz). Types: int32.
// Error:  none.
// Cost:   4 (rows + 1) + 4 nnz bytes: memory bound.
// Source: ours.
var ToCOO = &ladder.Operator{
	Name: "csr_to_coo", Module: "convert", Folder: folder, Files: files, Peers: []string{"sparse.py"},
	Formula: "row[i] = r for offsets[r] <= i < offsets[r + 1]",
	Source:  "ours",
	Dims:    []string{"rows", "nnz"}, MaxDim: most, Valid: someRow("csr_to_coo"),
	Inputs: func(s ladder.Size) []ladder.Tensor {
		return []ladder.Tensor{{Name: "offsets", Len: s[0] + 1, Type: gpu.Int32, High: float64(s[1])}}
	},
	Outputs: func(s ladder.Size) []ladder.Tensor {
		return []ladder.Tensor{{Name: "row", Len: s[1], Type: gpu.Int32}}
	},
	ValidInputs: func(s ladder.Size, inputs []ladder.Values) error {
		return named("csr_to_coo", checkOffsets("offsets", inputs[0].([]int32), s[1]))
	},
	Reference: func(stop ladder.Stop, s ladder.Size, inputs []ladder.Values) []ladder.Expected {
		m := CSR{Rows: s[0], Offsets: inputs[0].([]int32), Index: make([]int32, s[1])}
		return []ladder.Expected{{Exact: m.rowOfEach(stop)}}
	},
	Data: structures(func(stop ladder.Stop, d matrix, tensors []ladder.Tensor, random *rand.Rand) ladder.Values {
		return d.make(stop, tensors[0].Len-1, 1000, int(tensors[0].High), random).Offsets
	}),
	Cases: convertCases,
	Work:  convertWork,
	Variants: []ladder.Variant{
		{Name: "csr_to_coo_scalar_row", Adds: "one thread for each row", Source: "ours", Plan: expandPlan(1)},
		{Name: "csr_to_coo_warp_row", Adds: "one warp for each row: lanes write neighbours", Source: "ours", Plan: expandPlan(32)},
		{Name: "csr_to_coo_marks", Adds: "a block takes 2048 entries, of any rows: marks and a scan of maxima", Source: "ours", Plan: func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
			if s[1] == 0 {
				return ladder.Plan{}
			}
			return ladder.Plan{Steps: []ladder.Step{step(entry, ladder.CeilDiv(s[1], tile)*256, "offsets", "row", uint32(s[0]), uint32(s[1]))}}
		}},
		{Name: "csr_to_coo_bits", Adds: "tiles of the merge path, which a first launch finds; marks are bits", Source: "ours", Plan: bitsPlan},
	},
}

// FromCOO writes the offsets of a matrix in CSR whose triples are sorted by row; columns
// and values are the same in both. Rows in another order are refused: sort them with
// ops.SortPairs, whose values are the places of columns and values.
//
// Shapes: row (nnz), offsets (rows + 1). Types: int32.
// Error:  none.
// Cost:   4 nnz + 4 (rows + 1) bytes: memory bound.
// Source: ours.
var FromCOO = &ladder.Operator{
	Name: "coo_to_csr", Module: "convert", Folder: folder, Files: files, Peers: []string{"sparse.py"},
	Formula: "offsets[r] = |{i : row[i] < r}|",
	Source:  "ours",
	Dims:    []string{"rows", "nnz"}, MaxDim: most, Valid: someRow("coo_to_csr"),
	Inputs: func(s ladder.Size) []ladder.Tensor {
		return []ladder.Tensor{{Name: "row", Len: s[1], Type: gpu.Int32, High: float64(s[0])}}
	},
	Outputs: func(s ladder.Size) []ladder.Tensor {
		return []ladder.Tensor{{Name: "offsets", Len: s[0] + 1, Type: gpu.Int32}}
	},
	ValidInputs: func(s ladder.Size, inputs []ladder.Values) error {
		row := inputs[0].([]int32)
		for i := 1; i < len(row); i++ {
			if row[i] < row[i-1] {
				return fmt.Errorf("ops: coo_to_csr: row[%d] = %d: %w, expected %d or more: sort the triples by row first", i, row[i], gpu.ErrArgument, row[i-1])
			}
		}
		return named("coo_to_csr", checkIndices("row", row, s[0]))
	},
	Reference: func(_ ladder.Stop, s ladder.Size, inputs []ladder.Values) []ladder.Expected {
		return []ladder.Expected{{Exact: starts(inputs[0].([]int32), s[0])}}
	},
	Data: structures(func(stop ladder.Stop, d matrix, tensors []ladder.Tensor, random *rand.Rand) ladder.Values {
		return d.make(stop, int(tensors[0].High), 1000, tensors[0].Len, random).rowOfEach(stop)
	}),
	Cases: convertCases,
	Work:  convertWork,
	Variants: []ladder.Variant{
		{Name: "coo_to_csr_search", Adds: "one thread for each row searches where the row begins", Source: "ours", Plan: compressPlan(func(s ladder.Size) int { return s[0] + 1 })},
		{Name: "coo_to_csr_edges", Adds: "one thread for each entry writes an offset where the row changes", Source: "ours", Plan: compressPlan(func(s ladder.Size) int { return s[1] + 1 })},
		{Name: "coo_to_csr_wide", Adds: "eight entries per thread, 16 bytes per load; a warp writes long runs of empty rows", Source: "ours", Plan: compressPlan(func(s ladder.Size) int { return s[1]/8 + 1 })},
	},
}

// someRow refuses entries of a matrix without rows.
func someRow(operator string) func(ladder.Size) error {
	return func(s ladder.Size) error {
		if s[0] == 0 && s[1] > 0 {
			return fmt.Errorf("ops: %s: nnz = %d: %w, expected 0 for a matrix without rows", operator, s[1], gpu.ErrArgument)
		}
		return nil
	}
}

func convertWork(s ladder.Size) ladder.Work {
	return ladder.Work{Bytes: 4*float64(s[0]+1) + 4*float64(s[1])}
}

// structures are the data sets of one input, which depends on the places of entries alone.
func structures(make func(stop ladder.Stop, d matrix, tensors []ladder.Tensor, random *rand.Rand) ladder.Values) (sets []ladder.DataSet) {
	for _, d := range matrices {
		if d.name == "unsorted" || d.name == special {
			continue // rows as in "random"
		}
		sets = append(sets, ladder.DataSet{Name: d.name, Text: d.text, Make: func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
			return []ladder.Values{make(stop, d, tensors, random)}
		}})
	}
	return sets
}

// expandPlan gives each row so many lanes.
func expandPlan(lanes int) ladder.Planner {
	return func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
		if s[1] == 0 {
			return ladder.Plan{}
		}
		return ladder.Plan{Steps: []ladder.Step{step(entry, s[0]*lanes, "offsets", "row", uint32(s[0]))}}
	}
}

// bitsPlan gives a block of 512 threads so many steps of the merge path.
func bitsPlan(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	if s[1] == 0 {
		return ladder.Plan{}
	}
	tiles := ladder.CeilDiv(s[0]+s[1], 8188)
	return ladder.Plan{
		Scratch: []ladder.Tensor{{Name: "start", Len: tiles + 1, Type: gpu.Uint32}},
		Steps: []ladder.Step{
			step(entry, (tiles+1)*32, "offsets", "start", uint32(s[0]), uint32(s[1]), uint32(tiles)),
			{Entry: entry + "_2", Grid: gpu.Dim{X: tiles}, Block: gpu.Dim{X: 512}, Args: []any{"offsets", "row", "start", uint32(s[0]), uint32(s[1])}},
		},
	}
}

// compressPlan launches so many threads. The offsets of a matrix without rows or entries
// are zeros.
func compressPlan(threads func(ladder.Size) int) ladder.Planner {
	return func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
		if s[0] == 0 || s[1] == 0 {
			return ladder.Plan{}
		}
		return ladder.Plan{Steps: []ladder.Step{step(entry, threads(s), "row", "offsets", uint32(s[0]), uint32(s[1]))}}
	}
}
