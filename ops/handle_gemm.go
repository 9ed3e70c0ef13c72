package ops

import (
	"fmt"

	"warpbook/gpu"
)

// Gemm multiplies matrices in place of C: C = alpha A B + beta C.
//
// Shapes: a (m, k), b (k, n), c (m, n), row-major, m, n and k from 0 up. Types:
// float32, float16 or bfloat16, the same for all; 16 bits are multiplied on
// tensor cores, and so is float32 where Variant names a rung of GemmTF32.
// Error: that of GemmWith and GemmTensor.
//
// As BLAS has it, C is not read where beta = 0, whatever it holds; A and B are
// not where alpha = 0 or k = 0; and nothing is launched where m or n is 0. C may
// share no element with A or B; it may lie between their rows.
func (h *Handle) Gemm(alpha float32, a, b Matrix, beta float32, c Matrix) error {
	call := h.call("gemm")
	kind := call.factors(a)
	call.add("a", a.one(), false, kind...)
	call.add("b", b.one(), false, kind...)
	call.add("c", c.one(), true, kind...)
	call.fit("a", "b", "c", a, b, c)
	if call.err != nil {
		return call.err
	}
	call.memory["d"] = call.memory["c"]
	return call.run(h.product(options(alpha, a, b, beta, c), kind[0]), Size{c.Rows, c.Columns, a.Columns})
}

// GemmBatched multiplies batches of matrices: C[i] = alpha A[i] B[i] + beta C[i].
// A Count of 1 in A or B is one matrix for all of C.
//
// Shapes: as for Gemm, for each i. Types: float32. Error: that of GemmBatched of
// this package.
func (h *Handle) GemmBatched(alpha float32, a, b Batch, beta float32, c Batch) error {
	call := h.call("gemm_batched")
	call.add("a", a, false, gpu.Float32)
	call.add("b", b, false, gpu.Float32)
	call.add("c", c, true, gpu.Float32)
	call.fit("a", "b", "c", a.Matrix, b.Matrix, c.Matrix)
	for _, x := range []struct {
		name string
		Batch
	}{{"a", a}, {"b", b}} {
		if x.Count != 1 && x.Count != c.Count {
			call.fail(x.name, gpu.ErrArgument, fmt.Sprintf("%d matrices", x.Count), fmt.Sprintf("expected %d as in c, or 1 for all", c.Count))
		}
	}
	if call.err != nil {
		return call.err
	}
	call.memory["d"] = call.memory["c"]
	next := strides{a.next(), b.next(), c.next()}
	at := func(memory func(string) gpu.Buffer, name string, i, _ int) (gpu.Buffer, error) {
		x := map[string]Batch{"a": a, "b": b, "c": c, "d": c}[name]
		return memory(name).View(i*int(x.next()), x.shape().len())
	}
	o := *GemmBatched
	o.Variants = options(alpha, a.Matrix, b.Matrix, beta, c.Matrix).batchedVariants(func(Size) strides { return next }, at)
	return call.run(&o, Size{c.Count, c.Rows, c.Columns, a.Columns}, "gemm_batched_strided")
}

// GemmPointers is GemmBatched for matrices that lie anywhere: C[i] = alpha A[i] B[i] +
// beta C[i]. Those of a, of b and of c have one shape and LD each.
func (h *Handle) GemmPointers(alpha float32, a, b []Matrix, beta float32, c []Matrix) error {
	call := h.call("gemm_batched")
	for _, x := range []struct {
		name string
		of   []Matrix
	}{{"a", a}, {"b", b}} {
		if len(x.of) != len(c) {
			call.fail(x.name, gpu.ErrArgument, fmt.Sprintf("%d matrices", len(x.of)), fmt.Sprintf("expected %d as in c", len(c)))
		}
	}
	for i := range c {
		if call.err != nil {
			return call.err
		}
		call.addLike("a", i, a, false)
		call.addLike("b", i, b, false)
		call.addLike("c", i, c, true)
		call.memory[element("d", i)] = call.memory[element("c", i)]
		call.fit(element("a", i), element("b", i), element("c", i), a[i], b[i], c[i])
	}
	if call.err != nil || len(c) == 0 {
		return call.err
	}
	at := func(memory func(string) gpu.Buffer, name string, i, _ int) (gpu.Buffer, error) {
		return memory(element(name, i)), nil
	}
	o := *GemmBatched
	o.Variants = options(alpha, a[0], b[0], beta, c[0]).batchedVariants(denseStrides, at)[1:2]
	return call.run(&o, Size{len(c), c[0].Rows, c[0].Columns, a[0].Columns})
}

// GemmBiasReLU is a layer of a network: D = max(0, A B + bias), a bias for each
// column; NaN stays NaN.
//
// Shapes: a (m, k), b (k, n), bias (n or more), d (m, n). Types: float32. Error:
// that of GemmBiasReLU of this package. D is not read.
func (h *Handle) GemmBiasReLU(a, b Matrix, bias gpu.Buffer, d Matrix) error {
	call := h.call("gemm_bias_relu")
	call.add("a", a.one(), false, gpu.Float32)
	call.add("b", b.one(), false, gpu.Float32)
	call.add("bias", vector(bias, d.Columns), false, gpu.Float32)
	call.add("d", d.one(), true, gpu.Float32)
	call.fit("a", "b", "d", a, b, d)
	if call.err != nil {
		return call.err
	}
	o := *GemmBiasReLU
	o.Variants = options(1, a, b, 0, d).biasReLUVariants()
	return call.run(&o, Size{d.Rows, d.Columns, a.Columns})
}

// options are those of a product; where k = 0 alpha counts as 0, as for BLAS.
func options(alpha float32, a, b Matrix, beta float32, c Matrix) GemmOptions {
	if a.Columns == 0 {
		alpha = 0
	}
	return GemmOptions{Alpha: alpha, Beta: beta, LDA: a.shape().ld, LDB: b.shape().ld, LDC: c.shape().ld}
}

// product is the operator of a type that has the handle's variant.
func (h *Handle) product(o GemmOptions, kind gpu.Type) *Operator {
	tensor := GemmTensor(o, kind)
	if _, err := tensor.Variant(h.Variant); kind == gpu.Float32 && err != nil {
		return GemmWith(o)
	}
	return tensor
}

// factors are the types that the other operands may have: that of a.
func (c *call) factors(a Matrix) []gpu.Type {
	if a.Buffer != nil && tensorKinds[a.Buffer.Type()].size > 0 {
		return []gpu.Type{a.Buffer.Type()}
	}
	return []gpu.Type{gpu.Float32, gpu.Float16, gpu.BFloat16}
}

// fit compares the shapes of a product.
func (c *call) fit(aName, bName, cName string, a, b, d Matrix) {
	if b.Rows != a.Columns {
		c.fail(bName, gpu.ErrArgument, b.String(), fmt.Sprintf("expected %d rows: %s is %v", a.Columns, aName, a))
	}
	if d.Rows != a.Rows || d.Columns != b.Columns {
		c.fail(cName, gpu.ErrArgument, d.String(), fmt.Sprintf("expected %d x %d: %s is %v and %s is %v", a.Rows, b.Columns, aName, a, bName, b))
	}
}

// addLike is add for the i-th of matrices that have one shape.
func (c *call) addLike(name string, i int, x []Matrix, output bool) {
	this, first := x[i].shape(), x[0].shape()
	if this.rows != first.rows || this.columns != first.columns || this.ld != first.ld {
		c.fail(element(name, i), gpu.ErrArgument, fmt.Sprintf("%v, ld = %d", x[i], this.ld), fmt.Sprintf("expected %v, ld = %d as %s", x[0], first.ld, element(name, 0)))
	}
	c.add(element(name, i), x[i].one(), output, gpu.Float32)
}

// next is the distance that a launch is told: 0 for one matrix for all.
func (x Batch) next() uint64 {
	if x.Count == 1 {
		return 0
	}
	return uint64(x.stride())
}

func element(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }
