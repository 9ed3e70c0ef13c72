package scan

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Rows is the scan of each row of a matrix: y[r][c] = x[r][0] + ... + x[r][c]. With its
// parameter exclusive = 1 the last term is x[r][c-1].
//
// Shapes: x, y (rows, columns), row-major and dense. Types: float32, reference float64.
// Error:  that of Operator, for each row.
// Cost:   8 bytes per element, one addition: memory bound.
// Source: ours; founding note 000 names cumsum without a listing.
var Rows = must(alongRows(false))

func alongRows(exclusive bool) (*ladder.Operator, error) {
	return &ladder.Operator{
		Name:    "cumsum",
		Module:  "rows",
		Folder:  folder,
		Files:   files,
		Peers:   []string{"cumsum.py"},
		Formula: "y[r][c] = x[r][0] + ... + x[r][c]",
		Source:  "ours; founding note 000 names cumsum without a listing",
		Dims:    []string{"rows", "columns"},
		MaxDim:  maxDim - 8192, // the last turn of a row does not pass an unsigned
		Valid: func(s ladder.Size) error {
			if s[1] > 0 && s[0] > ladder.MostElements/s[1] {
				return fmt.Errorf("ops: cumsum: %d x %d elements: %w, expected at most 2^38", s[0], s[1], gpu.ErrArgument)
			}
			return nil
		},
		Inputs:  func(s ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "x", Len: s[0] * s[1]}} },
		Outputs: func(s ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "y", Len: s[0] * s[1]}} },
		Reference: func(stop ladder.Stop, s ladder.Size, inputs []ladder.Values) []ladder.Expected {
			all := ladder.Expected{Value: []float64{}, Magnitude: []float64{}}
			x := inputs[0].([]float32)
			for r := 0; r < s[0] && !stop.Now(); r++ {
				row := floats(stop, x[r*s[1]:(r+1)*s[1]], exclusive)[0]
				all.Value, all.Magnitude = append(all.Value, row.Value...), append(all.Magnitude, row.Magnitude...)
			}
			return []ladder.Expected{all}
		},
		Exact: func(stop ladder.Stop, s ladder.Size, seed uint64) []ladder.Values {
			return []ladder.Values{ladder.Integers(stop, s[0]*s[1], ladder.NewRandom(seed))}
		},
		Data:       []ladder.DataSet{ladder.UniformData, ladder.NormalData, ladder.SpecialData},
		Parameters: []ladder.Parameter{{Name: "exclusive", Value: float64(flag(exclusive)), Whole: true}},
		Remake:     remake("cumsum", alongRows),
		Cases: []ladder.Case{
			{Size: ladder.Size{0, 0}}, {Size: ladder.Size{0, 3}}, {Size: ladder.Size{3, 0}}, {Size: ladder.Size{1, 1}}, {Size: ladder.Size{300, 1}},
			{Size: ladder.Size{9, 31}}, {Size: ladder.Size{9, 33}}, {Size: ladder.Size{5, 255}}, {Size: ladder.Size{5, 257}},
			{Size: ladder.Size{3, 4095}}, {Size: ladder.Size{3, 4096}}, {Size: ladder.Size{2, 4097}}, {Size: ladder.Size{2, 8191}}, {Size: ladder.Size{2, 8192}}, {Size: ladder.Size{1, 16385}}, {Size: ladder.Size{40, 60}, Data: "special"},
			{Size: ladder.Size{7, 100}, Start: 1}, {Size: ladder.Size{7, 100}, Start: 4}, {Size: ladder.Size{64, 8192}, Long: true},
		},
		Work: func(s ladder.Size) ladder.Work {
			n := float64(s[0]) * float64(s[1])
			return ladder.Work{Bytes: 8 * n, Operations: n, Unit: "additions"}
		},
		Variants: []ladder.Variant{
			{Name: "cumsum_warp", Adds: "one warp for each row, 32 elements per iteration", Source: "ours", Plan: rowPlan(8, 256, 32, exclusive)},
			{Name: "cumsum_block", Adds: "one block for each row, 256 elements per iteration", Source: "ours", Plan: rowPlan(1, 256, 256, exclusive)},
			{Name: "cumsum_wide", Adds: "4096 elements per iteration, in accesses of 16 bytes", Source: "ours", Plan: rowPlan(1, 256, 4096, exclusive)},
			{Name: "cumsum_wide_512", Adds: "512 threads per row: 8192 elements per iteration, with one barrier", Source: "ours", Plan: rowPlan(1, 512, 8192, exclusive)},
		},
	}, nil
}

// rowPlan launches blocks of so many rows and threads. A row takes so many elements an iteration.
func rowPlan(rows, threads, elements int, exclusive bool) ladder.Planner {
	return func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
		if s[0] == 0 || s[1] == 0 {
			return ladder.Plan{}
		}
		return ladder.Plan{Depth: ladder.CeilDiv(s[1], elements) + inTile, Steps: []ladder.Step{{
			Entry: entry, Grid: gpu.Dim{X: ladder.CeilDiv(s[0], rows)}, Block: gpu.Dim{X: threads},
			Args: []any{"x", "y", uint32(s[0]), uint32(s[1]), flag(exclusive)},
		}}}
	}
}
