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

// Operators lists the operators of this package.
func Operators() []*ladder.Operator {
	return []*ladder.Operator{Operator, TF32, BF16, FP16, Batched, BiasReLU}
}
