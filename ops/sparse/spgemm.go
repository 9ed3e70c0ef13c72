package sparse

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// SpGEMM multiplies two sparse n x n matrices: C = A B, in CSR with rows sorted by column.
//
// The columns of row r of C are those of any product of its entries, also where the sum is
// 0; equal ones are one entry. Two passes, one allocation: count is the number of entries
// that C has, also where columns and values have room for fewer, of which then those that
// fit are written. A call with room = 0 counts, a second one writes.
//
// Shapes: a_offsets, b_offsets and offsets (n + 1), a_columns, a_values, b_columns and
// b_values (nnz), columns and values (room), count (1). Types: values float32, offsets and
// columns int32, count uint32. Reference float64.
// Error:  offsets, columns and count none; a value of k products as a row of SpMV.
// Cost:   about 2 nnz^2 / n FLOP and 16 bytes per product for evenly spread entries; the
// least traffic is 8 bytes for each entry of A, B and C.
// Source: ours; founding note 001 names sparse products.
var SpGEMM = &ladder.Operator{
	Name: "spgemm", Folder: folder, Files: files, Peers: []string{"sparse.py"},
	Formula: "C = A B, all in CSR",
	Source:  "ours",
	Dims:    []string{"n", "nnz", "room"}, MaxDim: most,
	Valid: func(s ladder.Size) error {
		switch {
		case s[0] == 0 && s[1] > 0:
			return fmt.Errorf("ops: spgemm: nnz = %d: %w, expected 0 for matrices of 0 x 0", s[1], gpu.ErrArgument)
		case s[0] > 1<<30:
			return fmt.Errorf("ops: spgemm: n = %d: %w, expected at most 2^30: split the rows of A and the columns of B", s[0], gpu.ErrArgument)
		}
		return nil
	},
	Inputs: func(s ladder.Size) (all []ladder.Tensor) {
		for _, of := range []string{"a_", "b_"} {
			for _, t := range inputsOf(s[0], s[0], s[1]) {
				t.Name = of + t.Name
				all = append(all, t)
			}
		}
		return all
	},
	Outputs: func(s ladder.Size) []ladder.Tensor {
		return []ladder.Tensor{
			{Name: "offsets", Len: s[0] + 1, Type: gpu.Int32},
			{Name: "columns", Len: s[2], Type: gpu.Int32, Count: "count"},
			{Name: "values", Len: s[2], Count: "count", Judge: sumOfTerms},
			{Name: "count", Len: 1, Type: gpu.Uint32},
		}
	},
	ValidInputs: func(s ladder.Size, inputs []ladder.Values) error {
		a, b := given(s[0], s[0], inputs), given(s[0], s[0], inputs[3:])
		if err := named("spgemm", checkOffsets("a_offsets", a.Offsets, s[1]), checkIndices("a_columns", a.Index, s[0]), checkOffsets("b_offsets", b.Offsets, s[1]), checkIndices("b_columns", b.Index, s[0])); err != nil {
			return err
		}
		if n := a.Products(b); n > most {
			return fmt.Errorf("ops: spgemm: %d products: %w, expected at most %d: offsets of C are int32, split the rows of A", n, gpu.ErrArgument, most)
		}
		return nil
	},
	Reference: func(stop ladder.Stop, s ladder.Size, inputs []ladder.Values) []ladder.Expected {
		offsets, columns, e := multiply(stop, given(s[0], s[0], inputs), given(s[0], s[0], inputs[3:]))
		return []ladder.Expected{{Exact: offsets}, {Exact: columns}, e, {Exact: []uint32{uint32(len(columns))}}}
	},
	Data: func() (sets []ladder.DataSet) {
		for _, at := range []int{1, 0, 2, 3, 4, 5, 6} { // "random" first
			d := matrices[at]
			sets = append(sets, ladder.DataSet{Name: d.name, Text: d.text, Make: func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) (all []ladder.Values) {
				for range 2 {
					m := d.make(stop, tensors[0].Len-1, tensors[0].Len-1, tensors[1].Len, random)
					all = append(all, m.Offsets, m.Index, m.Values)
				}
				return all
			}})
		}
		return sets
	}(),
	Cases: append([]ladder.Case{
		{Size: ladder.Size{0, 0, 0}}, {Size: ladder.Size{1, 1, 1}}, {Size: ladder.Size{1, 9, 2}}, {Size: ladder.Size{40, 0, 3}}, {Size: ladder.Size{100, 300, 0}},
		{Size: ladder.Size{100, 700, 900}}, {Size: ladder.Size{33, 300, 1100}}, {Size: ladder.Size{9, 700, 60}},
		{Size: ladder.Size{80, 400, 3000}, Start: 1},
		{Size: ladder.Size{8, 181, 70}}, {Size: ladder.Size{2, 128, 4}}, // some 512 products a row, some 4096
		{Size: ladder.Size{1024, 6144, 100_000}, Data: "rmat", Long: true},
	}, everyMatrix(100, 500, 6000)...),
	Work: func(s ladder.Size) ladder.Work {
		products := float64(s[1]) * float64(s[1]) / math.Max(1, float64(s[0]))
		return ladder.Work{Bytes: 16*float64(s[1]) + 12*float64(s[0]+1) + 8*math.Min(products, float64(s[2])), Operations: 2 * products}
	},
	Variants: []ladder.Variant{
		{Name: "spgemm_sort", Adds: "one block for each row: its products are sorted in shared memory, equal columns added", Source: "ours", Plan: productPlan(rowsByBlocks)},
		{Name: "spgemm_global_hash", Adds: "equal columns meet in a hash table in global memory: fewer are sorted", Source: "ours", Plan: productPlan(globalTables)},
		{Name: "spgemm_shared_hash", Adds: "the table is in shared memory, of as many places as the row needs", Source: "ours", Plan: productPlan(rowsByBlocks)},
		{Name: "spgemm_binned", Adds: "rows binned by products: few for a warp, many for a block", Source: "ours", Plan: productPlan(binned)},
		{Name: "spgemm_bitmap", Adds: "a bitmap of columns in shared memory gives each sum its place: no table, no sort", Source: "ours", Module: "spgemm_bitmap", Plan: productPlan(bitmaps)},
	},
}

// Products is the number of products of A B: the FLOP of SpGEMM are twice that.
func (a CSR) Products(b CSR) (n int64) {
	for _, k := range a.Index {
		n += int64(b.Offsets[k+1] - b.Offsets[k])
	}
	return n
}

// multiply is Gustavson's algorithm: a row of C at a time, in an array of its columns.
func multiply(stop ladder.Stop, a, b CSR) (offsets, columns []int32, e ladder.Expected) {
	offsets, columns = make([]int32, a.Rows+1), []int32{}
	sums, place := newSums(0), make([]int32, b.Columns) // 1 + where the column is in the sums of the row
	for r := range a.Rows {
		if r%64 == 0 && stop.Now() {
			break
		}
		first := len(columns)
		for i := a.Offsets[r]; i < a.Offsets[r+1]; i++ {
			k := a.Index[i]
			for j := b.Offsets[k]; j < b.Offsets[k+1]; j++ {
				if c := b.Index[j]; place[c] == 0 {
					place[c], columns = 1, append(columns, c)
				}
			}
		}
		row := columns[first:]
		slices.Sort(row)
		for i, c := range row {
			place[c] = int32(1 + i)
		}
		sums.Value, sums.Magnitude, sums.Terms = append(sums.Value, make([]float64, len(row))...), append(sums.Magnitude, make([]float64, len(row))...), append(sums.Terms, make([]int32, len(row))...)
		for i := a.Offsets[r]; i < a.Offsets[r+1]; i++ {
			k := a.Index[i]
			for j := b.Offsets[k]; j < b.Offsets[k+1]; j++ {
				sums.add(first+int(place[b.Index[j]])-1, float64(a.Values[i])*float64(b.Values[j]))
			}
		}
		for _, c := range row {
			place[c] = 0
		}
		offsets[r+1] = int32(len(columns))
	}
	return offsets, columns, sums.Expected
}

// passes are the launches of the first and the second pass, and what comes before them.
type passes struct {
	before       []ladder.Step
	count, write ladder.Step
	scan         string // entry that makes offsets of counts, "" for spgemm_offsets
	scratch      []ladder.Tensor
}

// productPlan counts, scans the counts, and writes.
func productPlan(of func(entry string, s ladder.Size, info gpu.Info, args []any) passes) ladder.Planner {
	return func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
		n := s[0]
		if n == 0 {
			return ladder.Plan{}
		}
		args := []any{"a_offsets", "a_columns", "a_values", "b_offsets", "b_columns", "b_values", "offsets", "columns", "values", uint32(n), uint32(s[2]), lanesOf(s)}
		p := of(entry, s, info, args)
		scan := ladder.Step{Entry: cmp.Or(p.scan, "spgemm_offsets"), Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1024}, Args: []any{"offsets", "count", uint32(n)}}
		return ladder.Plan{Depth: most, Atomics: s[1], Scratch: p.scratch, Steps: append(p.before, p.count, scan, p.write)}
	}
}

// lanesOf is log2 of the lanes for a row of B: as many as it has entries on average.
func lanesOf(s ladder.Size) uint32 {
	shift := 0
	for shift < 5 && s[0]<<shift < s[1] {
		shift++
	}
	return uint32(shift)
}

// rowsByBlocks is a block a row.
func rowsByBlocks(entry string, s ladder.Size, _ gpu.Info, args []any) passes {
	return passes{count: step(entry, s[0]*256, args...), write: step(entry+"_2", s[0]*256, args...)}
}

// globalTables are at most four blocks a multiprocessor, each with a table for any row.
func globalTables(entry string, s ladder.Size, info gpu.Info, args []any) passes {
	blocks, places := min(s[0], 4*info.SMs), max(32, 1<<bits.Len(uint(2*s[0]-1)))
	args = append(args, "table", "sums", uint32(places))
	return passes{
		count: step(entry, blocks*256, args...), write: step(entry+"_2", blocks*256, args...),
		scratch: []ladder.Tensor{{Name: "table", Len: blocks * places, Type: gpu.Int32}, {Name: "sums", Len: blocks * places}},
	}
}

// binned lists rows by the number of their products first. Blocks without rows end at once.
func binned(entry string, s ladder.Size, _ gpu.Info, args []any) passes {
	args = append(args, "list", "sizes")
	bin := step(entry, s[0]*32, args...)
	bin.Zero = []string{"sizes"}
	return passes{
		before: []ladder.Step{bin}, count: step(entry+"_2", s[0]*256, args...), write: step(entry+"_3", s[0]*256, args...),
		scratch: []ladder.Tensor{{Name: "list", Len: s[0], Type: gpu.Uint32}, {Name: "sizes", Len: 2, Type: gpu.Uint32}},
	}
}

// bitmaps are a warp a row; entries of another module, which scans, too.
func bitmaps(entry string, s ladder.Size, _ gpu.Info, args []any) passes {
	return passes{count: step(entry, s[0]*32, args...), scan: entry + "_2", write: step(entry+"_3", s[0]*32, args...)}
}
