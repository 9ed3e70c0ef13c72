package ops

import (
	"fmt"
	"math"

	"warpbook/gpu"
)

// Gemm multiplies matrices: D = A B.
var Gemm = GemmWith(GemmOptions{Alpha: 1})

// GemmOptions are what a product depends on besides its size.
type GemmOptions struct {
	Alpha, Beta   float32
	LDA, LDB, LDC int // elements from row to row, of D as of C; 0 for rows without a gap
}

// GemmWith is the operator of a product with a sum: D = alpha A B + beta C,
// row-major. C is an input where beta is not 0.
//
// Shapes: a (m, k), b (k, n), c and d (m, n). Types: float32, reference float64.
// Error:  |d - ref| <= bound(k + 3) * (|alpha| sum|a||b| + |beta c|), see Bound.
// Cost:   2mnk flops, 4(mk + kn + mn) bytes: bound by arithmetic where m, n and
// k are in the hundreds.
// Source: founding note 003, which follows S. Gray's maxas.
func GemmWith(o GemmOptions) *Operator {
	operator := &Operator{
		Name:      "gemm",
		Formula:   "D = alpha A B + beta C",
		Settings:  o.settings(),
		Source:    "founding note 003",
		Dims:      []string{"m", "n", "k"},
		MaxDim:    math.MaxInt32,
		Inputs:    o.inputs,
		Outputs:   func(s Size) []Tensor { return []Tensor{{Name: "d", Len: o.shapes(s).d.len()}} },
		Valid:     o.valid,
		Reference: o.reference,
		Exact: func(stop Stop, s Size, seed uint64) [][]float32 {
			random := newRandom(seed)
			var inputs [][]float32
			for _, t := range o.inputs(s) {
				inputs = append(inputs, signs(stop, t.Len, random))
			}
			return inputs
		},
		Bytes: func(s Size) float64 {
			m, n, k := float64(s[0]), float64(s[1]), float64(s[2])
			return 4 * (m*k + k*n + m*n)
		},
		Flops:        func(s Size) float64 { return 2 * float64(s[0]) * float64(s[1]) * float64(s[2]) },
		ComputeBound: true,
	}
	operator.Variants = o.variants()
	return operator
}

// settings is what differs from a plain product, for titles.
func (o GemmOptions) settings() string {
	plain := GemmOptions{Alpha: 1}
	if o == plain {
		return ""
	}
	return fmt.Sprintf("alpha = %v, beta = %v, lda = %d, ldb = %d, ldc = %d", o.Alpha, o.Beta, o.LDA, o.LDB, o.LDC)
}

// mostElements of one matrix keep every grid and offset in range: 1 TiB.
const mostElements = 1 << 38

// valid refuses rows that overlap and matrices that are too large to number.
func (o GemmOptions) valid(s Size) error {
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
		if x.rows > 0 && x.ld > mostElements/x.rows {
			return fmt.Errorf("ops: gemm: a matrix of %d rows of %d elements: %w, expected at most 2^38 elements",
				x.rows, x.ld, gpu.ErrArgument)
		}
	}
	return nil
}

// gemmShapes are the matrices of a product without their elements.
type gemmShapes struct{ a, b, d matrix }

func (o GemmOptions) shapes(s Size) gemmShapes {
	m, n, k := s[0], s[1], s[2]
	or := func(ld, columns int) int {
		if ld == 0 {
			return columns
		}
		return ld
	}
	return gemmShapes{matrix{rows: m, columns: k, ld: or(o.LDA, k)},
		matrix{rows: k, columns: n, ld: or(o.LDB, n)}, matrix{rows: m, columns: n, ld: or(o.LDC, n)}}
}

func (o GemmOptions) inputs(s Size) []Tensor {
	shapes := o.shapes(s)
	tensors := []Tensor{{Name: "a", Len: shapes.a.len()}, {Name: "b", Len: shapes.b.len()}}
	if o.Beta != 0 {
		tensors = append(tensors, Tensor{Name: "c", Len: shapes.d.len()})
	}
	return tensors
}

// The sizes and the GPU of the tables of note 003.
var notes003 = []Size{{256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024}, {2048, 2048, 2048}}

const laptop4060 = "RTX 4060 Laptop"

// gflops are the figures of note 003 at its four sizes.
func gflops(where string, values ...float64) []Figure {
	var figures []Figure
	for i, v := range values {
		figures = append(figures, Figure{Value: v, Unit: "GFLOP/s", Size: notes003[i], Device: laptop4060, Where: where})
	}
	return figures
}

// hostTimes are the times of the note's CPU reference.
func hostTimes(where string, values ...float64) []Figure {
	var figures []Figure
	for i, v := range values {
		figures = append(figures, Figure{Value: v, Unit: "ms", Size: notes003[i], Device: "CPU unknown", Where: where})
	}
	return figures
}

// The runs of note 003. Those under the profiler time the profiler: 0.097
// against 348 GFLOP/s for the same kernel.
const (
	plainRun    = "003, without profiler"
	firstNcuRun = "003, first run, under ncu"
	nextNcuRun  = "003, second run, under ncu"
)

func (o GemmOptions) variants() []Variant {
	ladder := append(o.naiveVariants(), o.tiledVariants()...)
	ladder = append(append(ladder, o.layoutVariants()...), o.pipelineVariants()...)
	return append(ladder, o.auto())
}

func (o GemmOptions) naiveVariants() []Variant {
	return []Variant{
		{
			Name: "cpu_triple_loop", Adds: "float32 in compiled Go on one core: rows, columns, k",
			Source: "003 gemm_example", Plan: o.host, Host: o.tripleLoop, Refuses: tripleLoopRefuses,
			Published: hostTimes(plainRun, 6, 55, 2154, 17618),
		},
		{
			Name: "gemm_uncoalesced", Adds: "one GPU thread an element; a warp walks down a column of D",
			Source: "ours, the mistake that 003 avoids", Plan: o.tiles(32, 32, 32, 32),
		},
		{
			Name: "gemm_naive_16", Adds: "a warp lies along two rows of D: its reads of B are coalesced",
			Source: "003 gemm_baseline_kernel", Plan: o.tiles(16, 16, 16, 16),
			Published: append(append(gflops(plainRun, 348.364, 682.889, 711.774, 716.307),
				gflops(firstNcuRun, 0.0971435, 2.42362, 15.3826, 46.3788)...),
				gflops(nextNcuRun, 0.0955825, 2.3394, 14.8987, 48.4834)...),
		},
		{
			Name: "gemm_naive_32", Adds: "a warp is one row of D: A is read once a warp",
			Source: "003 gemm_baseline_kernel", Plan: o.tiles(32, 32, 32, 32),
		},
	}
}

func (o GemmOptions) tiledVariants() []Variant {
	return []Variant{
		{
			Name: "gemm_shared", Adds: "32 x 32 tiles of A and B in shared memory: global memory is read 32 times less",
			Source: "003 1", Plan: o.tiles(32, 32, 32, 32),
		},
		{
			Name: "gemm_tile_1d", Adds: "a thread computes 8 elements of a column: an element of B is used 8 times from a register",
			Source: "003 2", Plan: o.tiles(64, 64, 512, 1),
		},
		{
			Name: "gemm_tile_2d", Adds: "a thread computes 8 x 8 elements: 16 reads of shared memory for 64 products",
			Source: "003 2 and 3", Plan: o.tiles(128, 128, 256, 1),
		},
		{
			Name: "gemm_float4", Adds: "vectors of four; A is transposed on its way into shared memory",
			Source: "003, first listing", Plan: o.tiles(128, 128, 256, 1),
		},
		{
			Name: "gemm_double_buffer", Adds: "two buffers: what comes next is read while the present is multiplied",
			Source: "003 4 and first listing", Plan: o.tiles(128, 128, 256, 1),
			Published: gflops(firstNcuRun, 0.300653, 1.81734, 18.3143, 119.949),
		},
	}
}

func (o GemmOptions) layoutVariants() []Variant {
	return []Variant{
		{
			Name: "gemm_conflict_free", Adds: "a thread's columns are two groups of four, 64 apart: reads of B no longer conflict; 4 x 4 stores",
			Source: "003, second listing", Plan: o.tiles(128, 128, 256, 1),
			Published: append(gflops(plainRun, 902.389, 4120.14, 6739.19, 7747.73),
				gflops(nextNcuRun, 0.306273, 1.79105, 18.5549, 104.341)...),
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

// ampere is the first compute capability with cp.async.
var ampere = gpu.Compute{Major: 8}

func (o GemmOptions) pipelineVariants() []Variant {
	return []Variant{
		{
			Name: "gemm_cp_async", Adds: "B goes to shared memory past the registers, two steps of 16 ahead; whole tiles ask no questions",
			Source: "ours", Needs: ampere, Plan: o.staged(128, 128, 256, pipelineBytes),
		},
		{
			Name: "gemm_serpentine", Adds: "the products of a thread follow a serpentine: neighbours share a register",
			Source: "003 on FFMA order", Needs: ampere, Plan: o.staged(128, 128, 256, pipelineBytes),
		},
		{
			Name: "gemm_sliced_k", Adds: "tiles of 32 x 64, and the warps of a block cut k in four: a small D fills the GPU",
			Source: "ours", Needs: ampere, Plan: o.staged(32, 64, 256, 3*32*(36+64)*4),
		},
		{
			Name: "gemm_sliced_k_16", Adds: "tiles of 16 x 32",
			Source: "ours", Needs: ampere, Plan: o.staged(16, 32, 256, 3*64*(20+32)*4),
		},
		{
			Name: "gemm_split_k", Adds: "blocks of 128 x 128 take shares of k, as many as fill the GPU; a second launch adds them",
			Source: "ours", Plan: o.splitK,
		},
		{
			Name: "gemm_wide", Adds: "a thread computes 8 x 16 elements, in a loop of four k that stays in the instruction cache; any size on the fast way",
			Source: "ours", Needs: ampere, Plan: o.wide,
		},
		{
			Name: "gemm_sliced_64", Adds: "tiles of 64 x 64, each step along k cut among four slices of two warps",
			Source: "ours", Needs: ampere, Plan: o.staged(64, 64, 256, 3*32*(68+64)*4),
		},
		{
			Name: "gemm_sliced_32", Adds: "tiles of 32 x 64, a slice is one warp",
			Source: "ours", Needs: ampere, Plan: o.staged(32, 64, 128, 3*32*(36+64)*4),
		},
		{
			Name: "gemm_stream_k", Adds: "all blocks end together: what is left after whole rounds of tiles is shared along k",
			Source: "ours", Needs: ampere, Plan: o.streamed(wideStream),
		},
		{
			Name: "gemm_stream_k_64", Adds: "tiles of 64 x 64, cut among four slices of one warp: few rows or columns, and a long k",
			Source: "ours", Needs: ampere, Plan: o.streamed(smallStream),
		},
		o.specialized("gemm_specialized", "Hopper: tiles of 128 x 256; a warpgroup has the copy engine bring A and B and transposes A, two only multiply",
			o.streamed(specializedStream)),
		o.copied("gemm_cluster", "gemm_cluster", "Hopper: two to four blocks share the steps along k of a tile of 128 x 128, and add through each other's shared memory",
			clusterTile, o.clustered),
	}
}
