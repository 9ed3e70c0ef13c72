package gemm

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
	"warpbook/ops/run"
)

// around are numbers of rows and columns at the edges of tiles.
var around = []int{0, 1, 2, 3, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 131}

// caller is a user of a handle with matrices at random places in larger buffers.
type caller struct {
	*testing.T
	*run.Handle
	random  *rand.Rand
	aligned bool // matrices start at 16 bytes, and so do their rows
}

func newCaller(t *testing.T, d gpu.Device, seed uint64) caller {
	h := run.NewHandle(d)
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return caller{T: t, Handle: h, random: ladder.NewRandom(seed)}
}

func (c caller) ok(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// one of some.
func oneOf[T any](c caller, some ...T) T { return some[c.random.IntN(len(some))] }

// buffer is one of the caller's, with values rounded to its type.
func (c caller) buffer(kind gpu.Type, values []float32) gpu.Buffer {
	c.Helper()
	b, err := c.Device().Alloc(kind, len(values))
	c.ok(err)
	c.Cleanup(func() { c.ok(b.Free()) })
	t := ladder.Tensor{Type: kind}
	c.ok(t.Upload(nil, b, t.Rounded(nil, values)))
	return b
}

// mine is a batch of a caller inside of a larger buffer, what the buffer held
// before, and where in it the batch starts.
type mine struct {
	ladder.Batch
	whole  gpu.Buffer
	before []float32
	start  int
}

// batch makes matrices at a random place with random gaps. Where fill is false
// they are poison; the memory around them always is.
func (c caller) batch(kind gpu.Type, count, rows, columns int, fill bool) mine {
	c.Helper()
	x := ladder.Batch{Matrix: ladder.Matrix{Rows: rows, Columns: columns, LD: columns + c.random.IntN(6)}, Count: count}
	x.Stride = rows*x.Pitch() + c.random.IntN(6)
	if x.LD == columns && c.random.IntN(2) == 0 {
		x.LD = 0
	}
	m := mine{start: c.random.IntN(6)}
	if c.aligned {
		x.LD, m.start = (columns+c.random.IntN(16)+7)/8*8, 8*c.random.IntN(2)
	}
	n := max(0, (count-1)*x.Step()+x.Span())
	if count*rows*columns == 0 {
		n = 0
	}
	values := ladder.Poisoned(m.start + n + 7)
	for b := 0; b < count && fill; b++ {
		for i := range rows {
			for j := range columns {
				values[m.start+b*x.Step()+i*x.Pitch()+j] = 0.25 + c.random.Float32() // no subnormals of 16 bits
			}
		}
	}
	m.whole, m.before = c.buffer(kind, values), values
	view, err := m.whole.View(m.start, n)
	c.ok(err)
	x.Buffer = view
	m.Batch = x
	return m
}

// values are the elements of the i-th matrix, with its gaps.
func (m mine) values(i int) []float32 {
	n := m.Span()
	if n == 0 {
		return nil
	}
	from := m.start + i*m.Step()
	return m.before[from : from+n]
}

// now is the content of the whole buffer.
func (c caller) now(m mine) []float32 {
	c.Helper()
	values := make([]float32, len(m.before))
	c.ok(ladder.Tensor{Type: m.whole.Type()}.Download(nil, m.whole, values))
	return values
}

// verify compares each matrix of d with a reference, and all else with poison.
func (c caller) verify(what string, d mine, p ladder.Plan, reference func(i int) ladder.Expected) {
	c.Helper()
	now := c.now(d)
	want := ladder.Expected{Value: make([]float64, len(now)), Magnitude: make([]float64, len(now))}
	for i := range want.Magnitude {
		want.Magnitude[i] = ladder.Gap
	}
	for i := range d.Count {
		if d.Span() > 0 {
			e := reference(i)
			copy(want.Value[d.start+i*d.Step():], e.Value)
			copy(want.Magnitude[d.start+i*d.Step():], e.Magnitude)
		}
	}
	if r := ladder.Compare(nil, []ladder.Tensor{{Len: len(now)}}, []ladder.Values{now}, []ladder.Expected{want}, p); len(r.Failed) > 0 {
		c.Errorf("%s: %v: element %d of the buffer is %v, expected %v", what, r.Failed, r.Index-d.start, r.Got, r.Want)
	}
}

// rungs are the names of an operator's rungs on the device, and "".
func rungs(o *ladder.Operator) []string {
	names := []string{""}
	for _, v := range o.Variants {
		if v.Host == nil {
			names = append(names, v.Name)
		}
	}
	return names
}

// Rungs of every type, at random sizes around the edges of tiles, in
// buffers that hold more than the matrices: the product is right, and nothing
// else is written.
func TestHandleGemm(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		c := newCaller(t, d, seed)
		for kind, names := range map[gpu.Type][]string{gpu.Float32: append(rungs(Operator), rungs(TF32)...), gpu.Float16: rungs(FP16), gpu.BFloat16: rungs(BF16)} {
			for _, name := range append(optest.Some(t, d, 7, names), "", "", "", "") {
				c.Variant = name
				c.gemm(fmt.Sprintf("seed %d", seed), kind, oneOf(c, around...), oneOf(c, around...), oneOf(c, around...))
			}
		}
	})
}

// gemm multiplies matrices of its own, and reports whether the device and the rung
// take them.
func (c caller) gemm(what string, kind gpu.Type, m, n, k int) (taken bool) {
	c.Helper()
	alpha, beta := oneOf[float32](c, 0, 1, 1, -1.5), oneOf[float32](c, 0, 0, 1, 0.5)
	a, b, out := c.batch(kind, 1, m, k, true), c.batch(kind, 1, k, n, true), c.batch(kind, 1, m, n, beta != 0)
	what += fmt.Sprintf(": %v %q: %v x %v, alpha %v, beta %v", kind, c.Variant, a.Describe(), b.Describe(), alpha, beta)
	err := Multiply(c, alpha, a.Matrix, b.Matrix, beta, out.Matrix)
	if errors.Is(err, gpu.ErrUnsupported) && mayRefuse(c.Device().Info(), kind, c.Variant) {
		return false
	}
	if err != nil {
		c.Fatalf("%s: %v", what, err)
	}
	o := options(alpha, a.Matrix, b.Matrix, beta, out.Matrix)
	p := ladder.Plan{Depth: o.depth(ladder.Size{m, n, k}) + 300} // shares of k, and what tensor cores cut off
	if kind != gpu.Float32 || strings.HasPrefix(c.Variant, "gemm_tf32") {
		p.Round = tensorKinds[kind].round
	}
	c.verify(what, out, p, func(int) ladder.Expected {
		return o.reference(nil, ladder.Size{m, n, k}, []ladder.Values{a.values(0), b.values(0), out.values(0)})[0]
	})
	return true
}

// What the copy engine brings and stores ends with the matrix: neither NaN between
// the rows nor those behind the last one reach the product, and they stay.
func TestHandleGemmAligned(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	sizes := append(slices.Clone(around), 8, 40, 136, 255, 258, 264, 300, 517)
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		c := newCaller(t, d, seed)
		c.aligned = true
		for kind, names := range map[gpu.Type][]string{
			gpu.Float32: append(rungs(TF32), "gemm_specialized", "gemm_cluster", "gemm_auto"), gpu.Float16: rungs(FP16), gpu.BFloat16: rungs(BF16),
		} {
			for _, name := range optest.Some(t, d, 3, names) {
				taken, calls := 0, 16
				if d.Info().Emulated {
					calls = 2 // which the emulator can tell as well from TestHandleGemm
				}
				for range calls {
					c.Variant = name
					if c.gemm(fmt.Sprintf("seed %d", seed), kind, oneOf(c, sizes...), oneOf(c, sizes...), oneOf(c, sizes...)) {
						taken++
					}
				}
				if taken == 0 && !ladder.Older(d.Info().Compute, hopper) && !d.Info().Emulated {
					t.Errorf("seed %d: %s took no size", seed, name)
				}
			}
		}
	})
}

// mayRefuse reports whether a device has not what a rung, or every rung of a
// type, needs; those of the copy engine need aligned rows besides.
func mayRefuse(info gpu.Info, kind gpu.Type, name string) bool {
	for _, o := range []*ladder.Operator{Operator, TF32, FP16, BF16, BiasReLU} {
		if v, err := o.Variant(name); err == nil {
			return ladder.Older(info.Compute, v.Needs) || v.Needs == hopper
		}
	}
	return kind != gpu.Float32 && ladder.Older(info.Compute, tensorKinds[kind].needs)
}

// C may be NaN where beta is 0; k = 0 leaves beta C, whatever alpha is; a NaN
// alpha or beta reaches all of C.
func TestHandleGemmSpecialFactors(t *testing.T) {
	nan := float32(math.NaN())
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		c := newCaller(t, d, 1)
		for _, x := range []struct {
			k                            int
			alpha, beta, factor, c, want float32
		}{
			{2, 1, 0, 3, nan, 18}, {0, nan, 2, 3, 4, 8}, {0, 1, 0, 3, nan, 0}, {2, 0, 1, nan, 4, 4},
			{2, nan, 0, 3, 4, nan}, {2, 1, nan, 3, 4, nan}, {2, 1, 2, 3, 4, 26},
		} {
			same := func(v float32, n int) []float32 { return slices.Repeat([]float32{v}, n) }
			a := ladder.Matrix{Buffer: c.buffer(gpu.Float32, same(x.factor, 2*x.k)), Rows: 2, Columns: x.k}
			b := ladder.Matrix{Buffer: c.buffer(gpu.Float32, same(x.factor, 2*x.k)), Rows: x.k, Columns: 2}
			out := ladder.Matrix{Buffer: c.buffer(gpu.Float32, same(x.c, 4)), Rows: 2, Columns: 2}
			c.ok(Multiply(c, x.alpha, a, b, x.beta, out))
			got := make([]float32, 4)
			c.ok(out.Buffer.Download(got))
			if !ladder.SameBits(got, same(x.want, 4)) {
				t.Errorf("%+v: %v", x, got)
			}
		}
	})
}

// C may lie between the rows of A and B, in one buffer.
func TestHandleGemmBetweenRows(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		c := newCaller(t, d, 1)
		const n, ld = 33, 100
		values := ladder.Uniform(nil, n*ld, c.random)
		whole := c.buffer(gpu.Float32, slices.Clone(values))
		part := func(i int) ladder.Matrix {
			view, err := whole.View(i*n, whole.Len()-i*n)
			c.ok(err)
			return ladder.Matrix{Buffer: view, Rows: n, Columns: n, LD: ld}
		}
		c.ok(Multiply(c, 1, part(0), part(1), 0, part(2)))
		o := Options{Alpha: 1, LDA: ld, LDB: ld, LDC: ld}
		want := o.reference(nil, ladder.Size{n, n, n}, []ladder.Values{values, values[n:]})[0]
		now := make([]float32, len(values))
		c.ok(whole.Download(now))
		for i, v := range now {
			inside := i%ld >= 2*n && i%ld < 3*n
			if inside && math.Abs(float64(v)-want.Value[i-2*n]) > 1e-5*n || !inside && v != values[i] {
				t.Fatalf("element %d is %v, was %v (seed 1)", i, v, values[i])
			}
		}
	})
}

func TestHandleGemmBatched(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		c := newCaller(t, d, seed)
		for _, name := range []string{"", "", "", "", "gemm_batched_pointers", "gemm_batched_pointers"} {
			count, m, n, k := c.random.IntN(5), oneOf(c, around...), oneOf(c, around...), oneOf(c, around...)
			alpha, beta := oneOf[float32](c, 0, 1, -1.5), oneOf[float32](c, 0, 1, 0.5)
			a := c.batch(gpu.Float32, oneOf(c, 1, count), m, k, true)
			b := c.batch(gpu.Float32, oneOf(c, 1, count), k, n, true)
			out := c.batch(gpu.Float32, count, m, n, beta != 0)
			what := fmt.Sprintf("seed %d: %q: %s by %s, alpha %v, beta %v", seed, name, a.Describe(), b.Describe(), alpha, beta)
			c.Variant = name
			if err := MultiplyBatch(c, alpha, a.Batch, b.Batch, beta, out.Batch); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			o := options(alpha, a.Matrix, b.Matrix, beta, out.Matrix)
			c.verify(what, out, ladder.Plan{Depth: o.depth(ladder.Size{m, n, k})}, func(i int) ladder.Expected {
				return o.reference(nil, ladder.Size{m, n, k}, []ladder.Values{a.values(min(i, a.Count-1)), b.values(min(i, b.Count-1)), out.values(i)})[0]
			})
		}
	})
}

// The heads of an attention layer lie side by side in each row.
func TestHandleGemmInterleavedBatch(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		c := newCaller(t, d, 1)
		const heads, tokens, width = 5, 17, 9
		values := ladder.Uniform(nil, tokens*heads*width, c.random)
		side := func(values []float32) ladder.Batch {
			return ladder.Batch{Matrix: ladder.Matrix{Buffer: c.buffer(gpu.Float32, values), Rows: tokens, Columns: width, LD: heads * width}, Count: heads, Stride: width}
		}
		identity := make([]float32, width*width)
		for i := range width {
			identity[i*width+i] = 1
		}
		out := side(ladder.Poisoned(len(values)))
		c.ok(MultiplyBatch(c, 1, side(slices.Clone(values)), ladder.Batch{Matrix: ladder.Matrix{Buffer: c.buffer(gpu.Float32, identity), Rows: width, Columns: width}, Count: 1}, 0, out))
		now := make([]float32, len(values))
		c.ok(out.Buffer.Download(now))
		if !slices.Equal(now, values) {
			t.Error("the product with the identity is another matrix (seed 1)")
		}
	})
}

func TestHandleGemmPointers(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		c := newCaller(t, d, seed)
		for _, count := range []int{0, 1, 3, 33} { // a launch has 32 places
			m, n, k := oneOf(c, around...), oneOf(c, 1, 2, 31, 65), oneOf(c, 0, 5, 17)
			beta := oneOf[float32](c, 0, 2)
			a, b, out := c.batch(gpu.Float32, count, m, k, true), c.batch(gpu.Float32, count, k, n, true), c.batch(gpu.Float32, count, m, n, beta != 0)
			split := func(x mine) (list []ladder.Matrix) {
				for i := range count {
					one := x.Matrix
					view, err := x.whole.View(x.start+min(i*x.Step(), x.Buffer.Len()), one.Span())
					c.ok(err)
					one.Buffer = view
					list = append(list, one)
				}
				slices.Reverse(list)
				return list
			}
			c.ok(MultiplyPointers(c, 2, split(a), split(b), beta, split(out)))
			o := options(2, a.Matrix, b.Matrix, beta, out.Matrix)
			c.verify(fmt.Sprintf("seed %d: %s by %s, beta %v", seed, a.Describe(), b.Describe(), beta), out, ladder.Plan{Depth: o.depth(ladder.Size{m, n, k})}, func(i int) ladder.Expected {
				return o.reference(nil, ladder.Size{m, n, k}, []ladder.Values{a.values(i), b.values(i), out.values(i)})[0]
			})
		}
	})
}

func TestHandleGemmBiasReLU(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		c := newCaller(t, d, seed)
		for _, name := range append(optest.Some(t, d, 2, rungs(BiasReLU)), "", "") {
			c.Variant = name
			c.biasReLU(fmt.Sprintf("seed %d", seed), around)
		}
		c.aligned = true
		taken, sizes, calls := 0, append(slices.Clone(around), 8, 40, 255, 258, 300, 517), 16
		if d.Info().Emulated {
			calls = 4
		}
		for range calls {
			if c.Variant = "gemm_bias_relu_specialized"; c.biasReLU(fmt.Sprintf("seed %d", seed), sizes) {
				taken++
			}
		}
		if info := d.Info(); taken == 0 && info.Compute == hopper && !info.Emulated {
			t.Errorf("seed %d: %s took no size", seed, c.Variant)
		}
	})
}

// biasReLU computes a layer of its own, of one of the sizes in each direction, and
// reports whether the device and the rung take it.
func (c caller) biasReLU(what string, sizes []int) (taken bool) {
	c.Helper()
	m, n, k := oneOf(c, sizes...), oneOf(c, sizes...), oneOf(c, sizes...)
	a, b, out := c.batch(gpu.Float32, 1, m, k, true), c.batch(gpu.Float32, 1, k, n, true), c.batch(gpu.Float32, 1, m, n, false)
	bias := ladder.Uniform(nil, n+2, c.random)
	for i := range bias {
		bias[i] -= float32(k)/4 + 0.5
	}
	what += fmt.Sprintf(": %q: %s by %s", c.Variant, a.Describe(), b.Describe())
	err := MultiplyBiasReLU(c, a.Matrix, b.Matrix, c.buffer(gpu.Float32, slices.Clone(bias)), out.Matrix)
	if errors.Is(err, gpu.ErrUnsupported) && mayRefuse(c.Device().Info(), gpu.Float32, c.Variant) {
		return false
	}
	if err != nil {
		c.Fatalf("%s: %v", what, err)
	}
	o := options(1, a.Matrix, b.Matrix, 0, out.Matrix)
	c.verify(what, out, ladder.Plan{Depth: k + 150}, func(int) ladder.Expected { // and shares of k
		e := o.reference(nil, ladder.Size{m, n, k}, []ladder.Values{a.values(0), b.values(0)})[0]
		for i := range e.Value {
			if e.Magnitude[i] != ladder.Gap {
				v := bias[i%out.Pitch()]
				e.Value[i], e.Magnitude[i] = max(0, e.Value[i]+float64(v)), e.Magnitude[i]+finite(v)
			}
		}
		return e
	})
	return true
}
