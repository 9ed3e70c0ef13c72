// Package gemm multiplies matrices: float32, tensor cores, batches, and a layer of a
// network. Its operators are Operator, TF32, BF16, FP16, Batched and BiasReLU;
// Multiply and its siblings run them on buffers. Package ops lists the operators. It
// must never import ops/bench.
package gemm

import (
	"fmt"
	"math"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

//go:generate go run ../../gpu/nvrtc -arch sm_75 -release 12.0 gemm.cu gemm_tensor.cu gemm_batched.cu gemm_bias_relu.cu
//go:generate go run ../../gpu/nvrtc -arch sm_80 -release 12.0 gemm.cu gemm_tensor.cu gemm_batched.cu gemm_bias_relu.cu
//go:generate go run ../../gpu/nvrtc -arch sm_90a -release 12.0 gemm_hopper.cu gemm_specialized.cu gemm_cluster.cu

// Operator multiplies matrices: D = A B.
var Operator = withCases(With(Options{Alpha: 1}), cases)

// Options are the parameters of a product besides its size.
type Options struct {
	Alpha, Beta   float32
	LDA, LDB, LDC int // elements from row to row, of D as of C; 0 for rows without a gap
}

// With is the operator of a product with a sum: D = alpha A B + beta C,
// row-major. C is an input where beta is not 0.
//
// Shapes: a (m, k), b (k, n), c and d (m, n). Types: float32, reference float64.
// Error:  |d - ref| <= bound(k + 3) * (|alpha| sum|a||b| + |beta c|), see Bound.
// Cost:   2mnk flops, 4(mk + kn + mn) bytes: bound by arithmetic where m, n and
// k are in the hundreds.
// Source: founding note 003, which follows S. Gray's maxas.
func With(o Options) *ladder.Operator {
	operator := &ladder.Operator{
		Name:       "gemm",
		Folder:     folder,
		Files:      files,
		Peers:      []string{"gemm.cu", "gemm.py"},
		Formula:    "D = alpha A B + beta C",
		Parameters: o.parameters(), Remake: remake(With),
		Source:    "founding note 003",
		Dims:      []string{"m", "n", "k"},
		MaxDim:    math.MaxInt32,
		Inputs:    o.inputs,
		Outputs:   func(s ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "d", Len: o.shapes(s).d.len()}} },
		Valid:     o.valid,
		Reference: o.reference,
		Exact: func(stop ladder.Stop, s ladder.Size, seed uint64) []ladder.Values {
			random := ladder.NewRandom(seed)
			var inputs []ladder.Values
			for _, t := range o.inputs(s) {
				inputs = append(inputs, signs(stop, t.Len, random))
			}
			return inputs
		},
		Work: func(s ladder.Size) ladder.Work {
			m, n, k := float64(s[0]), float64(s[1]), float64(s[2])
			return ladder.Work{Bytes: 4 * (m*k + k*n + m*n), Operations: 2 * m * n * k, Roof: ladder.Arithmetic}
		},
	}
	operator.Variants = o.variants()
	return operator
}

// Note quotes the paragraph of ops/gemm/notes.md with this beginning, and the table
// below it if the paragraph ends with a colon. An unknown beginning is ErrNotFound.
func Note(beginning string) (ladder.Note, error) { return Operator.Note(beginning) }

// parameters are the options as parameters of the operator.
func (o Options) parameters() []ladder.Parameter {
	return []ladder.Parameter{
		{Name: "alpha", Value: float64(o.Alpha), Default: 1}, {Name: "beta", Value: float64(o.Beta)},
		{Name: "lda", Value: float64(o.LDA), Whole: true}, {Name: "ldb", Value: float64(o.LDB), Whole: true}, {Name: "ldc", Value: float64(o.LDC), Whole: true},
	}
}

// remake makes an operator of other parameters.
func remake(make func(Options) *ladder.Operator) func([]float64) (*ladder.Operator, error) {
	return func(v []float64) (*ladder.Operator, error) {
		return make(Options{Alpha: float32(v[0]), Beta: float32(v[1]), LDA: int(v[2]), LDB: int(v[3]), LDC: int(v[4])}), nil
	}
}

// valid refuses rows that overlap and matrices that are too large to number.
func (o Options) valid(s ladder.Size) error {
	for _, ld := range []struct {
		name, columns string
		ld, least     int
	}{{"lda", "k", o.LDA, s[2]}, {"ldb", "n", o.LDB, s[1]}, {"ldc", "n", o.LDC, s[1]}} {
		if ld.ld != 0 && ld.ld < ld.least || ld.ld < 0 || ld.ld > math.MaxInt32 {
			return fmt.Errorf("ops: gemm: %s = %d: %w, expected at least %s = %d, or 0 for rows without a gap",
				ld.name, ld.ld, gpu.ErrArgument, ld.columns, ld.least)
		}
	}
	shapes := o.shapes(s)
	for _, x := range []matrix{shapes.a, shapes.b, shapes.d} {
		if x.rows > 0 && x.ld > ladder.MostElements/x.rows {
			return fmt.Errorf("ops: gemm: a matrix of %d rows of %d elements: %w, expected at most 2^38 elements",
				x.rows, x.ld, gpu.ErrArgument)
		}
	}
	return nil
}

// gemmShapes are the matrices of a product without their elements.
type shapes struct{ a, b, d matrix }

func (o Options) shapes(s ladder.Size) shapes {
	m, n, k := s[0], s[1], s[2]
	or := func(ld, columns int) int {
		if ld == 0 {
			return columns
		}
		return ld
	}
	return shapes{matrix{rows: m, columns: k, ld: or(o.LDA, k)},
		matrix{rows: k, columns: n, ld: or(o.LDB, n)}, matrix{rows: m, columns: n, ld: or(o.LDC, n)}}
}

func (o Options) inputs(s ladder.Size) []ladder.Tensor {
	shapes := o.shapes(s)
	tensors := []ladder.Tensor{{Name: "a", Len: shapes.a.len()}, {Name: "b", Len: shapes.b.len()}}
	if o.Beta != 0 {
		tensors = append(tensors, ladder.Tensor{Name: "c", Len: shapes.d.len()})
	}
	return tensors
}

func (o Options) variants() []ladder.Variant {
	ladder := append(o.naiveVariants(), o.tiledVariants()...)
	ladder = append(append(ladder, o.layoutVariants()...), o.pipelineVariants()...)
	return append(ladder, o.auto())
}

func (o Options) naiveVariants() []ladder.Variant {
	return []ladder.Variant{
		{
			Name: "cpu_triple_loop", Adds: "float32 in compiled Go on one core: rows, columns, k",
			Source: "003 gemm_example", Plan: o.host, Host: o.tripleLoop, Refuses: tripleLoopRefuses,
			Published: ladder.Published("003 gemm_example", "time"),
		},
		{
			Name: "gemm_uncoalesced", Adds: "one GPU thread an element; a warp walks down a column of D",
			Source: "ours, the mistake that 003 avoids", Plan: o.tiles(32, 32, 32, 32),
		},
		{
			Name: "gemm_naive_16", Adds: "a warp lies along two rows of D: its reads of B are coalesced",
			Source: "003 gemm_baseline_kernel", Plan: o.tiles(16, 16, 16, 16),
			Published: ladder.Published("003 gemm_baseline_kernel", "rate"),
		},
		{
			Name: "gemm_naive_32", Adds: "a warp is one row of D: A is read once a warp",
			Source: "003 gemm_baseline_kernel", Plan: o.tiles(32, 32, 32, 32),
		},
	}
}

func (o Options) tiledVariants() []ladder.Variant {
	return []ladder.Variant{
		{
			Name: "gemm_shared", Joined: true, Adds: "32 x 32 tiles of A and B in shared memory: global memory is read 32 times less",
			Source: "003 1", Plan: o.tiles(32, 32, 32, 32),
		},
		{
			Name: "gemm_tile_1d", Joined: true, Adds: "a thread computes 8 elements of a column: an element of B is used 8 times from a register",
			Source: "003 2", Plan: o.tiles(64, 64, 512, 1),
		},
		{
			Name: "gemm_tile_2d", Joined: true, Adds: "a thread computes 8 x 8 elements: 16 reads of shared memory for 64 products",
			Source: "003 2 and 3", Plan: o.tiles(128, 128, 256, 1),
		},
		{
			Name: "gemm_float4", Adds: "vectors of four; A is transposed on its way into shared memory",
			Source: "003, first listing", Plan: o.tiles(128, 128, 256, 1),
		},
		{
			Name: "gemm_double_buffer", Adds: "two buffers: what comes next is read while the present is multiplied",
			Source: "003 4 and first listing", Plan: o.tiles(128, 128, 256, 1),
			Published: ladder.Published("003 gemm_kernel, first listing", "rate"),
		},
	}
}

func (o Options) layoutVariants() []ladder.Variant {
	return []ladder.Variant{
		{
			Name: "gemm_conflict_free", Adds: "a thread's columns are two groups of four, 64 apart: reads of B no longer conflict; 4 x 4 stores",
			Source: "003, second listing", Plan: o.tiles(128, 128, 256, 1),
			Published: ladder.Published("003 gemm_kernel, second listing", "rate"),
		},
		{
			Name: "gemm_padded", Adds: "rows of A are 4 floats longer in shared memory: the transposing stores no longer conflict",
			Source: "ours", Plan: o.tiles(128, 128, 256, 1),
		},
		{
			Name: "gemm_warp_tile", Adds: "a warp owns 64 x 32 elements; neighbouring lanes share addresses: half the wavefronts",
			Source: "003 on maxas", Plan: o.tiles(128, 128, 256, 1),
		},
	}
}

func (o Options) pipelineVariants() []ladder.Variant {
	return []ladder.Variant{
		{
			Name: "gemm_cp_async", Adds: "B goes to shared memory past the registers, two steps of 16 ahead; whole tiles ask no questions",
			Source: "ours", Needs: ladder.Ampere, Plan: o.staged(128, 128, 256, pipelineBytes),
		},
		{
			Name: "gemm_serpentine", Adds: "the products of a thread follow a serpentine: neighbours share a register",
			Source: "003 on FFMA order", Needs: ladder.Ampere, Plan: o.staged(128, 128, 256, pipelineBytes),
		},
		{
			Name: "gemm_sliced_k", Adds: "tiles of 32 x 64, and the warps of a block cut k in four: a small D fills the GPU",
			Source: "ours", Needs: ladder.Ampere, Plan: o.staged(32, 64, 256, 3*32*(36+64)*4),
		},
		{
			Name: "gemm_sliced_k_16", Adds: "tiles of 16 x 32",
			Source: "ours", Needs: ladder.Ampere, Plan: o.staged(16, 32, 256, 3*64*(20+32)*4),
		},
		{
			Name: "gemm_split_k", Adds: "blocks of 128 x 128 take shares of k, as many as fill the GPU; a second launch adds them",
			Source: "ours", Plan: o.splitK,
		},
		{
			Name: "gemm_wide", Adds: "a thread computes 8 x 16 elements, in a loop of four k that stays in the instruction cache; any size on the fast way",
			Source: "ours", Needs: ladder.Ampere, Plan: o.wide,
		},
		{
			Name: "gemm_sliced_64", Adds: "tiles of 64 x 64, each step along k cut among four slices of two warps",
			Source: "ours", Needs: ladder.Ampere, Plan: o.staged(64, 64, 256, 3*32*(68+64)*4),
		},
		{
			Name: "gemm_sliced_32", Adds: "tiles of 32 x 64, a slice is one warp",
			Source: "ours", Needs: ladder.Ampere, Plan: o.staged(32, 64, 128, 3*32*(36+64)*4),
		},
		{
			Name: "gemm_stream_k", Adds: "all blocks end together: what is left after whole rounds of tiles is shared along k",
			Source: "ours", Needs: ladder.Ampere, Plan: o.streamed(wideStream),
		},
		{
			Name: "gemm_stream_k_64", Adds: "tiles of 64 x 64, cut among four slices of one warp: few rows or columns, and a long k",
			Source: "ours", Needs: ladder.Ampere, Plan: o.streamed(smallStream),
		},
		o.specialized("gemm_specialized", "Hopper: tiles of 128 x 256; a warpgroup has the copy engine bring A and B and transposes A, two only multiply",
			o.streamed(specializedStream)),
		o.copied("gemm_cluster", "gemm_cluster", "Hopper: two to four blocks share the steps along k of a tile of 128 x 128, and add through each other's shared memory",
			clusterTile, o.clustered),
	}
}
