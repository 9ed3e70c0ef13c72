package gemm

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Multiply multiplies matrices in place of C: C = alpha A B + beta C.
//
// Shapes: a (m, k), b (k, n), c (m, n), row-major, m, n and k from 0 up. Types:
// float32, float16 or bfloat16, the same for all; 16 bits are multiplied on
// tensor cores, and so is float32 where Variant names a rung of TF32.
// Error: that of With and Tensor.
//
// As BLAS has it, C is not read where beta = 0, whatever it holds; A and B are
// not where alpha = 0 or k = 0; and nothing is launched where m or n is 0. C may
// share no element with A or B; it may lie between their rows.
func Multiply(h ladder.Runner, alpha float32, a, b ladder.Matrix, beta float32, c ladder.Matrix) error {
	call := ladder.NewOperands(h, "gemm")
	kind := factors(a)
	call.Add("a", a.One(), false, kind...)
	call.Add("b", b.One(), false, kind...)
	call.Add("c", c.One(), true, kind...)
	fit(call, "a", "b", "c", a, b, c)
	if call.Err() != nil {
		return call.Err()
	}
	call.Alias("d", "c")
	return call.Run(productOf(h, options(alpha, a, b, beta, c), kind[0]), ladder.Size{c.Rows, c.Columns, a.Columns})
}

// MultiplyBatch multiplies batches of matrices: C[i] = alpha A[i] B[i] + beta C[i].
// A Count of 1 in A or B is one matrix for all of C.
//
// Shapes: as for Multiply, for each i. Types: float32. Error: that of Batched of
// this package.
func MultiplyBatch(h ladder.Runner, alpha float32, a, b ladder.Batch, beta float32, c ladder.Batch) error {
	call := ladder.NewOperands(h, "gemm_batched")
	call.Add("a", a, false, gpu.Float32)
	call.Add("b", b, false, gpu.Float32)
	call.Add("c", c, true, gpu.Float32)
	fit(call, "a", "b", "c", a.Matrix, b.Matrix, c.Matrix)
	for _, x := range []struct {
		name string
		ladder.Batch
	}{{"a", a}, {"b", b}} {
		if x.Count != 1 && x.Count != c.Count {
			call.Fail(x.name, gpu.ErrArgument, fmt.Sprintf("%d matrices", x.Count), fmt.Sprintf("expected %d as in c, or 1 for all", c.Count))
		}
	}
	if call.Err() != nil {
		return call.Err()
	}
	call.Alias("d", "c")
	step := strides{next(a), next(b), next(c)}
	at := func(memory func(string) gpu.Buffer, name string, i, _ int) (gpu.Buffer, error) {
		x := map[string]ladder.Batch{"a": a, "b": b, "c": c, "d": c}[name]
		return memory(name).View(i*int(next(x)), x.Span())
	}
	o := *Batched
	o.Variants = options(alpha, a.Matrix, b.Matrix, beta, c.Matrix).batchedVariants(func(ladder.Size) strides { return step }, at)
	return call.Run(&o, ladder.Size{c.Count, c.Rows, c.Columns, a.Columns}, "gemm_batched_strided")
}

// MultiplyPointers is MultiplyBatch for matrices that lie anywhere: C[i] = alpha A[i] B[i] +
// beta C[i]. Those of a, of b and of c have one shape and LD each.
func MultiplyPointers(h ladder.Runner, alpha float32, a, b []ladder.Matrix, beta float32, c []ladder.Matrix) error {
	call := ladder.NewOperands(h, "gemm_batched")
	for _, x := range []struct {
		name string
		of   []ladder.Matrix
	}{{"a", a}, {"b", b}} {
		if len(x.of) != len(c) {
			call.Fail(x.name, gpu.ErrArgument, fmt.Sprintf("%d matrices", len(x.of)), fmt.Sprintf("expected %d as in c", len(c)))
		}
	}
	for i := range c {
		if call.Err() != nil {
			return call.Err()
		}
		addLike(call, "a", i, a, false)
		addLike(call, "b", i, b, false)
		addLike(call, "c", i, c, true)
		call.Alias(ladder.Element("d", i), ladder.Element("c", i))
		fit(call, ladder.Element("a", i), ladder.Element("b", i), ladder.Element("c", i), a[i], b[i], c[i])
	}
	if call.Err() != nil || len(c) == 0 {
		return call.Err()
	}
	at := func(memory func(string) gpu.Buffer, name string, i, _ int) (gpu.Buffer, error) {
		return memory(ladder.Element(name, i)), nil
	}
	o := *Batched
	o.Variants = options(alpha, a[0], b[0], beta, c[0]).batchedVariants(denseStrides, at)[1:2]
	return call.Run(&o, ladder.Size{len(c), c[0].Rows, c[0].Columns, a[0].Columns})
}

// MultiplyBiasReLU is a layer of a network: D = max(0, A B + bias), a bias for each
// column; NaN stays NaN.
//
// Shapes: a (m, k), b (k, n), bias (n or more), d (m, n). Types: float32. Error:
// that of BiasReLU of this package. D is not read.
func MultiplyBiasReLU(h ladder.Runner, a, b ladder.Matrix, bias gpu.Buffer, d ladder.Matrix) error {
	call := ladder.NewOperands(h, "gemm_bias_relu")
	call.Add("a", a.One(), false, gpu.Float32)
	call.Add("b", b.One(), false, gpu.Float32)
	call.Add("bias", ladder.Vector(bias, d.Columns), false, gpu.Float32)
	call.Add("d", d.One(), true, gpu.Float32)
	fit(call, "a", "b", "d", a, b, d)
	if call.Err() != nil {
		return call.Err()
	}
	o := *BiasReLU
	o.Variants = options(1, a, b, 0, d).biasReLUVariants()
	return call.Run(&o, ladder.Size{d.Rows, d.Columns, a.Columns})
}

// options are those of a product; where k = 0 alpha counts as 0, as for BLAS.
func options(alpha float32, a, b ladder.Matrix, beta float32, c ladder.Matrix) Options {
	if a.Columns == 0 {
		alpha = 0
	}
	return Options{Alpha: alpha, Beta: beta, LDA: a.Pitch(), LDB: b.Pitch(), LDC: c.Pitch()}
}

// productOf is the operator of a type that has the runner's rung.
func productOf(h ladder.Runner, o Options, kind gpu.Type) *ladder.Operator {
	tensor := Tensor(o, kind)
	if _, err := tensor.Variant(h.Rung()); kind == gpu.Float32 && err != nil {
		return With(o)
	}
	return tensor
}

// factors are the types that the other operands may have: that of a.
func factors(a ladder.Matrix) []gpu.Type {
	if a.Buffer != nil && tensorKinds[a.Buffer.Type()].size > 0 {
		return []gpu.Type{a.Buffer.Type()}
	}
	return []gpu.Type{gpu.Float32, gpu.Float16, gpu.BFloat16}
}

// fit compares the shapes of a product.
func fit(c *ladder.Operands, aName, bName, cName string, a, b, d ladder.Matrix) {
	if b.Rows != a.Columns {
		c.Fail(bName, gpu.ErrArgument, b.String(), fmt.Sprintf("expected %d rows: %s is %v", a.Columns, aName, a))
	}
	if d.Rows != a.Rows || d.Columns != b.Columns {
		c.Fail(cName, gpu.ErrArgument, d.String(), fmt.Sprintf("expected %d x %d: %s is %v and %s is %v", a.Rows, b.Columns, aName, a, bName, b))
	}
}

// addLike is add for the i-th of matrices that have one shape.
func addLike(c *ladder.Operands, name string, i int, x []ladder.Matrix, output bool) {
	this, first := x[i], x[0]
	if this.Rows != first.Rows || this.Columns != first.Columns || this.Pitch() != first.Pitch() {
		c.Fail(ladder.Element(name, i), gpu.ErrArgument, fmt.Sprintf("%v, ld = %d", this, this.Pitch()), fmt.Sprintf("expected %v, ld = %d as %s", first, first.Pitch(), ladder.Element(name, 0)))
	}
	c.Add(ladder.Element(name, i), x[i].One(), output, gpu.Float32)
}

// next is the distance between matrices in a launch's arguments: 0 for one matrix for all.
func next(x ladder.Batch) uint64 {
	if x.Count == 1 {
		return 0
	}
	return uint64(x.Step())
}
