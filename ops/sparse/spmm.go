package sparse

import (
	"fmt"
	"math/rand/v2"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// SpMM multiplies a sparse matrix by a dense one: C = A B. B and C are row-major with k
// columns. Rows, entries and NaN are those of SpMV.
//
// Shapes: offsets (rows + 1), columns and values (nnz), b (columns, k), c (rows, k).
// Types: values, b, c float32, offsets and columns int32. Reference float64.
// Error:  that of SpMV.
// Cost:   8 nnz + 4 (rows + 1) + 4 columns k + 4 rows k bytes, 2 nnz k FLOP. Each entry
// reads a row of B: bound by L2 or shared memory.
// Source: ours; founding note 001 names sparse products.
var SpMM = &ladder.Operator{
	Name: "spmm", Folder: folder, Files: files, Peers: []string{"sparse.py"},
	Formula: "C = A B, A in CSR, B row-major",
	Source:  "ours",
	Dims:    []string{"rows", "columns", "nnz", "k"}, MaxDim: most,
	Valid: func(s ladder.Size) error {
		for i, name := range []string{"rows", "columns"} {
			if s[3] > 0 && s[i] > most/s[3] {
				return fmt.Errorf("ops: spmm: %s * k = %d * %d: %w, expected at most %d elements: split the columns of B", name, s[i], s[3], gpu.ErrArgument, most)
			}
		}
		return shape("spmm")(s)
	},
	Inputs: func(s ladder.Size) []ladder.Tensor {
		return append(inputsOf(s[0], s[1], s[2]), ladder.Tensor{Name: "b", Len: s[1] * s[3]})
	},
	Outputs: func(s ladder.Size) []ladder.Tensor {
		return []ladder.Tensor{{Name: "c", Len: s[0] * s[3], Judge: sumOfTerms}}
	},
	ValidInputs: checkGiven("spmm"),
	Reference: func(stop ladder.Stop, s ladder.Size, inputs []ladder.Values) []ladder.Expected {
		m, b, k := given(s[0], s[1], inputs), inputs[3].([]float32), s[3]
		e := newSums(s[0] * k)
		rows(stop, s[0], func(r int) {
			for i := m.Offsets[r]; i < m.Offsets[r+1]; i++ {
				v, of := float64(m.Values[i]), b[int(m.Index[i])*k:]
				for j := range k {
					e.add(r*k+j, v*float64(of[j]))
				}
			}
		})
		return []ladder.Expected{e.Expected}
	},
	Data: withDense(matrices),
	Cases: append([]ladder.Case{
		{Size: ladder.Size{0, 0, 0, 0}}, {Size: ladder.Size{1, 1, 1, 1}}, {Size: ladder.Size{5, 7, 0, 3}}, {Size: ladder.Size{5, 7, 9, 0}},
		{Size: ladder.Size{33, 65, 300, 31}}, {Size: ladder.Size{257, 129, 900, 33}}, {Size: ladder.Size{40, 200, 1999, 128}}, {Size: ladder.Size{20, 70, 500, 132}},
		{Size: ladder.Size{67, 131, 1201, 12}, Start: 1}, {Size: ladder.Size{300, 700, 2500, 132}},
		{Size: ladder.Size{40, 2600, 5000, 36}}, {Size: ladder.Size{40, 2600, 5000, 36}, Data: "unsorted"}, {Size: ladder.Size{9, 2545, 5000, 68}}, {Size: ladder.Size{515, 1696, 9000, 4}},
		{Size: ladder.Size{1, 1, 1, 4}}, {Size: ladder.Size{40, 405, 30, 8}, Data: "huge rows"}, {Size: ladder.Size{9, 2425, 5000, 68}}, {Size: ladder.Size{513, 1616, 9000, 4}},
		{Size: ladder.Size{1024, 1024, 10_240, 256}, Long: true},
	}, everyMatrix(149, 151, 2003, 20)...),
	Work: func(s ladder.Size) ladder.Work {
		return ladder.Work{Bytes: 8*float64(s[2]) + 4*float64(s[0]+1) + 4*(float64(s[0])+float64(s[1]))*float64(s[3]), Operations: 2 * float64(s[2]) * float64(s[3])}
	},
	Variants: []ladder.Variant{
		{Name: "spmm_row", Adds: "one thread for each element of C", Source: "ours", Plan: densePlan(1)},
		{Name: "spmm_warp", Adds: "a warp has 32 columns of a row, and shares 32 entries among its lanes", Source: "ours", Plan: densePlan(32)},
		{Name: "spmm_vec4", Adds: "128 columns per warp: four per lane, four loads of 16 bytes in flight", Source: "ours", Plan: densePlan(128)},
		{
			Name: "spmm_panels", Adds: "panels of 64 rows of B in shared memory for 256 rows of C in registers; rows sorted by column",
			Source: "ours", Module: "panels", Needs: gpu.Compute{Major: 8}, Plan: panelPlan(1, 2),
		},
		{
			Name: "spmm_multicast", Adds: "the copy engine writes a panel to both blocks of a cluster at once, three panels ahead",
			Source: "ours", Module: "multicast", Needs: gpu.Compute{Major: 9}, Plan: panelPlan(2, 4),
		},
		{
			Name: "spmm_tall", Adds: "panels of 424 rows and 64 columns: each row has enough entries in each panel; a first launch lists them",
			Source: "ours", Module: "spmm_tall", Needs: gpu.Compute{Major: 9}, Refuses: tall16.refuses, Plan: tall16.plan,
		},
		{
			Name: "spmm_tall_32_warps", Adds: "32 warps for the 512 rows of a block, and one entry per iteration in place of two: panels of 404 rows",
			Source: "ours", Module: "spmm_tall_32_warps", Needs: gpu.Compute{Major: 9}, Refuses: tall32.refuses, Plan: tall32.plan,
		},
	},
}

// everyMatrix are cases of one size with every data set.
func everyMatrix(size ...int) (all []ladder.Case) {
	for _, d := range matrices {
		all = append(all, ladder.Case{Size: size, Data: d.name})
	}
	return all
}

// withDense adds a uniform matrix B to matrices in CSR.
func withDense(all []matrix) (sets []ladder.DataSet) {
	for _, d := range all {
		sets = append(sets, ladder.DataSet{Name: d.name, Text: d.text, Make: func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
			m := d.make(stop, tensors[0].Len-1, int(tensors[1].High), tensors[1].Len, random)
			return append([]ladder.Values{m.Offsets, m.Index, m.Values}, d.dense(stop, tensors[3], random))
		}})
	}
	return sets
}

// matrixProduct are the arguments of all kernels of SpMM.
func matrixProduct(more ...any) []any {
	return append([]any{"offsets", "columns", "values", "b", "c"}, more...)
}

// densePlan gives a thread one element of C, or a warp so many columns of a row.
func densePlan(columns int) ladder.Planner {
	return func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
		threads := s[0] * s[3]
		if threads == 0 {
			return ladder.Plan{}
		}
		if columns > 1 {
			threads = s[0] * ladder.CeilDiv(s[3], columns) * 32
		}
		return ladder.Plan{Depth: s[2], Steps: []ladder.Step{step(entry, threads, matrixProduct(uint32(s[0]), uint32(s[3]))...)}}
	}
}

// panelPlan gives a block 256 rows and 128 columns of C, in clusters of so many blocks of
// neighbouring rows, with so many panels in shared memory.
func panelPlan(cluster, panels int) ladder.Planner {
	return func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
		if s[0] == 0 || s[3] == 0 {
			return ladder.Plan{}
		}
		return ladder.Plan{Depth: s[2], Steps: []ladder.Step{{
			Entry: entry, Grid: gpu.Dim{X: ladder.CeilDiv(s[0], 256*cluster) * cluster * ladder.CeilDiv(s[3], 128)}, Block: gpu.Dim{X: 512}, Shared: panels * 64 * 128 * 4,
			Args: matrixProduct(uint32(s[0]), uint32(s[1]), uint32(s[3])),
		}}}
	}
}

// Constants of spmm_tall.cu.
const (
	tallColumns = 64              // = wide: of B in a panel
	tallRows    = 424             // = tall: of B in a panel
	tallBox     = 212             // = box: rows of a copy
	tallWarps   = 16              // = warps
	tallSteps   = 8               // = steps: of four rows of C a warp
	tallBytes   = 4 * (12*8 + 16) // = step_bytes
)

// Constants of spmm_tall_32_warps.cu.
const (
	tall32Rows  = 404             // = tall
	tall32Box   = 202             // = box
	tall32Warps = 32              // = warps
	tall32Steps = 4               // = steps
	tall32Bytes = 4 * (10*8 + 16) // = step_bytes
)

// tall is the shape of a rung with tall panels of B: rows of a panel and of a copy, warps of a
// block, steps of four rows of C a warp, and bytes of the lists of a step.
type tall struct{ rows, box, warps, steps, bytes int }

var (
	tall16 = tall{tallRows, tallBox, tallWarps, tallSteps, tallBytes}
	tall32 = tall{tall32Rows, tall32Box, tall32Warps, tall32Steps, tall32Bytes}
)

// refuses refuses rows of B that do not begin at multiples of 16 bytes, and matrices so wide
// that a row has less than an entry a panel.
func (t tall) refuses(s ladder.Size) error {
	panels := ladder.CeilDiv(s[1], t.rows)
	switch {
	case s[3]%4 != 0:
		return fmt.Errorf("%w: k = %d, expected a multiple of 4: pick spmm_vec4", gpu.ErrUnsupported, s[3])
	case panels > 500 || panels*s[0] > max(s[2], 1<<20) || (panels+1)*s[0] > most-s[2]:
		return fmt.Errorf("%w: %d panels of B for %d rows with %d entries, expected at most 500 panels, and an entry for each row and panel: pick spmm_vec4", gpu.ErrUnsupported, panels, s[0], s[2])
	}
	return nil
}

// plan lists the entries by panels of B, and gives a block 4 * warps * steps rows and 64
// columns of C.
func (t tall) plan(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	if s[0] == 0 || s[2] == 0 || s[3] == 0 {
		return ladder.Plan{}
	}
	panels := ladder.CeilDiv(s[1], t.rows)
	starts := (panels + 1) * s[0]
	b := ladder.TensorMap{Tensor: "b", Rows: s[1], Columns: s[3], LD: s[3], Box: [2]int{t.box, tallColumns}}
	return ladder.Plan{
		Depth:   s[2],
		Scratch: []ladder.Tensor{{Name: "entries", Len: 2 * (s[2] + starts), Type: gpu.Uint32}, {Name: "starts", Len: starts, Type: gpu.Int32}},
		Steps: []ladder.Step{
			{
				Entry: entry, Grid: gpu.Dim{X: ladder.CeilDiv(s[0], 8)}, Block: gpu.Dim{X: 256}, Shared: 8 * 2 * (panels + 1) * 4,
				Args: []any{"offsets", "columns", "values", "entries", "starts", uint32(s[0]), int32(panels)},
			},
			{
				Entry: entry + "_2", Grid: gpu.Dim{X: ladder.CeilDiv(s[0], 4*t.steps*t.warps) * ladder.CeilDiv(s[3], tallColumns)}, Block: gpu.Dim{X: t.warps * 32},
				Shared: 2*t.rows*tallColumns*4 + t.warps*2*t.bytes + 32,
				Args:   []any{b, "entries", "starts", "c", uint32(s[0]), uint32(s[1]), uint32(s[3]), int32(panels)},
			},
		},
	}
}
