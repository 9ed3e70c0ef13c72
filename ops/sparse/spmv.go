package sparse

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// SpMV multiplies a sparse matrix by a vector: y = A x.
//
// A row without entries gives 0. Entries are multiplied as they are: a stored 0 and a NaN
// of x give NaN, and what is not stored is no term. y is written and never read.
//
// Shapes: offsets (rows + 1), columns and values (nnz), x (columns), y (rows). Types:
// values, x, y float32, offsets and columns int32. Reference float64.
// Error:  |y - ref| <= bound(k) * sum of |terms| for a row of k entries, see Bound, and at
// most 1e-3 of that sum.
// Cost:   8 nnz + 4 (rows + 1) + 4 columns + 4 rows bytes, 2 nnz FLOP: memory bound.
// Source: ours; founding note 001 names sparse products.
var SpMV = &ladder.Operator{
	Name: "spmv", Folder: folder, Files: files, Peers: []string{"sparse.py"},
	Formula: "y = A x, A in CSR",
	Source:  "ours",
	Dims:    []string{"rows", "columns", "nnz"}, MaxDim: most, Valid: shape("spmv"),
	Inputs: func(s ladder.Size) []ladder.Tensor {
		return append(inputsOf(s[0], s[1], s[2]), ladder.Tensor{Name: "x", Len: s[1]})
	},
	Outputs:     func(s ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "y", Len: s[0], Judge: sumOfTerms}} },
	ValidInputs: checkGiven("spmv"),
	Reference: func(stop ladder.Stop, s ladder.Size, inputs []ladder.Values) []ladder.Expected {
		m, x := given(s[0], s[1], inputs), inputs[3].([]float32)
		e := newSums(s[0])
		stop.Pieces(s[0], func(from, to int) {
			for r := from; r < to; r++ {
				for i := m.Offsets[r]; i < m.Offsets[r+1]; i++ {
					e.add(r, float64(m.Values[i])*float64(x[m.Index[i]]))
				}
			}
		})
		return []ladder.Expected{e.Expected}
	},
	Data:  withVector(matrices),
	Cases: spmvCases(),
	Work: func(s ladder.Size) ladder.Work {
		return ladder.Work{Bytes: 8*float64(s[2]) + 4*float64(s[0]+1) + 4*float64(s[1]) + 4*float64(s[0]), Operations: 2 * float64(s[2])}
	},
	Variants: []ladder.Variant{
		{Name: "spmv_scalar_row", Adds: "one thread for each row", Source: "ours", Plan: rowPlan(1)},
		{Name: "spmv_warp_row", Adds: "one warp for each row: lanes read neighbours", Source: "ours", Plan: rowPlan(32)},
		{Name: "spmv_vector_row", Adds: "as many lanes per row as the row has entries on average", Source: "ours", Plan: vectorPlan},
		{Name: "spmv_vec4", Adds: "16 bytes per load, a quarter as many lanes per row, and two rows of a lane in flight", Source: "ours", Plan: vec4Plan},
		{Name: "spmv_vec4_ahead", Adds: "a warp goes on to further rows, and loads their entries before it adds up these; blocks that start later take the last rows", Source: "ours", Plan: aheadPlan},
		{Name: "spmv_stream", Adds: "a block streams the rows that begin in 2048 entries through shared memory, 16 bytes per load", Source: "ours", Plan: streamPlan},
		{Name: "spmv_merge_path", Adds: "rows are split: every thread has 8 steps of the merge of row ends and entries", Source: "ours", Plan: mergePlan},
		{
			Name: "spmv_hot_columns", Adds: "x of the columns with most entries is in shared memory; a warp walks the path, and a lane has a row's end",
			Source: "ours", Module: "hot", Needs: gpu.Compute{Major: 8}, Refuses: tooWide, Plan: hotPlan,
		},
	},
}

// SpMVCOO is SpMV of a matrix of triples, in any order; equal ones add up.
//
// Shapes: row, columns and values (nnz), x (columns), y (rows). Types and error: as SpMV.
// Cost:   12 nnz + 4 columns + 4 rows bytes, 2 nnz FLOP: memory bound where rows are
// sorted, bound by atomics where not.
// Source: ours.
var SpMVCOO = &ladder.Operator{
	Name: "spmv_coo", Module: "spmv", Folder: folder, Files: files, Peers: []string{"sparse.py"},
	Formula: "y = A x, A in COO",
	Source:  "ours",
	Dims:    []string{"rows", "columns", "nnz"}, MaxDim: most, Valid: shape("spmv_coo"),
	Inputs: func(s ladder.Size) []ladder.Tensor {
		return []ladder.Tensor{
			{Name: "row", Len: s[2], Type: gpu.Int32, High: float64(s[0])}, {Name: "columns", Len: s[2], Type: gpu.Int32},
			{Name: "values", Len: s[2]}, {Name: "x", Len: s[1]},
		}
	},
	Outputs: SpMV.Outputs,
	ValidInputs: func(s ladder.Size, inputs []ladder.Values) error {
		return named("spmv_coo", checkIndices("row", inputs[0].([]int32), s[0]), checkIndices("columns", inputs[1].([]int32), s[1]))
	},
	Reference: func(stop ladder.Stop, s ladder.Size, inputs []ladder.Values) []ladder.Expected {
		row, column, v, x := inputs[0].([]int32), inputs[1].([]int32), inputs[2].([]float32), inputs[3].([]float32)
		e := newSums(s[0])
		stop.Pieces(len(row), func(from, to int) {
			for i := from; i < to; i++ {
				e.add(int(row[i]), float64(v[i])*float64(x[column[i]]))
			}
		})
		return []ladder.Expected{e.Expected}
	},
	Data:  asTriples(matrices),
	Cases: cooCases,
	Work: func(s ladder.Size) ladder.Work {
		return ladder.Work{Bytes: 12*float64(s[2]) + 4*float64(s[1]) + 4*float64(s[0]), Operations: 2 * float64(s[2])}
	},
	Variants: []ladder.Variant{
		{Name: "spmv_coo_atomic", Adds: "one thread for each entry, an atomic addition for each", Source: "ours", Plan: cooPlan(1)},
		{Name: "spmv_coo_segmented", Adds: "neighbouring lanes of one row add up first", Source: "ours", Plan: cooPlan(1)},
		{Name: "spmv_coo_runs", Adds: "eight entries per lane in loads of 16 bytes", Source: "ours", Plan: cooPlan(8)},
	},
}

// sums are sums of terms, each with its magnitude and number of terms.
type sums struct{ ladder.Expected }

func newSums(n int) sums {
	return sums{ladder.Expected{Value: make([]float64, n), Magnitude: make([]float64, n), Terms: make([]int32, n)}}
}

func (s sums) add(i int, term float64) {
	s.Value[i] += term
	s.Terms[i]++
	if size := math.Abs(term); size <= math.MaxFloat64 {
		s.Magnitude[i] += size
	}
}

// step is a launch of so many threads in blocks of 256.
func step(entry string, threads int, args ...any) ladder.Step {
	return ladder.Step{Entry: entry, Grid: gpu.Dim{X: max(1, ladder.CeilDiv(threads, 256))}, Block: gpu.Dim{X: 256}, Args: args}
}

// product are the arguments of all kernels of a matrix in CSR.
func product(more ...any) []any {
	return append([]any{"offsets", "columns", "values", "x", "y"}, more...)
}

// rowPlan gives each row so many lanes.
func rowPlan(lanes int) ladder.Planner {
	return func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
		if s[0] == 0 {
			return ladder.Plan{}
		}
		return ladder.Plan{Depth: s[2], Steps: []ladder.Step{step(entry, s[0]*lanes, product(uint32(s[0]))...)}}
	}
}

func vectorPlan(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	if s[0] == 0 {
		return ladder.Plan{}
	}
	shift := 0
	for shift < 5 && s[0]<<shift < s[2] {
		shift++
	}
	return ladder.Plan{Depth: s[2], Steps: []ladder.Step{step(entry, s[0]<<shift, product(uint32(s[0]), uint32(shift))...)}}
}

// vec4Plan gives a row a lane for each 4 entries that it has on average.
func vec4Plan(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	if s[0] == 0 {
		return ladder.Plan{}
	}
	shift := vec4Shift(s)
	threads := ladder.CeilDiv(s[0], 2*(32>>shift)) * 32 // two rows for each group of a warp
	return ladder.Plan{Depth: s[2], Steps: []ladder.Step{step(entry, threads, product(uint32(s[0]), uint32(s[2]), uint32(shift))...)}}
}

func vec4Shift(s ladder.Size) (shift int) {
	for shift < 5 && s[0]<<(shift+2) < s[2] {
		shift++
	}
	return shift
}

// aheadPlan has six blocks a multiprocessor, or as many as have rows. Of more tiles than these
// have warps, 6 % are for blocks of 16 tiles that begin where one of the first has ended.
func aheadPlan(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
	if s[0] == 0 {
		return ladder.Plan{}
	}
	shift := vec4Shift(s)
	tiles := ladder.CeilDiv(s[0], 32>>shift)
	resident, early, blocks := ladder.CeilDiv(tiles, 8), tiles, 0
	if most := 6 * info.SMs; resident > most {
		late := tiles * 6 / 100
		resident, early, blocks = most, tiles-late, ladder.CeilDiv(late, 16)
	}
	return ladder.Plan{Depth: s[2], Steps: []ladder.Step{
		step(entry, (resident+blocks)*256, product(uint32(s[0]), uint32(s[2]), uint32(shift), uint32(resident), uint32(early))...),
	}}
}

// Entries, or steps of the merge path, of a block of spmv.cu.
const tile = 2048

func streamPlan(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	if s[0] == 0 {
		return ladder.Plan{}
	}
	chunks := max(1, ladder.CeilDiv(s[2], tile))
	return ladder.Plan{
		Depth:   s[2],
		Scratch: []ladder.Tensor{{Name: "first", Len: chunks + 1, Type: gpu.Uint32}},
		Steps: []ladder.Step{
			step(entry, chunks+1, "offsets", "first", uint32(s[0]), uint32(chunks)),
			step(entry+"_2", chunks*256, product("first")...),
		},
	}
}

func mergePlan(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	if s[0] == 0 {
		return ladder.Plan{}
	}
	tiles := ladder.CeilDiv(s[0]+s[2], tile)
	return ladder.Plan{
		Depth: s[2], Atomics: tiles,
		Scratch: []ladder.Tensor{
			{Name: "start", Len: tiles + 1, Type: gpu.Uint32}, {Name: "carry_row", Len: tiles, Type: gpu.Int32}, {Name: "carry", Len: tiles},
		},
		Steps: []ladder.Step{
			step(entry, tiles+1, "offsets", "start", uint32(s[0]), uint32(s[2]), uint32(tiles)),
			step(entry+"_2", tiles*256, product("start", "carry_row", "carry", uint32(s[0]), uint32(s[2]))...),
			step(entry+"_3", tiles, "carry_row", "carry", "y", uint32(s[0]), uint32(tiles)),
		},
	}
}

// mostHot is the largest number of columns of spmv_hot_columns, which has a counter of 2 bytes
// for each.
const mostHot = 1 << 25

func tooWide(s ladder.Size) error {
	if s[1] > mostHot {
		return fmt.Errorf("ops: spmv_hot_columns: columns = %d: %w, expected at most %d: use spmv_merge_path", s[1], gpu.ErrUnsupported, mostHot)
	}
	return nil
}

// hotPlan has a block for each multiprocessor, whose warps take shares of the merge path.
func hotPlan(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
	if s[0] == 0 || s[2] == 0 {
		return ladder.Plan{}
	}
	const samples, turns = 1 << 19, 24 // entries that are counted, shares of a warp at most
	width := max(6, bits.Len(uint(s[1]-1)))
	buckets := min(14, width-4) // the logarithm of their number
	for buckets > 2 && 12<<buckets > info.SharedPerBlockMax {
		buckets--
	}
	logSteps := max(8, bits.Len(uint((s[0]+s[2])/(info.SMs*32*turns))))
	shares := ladder.CeilDiv(s[0]+s[2], 1<<logSteps)
	count := step(entry, (ladder.CeilDiv(s[0], 1024)+ladder.CeilDiv(min(s[2], samples), 256))*256, "offsets", "columns", "start", "count", uint32(s[0]), uint32(s[2]), uint32(logSteps), uint32(shares), uint32(width))
	count.Zero = []string{"count"}
	return ladder.Plan{
		Depth: s[2], Atomics: shares,
		Scratch: []ladder.Tensor{
			{Name: "start", Len: shares + 1, Type: gpu.Uint32}, {Name: "count", Len: 1<<(width-1) + 1, Type: gpu.Uint32},
			{Name: "chosen", Len: 3 << buckets, Type: gpu.Uint32}, {Name: "carry_row", Len: shares, Type: gpu.Int32}, {Name: "carry", Len: shares},
		},
		Steps: []ladder.Step{
			count,
			step(entry+"_2", 32<<buckets, "count", "x", "chosen", uint32(s[1]), uint32(width), uint32(buckets)),
			{
				Entry: entry + "_3", Grid: gpu.Dim{X: min(info.SMs, ladder.CeilDiv(shares, 32))}, Block: gpu.Dim{X: 1024}, Shared: 12 << buckets,
				Args: product("start", "chosen", "carry_row", "carry", "count", uint32(s[0]), uint32(s[2]), uint32(logSteps), uint32(shares), uint32(width), uint32(buckets)),
			},
			step(entry+"_4", shares, "carry_row", "carry", "y", uint32(s[0]), uint32(shares)),
		},
	}
}

// cooPlan gives each thread so many entries.
func cooPlan(entries int) ladder.Planner {
	return func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
		if s[0] == 0 || s[2] == 0 {
			return ladder.Plan{}
		}
		one := step(entry, ladder.CeilDiv(s[2], entries), "row", "columns", "values", "x", "y", uint32(s[2]))
		one.Zero = []string{"y"}
		return ladder.Plan{Depth: s[2], Atomics: s[2], Steps: []ladder.Step{one}}
	}
}

// withVector adds uniform x to matrices in CSR; that of "special" has NaN and infinities.
func withVector(all []matrix) (sets []ladder.DataSet) {
	for _, d := range all {
		sets = append(sets, ladder.DataSet{Name: d.name, Text: d.text, Make: func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
			m := d.make(stop, tensors[0].Len-1, tensors[3].Len, tensors[1].Len, random)
			return append([]ladder.Values{m.Offsets, m.Index, m.Values}, d.dense(stop, tensors[3], random))
		}})
	}
	return sets
}

// asTriples is withVector in COO, in the order of the rows, and "shuffled" in none.
func asTriples(all []matrix) (sets []ladder.DataSet) {
	shuffled := all[1]
	shuffled.name, shuffled.text = "shuffled", shuffled.text+", in a random order"
	for _, d := range append(slices.Clone(all), shuffled) {
		sets = append(sets, ladder.DataSet{Name: d.name, Text: d.text, Make: func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
			m := d.make(stop, int(tensors[0].High), tensors[3].Len, tensors[1].Len, random)
			row := m.rowOfEach(stop)
			if d.name == "shuffled" {
				random.Shuffle(len(row), func(i, j int) {
					row[i], row[j] = row[j], row[i]
					m.Index[i], m.Index[j] = m.Index[j], m.Index[i]
					m.Values[i], m.Values[j] = m.Values[j], m.Values[i]
				})
			}
			return append([]ladder.Values{row, m.Index, m.Values}, d.dense(stop, tensors[3], random))
		}})
	}
	return sets
}
