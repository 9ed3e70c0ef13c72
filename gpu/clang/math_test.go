package clang_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/clang"
	"warpbook/gpu/compile"
	"warpbook/gpu/emu"
)

// mathematical is a function of the headers: its name, the error in units of the last
// place that CUDA's documentation allows, and its value in a wider type. Arguments are
// random over all bit patterns, and over low to high.
type mathematical struct {
	name      string
	ulp       float64
	low, high float64
	one       func(x float64) float64
	wide      func(x wide) wide
	two       func(x, y float64) float64
	wide2     func(x, y wide) wide
}

var ofFloat = []mathematical{
	{name: "sqrtf", ulp: 0, high: 1e3, one: math.Sqrt},
	{name: "rsqrtf", ulp: 2, high: 1e3, one: func(x float64) float64 { return 1 / math.Sqrt(x) }},
	{name: "cbrtf", ulp: 1, low: -10, high: 10, one: math.Cbrt},
	{name: "rcbrtf", ulp: 1, low: -10, high: 10, one: func(x float64) float64 { return 1 / math.Cbrt(x) }},
	{name: "expf", ulp: 2, low: -104, high: 90, one: math.Exp},
	{name: "exp2f", ulp: 2, low: -150, high: 129, one: math.Exp2},
	{name: "exp10f", ulp: 2, low: -46, high: 39, one: func(x float64) float64 { return math.Pow(10, x) }},
	{name: "expm1f", ulp: 1, low: -20, high: 90, one: math.Expm1},
	{name: "logf", ulp: 1, high: 4, one: math.Log},
	{name: "log2f", ulp: 1, high: 4, one: math.Log2},
	{name: "log10f", ulp: 2, high: 4, one: math.Log10},
	{name: "log1pf", ulp: 1, low: -1, high: 4, one: math.Log1p},
	{name: "sinf", ulp: 2, low: -1e3, high: 1e3, one: math.Sin},
	{name: "cosf", ulp: 2, low: -1e3, high: 1e3, one: math.Cos},
	{name: "tanf", ulp: 4, low: -1e3, high: 1e3, one: math.Tan},
	{name: "sinpif", ulp: 1, low: -10, high: 10, one: sinPi},
	{name: "cospif", ulp: 1, low: -10, high: 10, one: cosPi},
	{name: "asinf", ulp: 2, low: -1, high: 1, one: math.Asin},
	{name: "acosf", ulp: 2, low: -1, high: 1, one: math.Acos},
	{name: "atanf", ulp: 2, low: -5, high: 5, one: math.Atan},
	{name: "sinhf", ulp: 3, low: -90, high: 90, one: math.Sinh},
	{name: "coshf", ulp: 2, low: -90, high: 90, one: math.Cosh},
	{name: "tanhf", ulp: 2, low: -10, high: 10, one: math.Tanh},
	{name: "asinhf", ulp: 3, low: -10, high: 10, one: math.Asinh},
	{name: "acoshf", ulp: 4, low: 1, high: 10, one: math.Acosh},
	{name: "atanhf", ulp: 3, low: -1, high: 1, one: math.Atanh},
	{name: "erff", ulp: 2, low: -5, high: 5, one: math.Erf},
	{name: "erfcf", ulp: 4, low: -4, high: 11, one: math.Erfc},
	{name: "floorf", low: -10, high: 10, one: math.Floor},
	{name: "ceilf", low: -10, high: 10, one: math.Ceil},
	{name: "truncf", low: -10, high: 10, one: math.Trunc},
	{name: "roundf", low: -10, high: 10, one: math.Round},
	{name: "rintf", low: -10, high: 10, one: math.RoundToEven},
	{name: "logbf", low: -10, high: 10, one: math.Logb},
	{name: "powf", ulp: 4, high: 20, two: math.Pow},
	{name: "atan2f", ulp: 3, low: -5, high: 5, two: math.Atan2},
	{name: "hypotf", ulp: 3, low: -5, high: 5, two: math.Hypot},
	{name: "rhypotf", ulp: 2, low: -5, high: 5, two: func(x, y float64) float64 { return 1 / math.Hypot(x, y) }},
	{name: "fmodf", low: -9, high: 9, two: math.Mod},
	{name: "remainderf", low: -9, high: 9, two: math.Remainder},
	{name: "fdimf", low: -9, high: 9, two: dim},
	{name: "fminf", low: -9, high: 9, two: minimum},
	{name: "fmaxf", low: -9, high: 9, two: func(x, y float64) float64 { return -minimum(-x, -y) }},
	{name: "copysignf", low: -9, high: 9, two: math.Copysign},
}

var ofDouble = []mathematical{
	{name: "sqrt", ulp: 0, high: 1e3, one: math.Sqrt, wide: root},
	{name: "rsqrt", ulp: 1, high: 1e3, one: func(x float64) float64 { return 1 / math.Sqrt(x) }, wide: func(x wide) wide { return quo(num(1), root(x)) }},
	{name: "cbrt", ulp: 1, low: -10, high: 10, one: math.Cbrt, wide: wideCbrt},
	{name: "rcbrt", ulp: 1, low: -10, high: 10, one: func(x float64) float64 { return 1 / math.Cbrt(x) }, wide: func(x wide) wide { return quo(num(1), wideCbrt(x)) }},
	{name: "exp", ulp: 1, low: -746, high: 711, one: math.Exp, wide: wideExp},
	{name: "exp2", ulp: 1, low: -1080, high: 1025, one: math.Exp2, wide: func(x wide) wide { return wideExp(mul(x, wideLn2)) }},
	{name: "exp10", ulp: 1, low: -325, high: 310, one: func(x float64) float64 { return math.Pow(10, x) }, wide: func(x wide) wide { return wideExp(mul(x, wideLn10)) }},
	{name: "expm1", ulp: 1, low: -40, high: 711, one: math.Expm1, wide: wideExpm1},
	{name: "log", ulp: 1, high: 4, one: math.Log, wide: wideLog},
	{name: "log2", ulp: 1, high: 4, one: math.Log2, wide: func(x wide) wide { return quo(wideLog(x), wideLn2) }},
	{name: "log10", ulp: 1, high: 4, one: math.Log10, wide: func(x wide) wide { return quo(wideLog(x), wideLn10) }},
	{name: "log1p", ulp: 1, low: -1, high: 4, one: math.Log1p, wide: wideLog1p},
	{name: "sin", ulp: 2, low: -1e3, high: 1e3, one: math.Sin, wide: func(x wide) wide { s, _ := wideSinCos(x); return s }},
	{name: "cos", ulp: 2, low: -1e3, high: 1e3, one: math.Cos, wide: func(x wide) wide { _, c := wideSinCos(x); return c }},
	{name: "tan", ulp: 2, low: -1e3, high: 1e3, one: math.Tan, wide: func(x wide) wide { s, c := wideSinCos(x); return quo(s, c) }},
	{name: "sinpi", ulp: 2, low: -10, high: 10, one: sinPi, wide: func(x wide) wide { s, _ := wideSinCosPi(x); return s }},
	{name: "cospi", ulp: 2, low: -10, high: 10, one: cosPi, wide: func(x wide) wide { _, c := wideSinCosPi(x); return c }},
	{name: "asin", ulp: 2, low: -1, high: 1, one: math.Asin, wide: wideAsin},
	{name: "acos", ulp: 2, low: -1, high: 1, one: math.Acos, wide: wideAcos},
	{name: "atan", ulp: 2, low: -5, high: 5, one: math.Atan, wide: wideAtan},
	{name: "sinh", ulp: 2, low: -711, high: 711, one: math.Sinh, wide: wideSinh},
	{name: "cosh", ulp: 1, low: -711, high: 711, one: math.Cosh, wide: func(x wide) wide { return shift(add(wideExp(x), wideExp(neg(x))), -1) }},
	{name: "tanh", ulp: 1, low: -10, high: 10, one: math.Tanh, wide: func(x wide) wide { e := wideExpm1(shift(x, 1)); return quo(e, add(e, num(2))) }},
	{name: "asinh", ulp: 3, low: -10, high: 10, one: math.Asinh, wide: wideAsinh},
	{name: "acosh", ulp: 3, low: 1, high: 10, one: math.Acosh, wide: func(x wide) wide {
		t := sub(x, num(1))
		return wideLog1p(add(t, root(mul(t, add(t, num(2))))))
	}},
	{name: "atanh", ulp: 2, low: -1, high: 1, one: math.Atanh, wide: func(x wide) wide { return shift(wideLog1p(quo(shift(x, 1), sub(num(1), x))), -1) }},
	{name: "erf", ulp: 2, low: -6, high: 6, one: math.Erf, wide: wideErf},
	{name: "erfc", ulp: 5, low: -6, high: 28, one: math.Erfc, wide: wideErfc},
	{name: "floor", low: -10, high: 10, one: math.Floor},
	{name: "round", low: -10, high: 10, one: math.Round},
	{name: "rint", low: -10, high: 10, one: math.RoundToEven},
	{name: "logb", low: -10, high: 10, one: math.Logb},
	{name: "pow", ulp: 2, high: 20, two: math.Pow, wide2: func(x, y wide) wide { return widePow(x, y) }},
	{name: "atan2", ulp: 2, low: -5, high: 5, two: math.Atan2, wide2: func(y, x wide) wide {
		a := wideAtan(quo(y, x))
		if x.Sign() < 0 {
			return add(a, mul(widePi, num(float64(y.Sign()))))
		}
		return a
	}},
	{name: "hypot", ulp: 2, low: -5, high: 5, two: math.Hypot, wide2: func(x, y wide) wide { return root(add(mul(x, x), mul(y, y))) }},
	{name: "rhypot", ulp: 1, low: -5, high: 5, two: func(x, y float64) float64 { return 1 / math.Hypot(x, y) }, wide2: func(x, y wide) wide { return quo(num(1), root(add(mul(x, x), mul(y, y)))) }},
	{name: "fmod", low: -9, high: 9, two: math.Mod},
	{name: "remainder", low: -9, high: 9, two: math.Remainder},
}

var wideLn10 = wideLog(num(10))

func wideSinh(x wide) wide {
	if x.MantExp(nil) > 0 {
		return shift(sub(wideExp(x), wideExp(neg(x))), -1)
	}
	e := wideExpm1(x)
	return shift(add(e, quo(e, add(e, num(1)))), -1)
}

func wideAsinh(x wide) wide {
	if x.Sign() < 0 {
		return neg(wideAsinh(neg(x)))
	}
	square := mul(x, x)
	return wideLog1p(add(x, quo(square, add(num(1), root(add(num(1), square))))))
}

func wideSinCosPi(x wide) (s, c wide) {
	if x.MantExp(nil) > 53 { // an even number
		return num(0), num(1)
	}
	n := rounded(shift(x, 1))
	return turned(mul(widePi, sub(x, shift(num(float64(n)), -1))), n)
}

func widePow(x, y wide) wide {
	negative := x.Sign() < 0
	if negative {
		x = neg(x)
	}
	r := wideExp(mul(y, wideLog(x)))
	if n, _ := y.Int(nil); negative && n.Bit(0) == 1 {
		return neg(r)
	}
	return r
}

// sinPi is right where a quarter of a turn has an exact sine.
func sinPi(x float64) float64 {
	if x == math.Trunc(x) && !math.IsInf(x, 0) {
		return math.Copysign(0, x)
	}
	if math.IsNaN(x) {
		return x
	}
	if math.IsInf(x, 0) {
		return math.NaN()
	}
	s, _ := wideSinCosPi(num(math.Mod(x, 2)))
	v, _ := s.Float64()
	return v
}

func cosPi(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return math.NaN()
	}
	_, c := wideSinCosPi(num(math.Mod(x, 2)))
	v, _ := c.Float64()
	return math.Abs(v) * math.Copysign(1, v+0) // no -0
}

// minimum is fmin of C: a number where one argument is NaN.
func minimum(x, y float64) float64 {
	switch {
	case math.IsNaN(x):
		return y
	case math.IsNaN(y):
		return x
	}
	return math.Min(x, y)
}

// edges are arguments at which functions change their form, or that are no ordinary numbers.
var edges = func() (list []float64) {
	for _, x := range []float64{0, math.SmallestNonzeroFloat64, 0x1p-1022, 0x1p-149, 0x1p-126, 0x1p-60, 0x1p-24, 0.25, 0.5, 1, 2, math.E, math.Pi / 2, math.Pi, 10, 0x1p23, 0x1p24,
		0x1p52, 0x1p53, 1e10, 0x1p30, 0x1p62, math.MaxFloat32, 1e300, math.MaxFloat64, math.Inf(1), 88.72, 89, 104, 709.78, 745, 1.5, 2.5, 3, 40000, 105615, 0.875, 0.55, 0.6, 4, 5, 6, 27.2, 0x1p100, 22, 355} {
		list = append(list, x, -x, math.Nextafter(x, math.MaxFloat64), math.Nextafter(x, 0), -math.Nextafter(x, 0))
	}
	return append(list, math.NaN())
}()

// arguments are edges and so many random numbers: half of all bit patterns, half between
// low and high.
func arguments(f mathematical, single bool, random *rand.Rand, n int) (x []float64) {
	for _, e := range edges {
		if single {
			e32 := float32(e)
			x = append(x, float64(e32), float64(math.Nextafter32(e32, 0)), float64(math.Nextafter32(e32, math.MaxFloat32)))
		} else {
			x = append(x, e)
		}
	}
	for i := range n {
		switch {
		case i%2 == 0 && single:
			x = append(x, float64(math.Float32frombits(random.Uint32())))
		case i%2 == 0:
			x = append(x, math.Float64frombits(random.Uint64()))
		case single:
			x = append(x, float64(float32(f.low+(f.high-f.low)*random.Float64())))
		default:
			x = append(x, f.low+(f.high-f.low)*random.Float64())
		}
	}
	return x
}

var randoms = flag.Int("random", 0, "random arguments of TestMathematics for each function; 0 is a number that takes seconds")

// dim is fdim of C: 0 where x is at most y, also of two equal infinities, which are NaN for
// math.Dim.
func dim(x, y float64) float64 {
	if x <= y {
		return 0
	}
	return x - y
}

// TestMathematics compares every function of the headers with a wider type, at every edge
// and at random arguments.
func TestMathematics(t *testing.T) {
	if os.Getenv(clang.FolderVariable) == "" {
		t.Skipf("needs %s", clang.FolderVariable)
	}
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("WARPBOOK_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("seed %d", seed)
	for _, of := range []struct {
		element string
		single  bool
		all     []mathematical
		n       int
	}{{"float", true, ofFloat, 1500}, {"double", false, ofDouble, 300}} {
		m := kernels(t, of.element, of.all)
		for _, f := range of.all {
			t.Run(f.name, func(t *testing.T) {
				n := cmp.Or(*randoms, of.n)
				random := rand.New(rand.NewPCG(seed, uint64(len(f.name))))
				x := arguments(f, of.single, random, n)
				y := append([]float64(nil), x...)
				if f.two != nil {
					random.Shuffle(len(y), func(i, j int) { y[i], y[j] = y[j], y[i] })
				}
				worst, at := 0.0, 0
				for i, got := range evaluate(t, m, f.name, of.single, x, y) {
					if e := f.error(x[i], y[i], got, of.single); !(e <= worst) {
						worst, at = e, i
						if math.IsNaN(e) {
							break
						}
					}
				}
				t.Logf("%s: %g ulp at %g, %g", f.name, worst, x[at], y[at])
				if !(worst <= f.ulp) {
					got := evaluate(t, m, f.name, of.single, x[at:at+1], y[at:at+1])[0]
					t.Errorf("%s(%g, %g) is %g, expected %g: %g ulp, at most %g", f.name, x[at], y[at], got, f.value(x[at], y[at]), worst, f.ulp)
				}
			})
		}
	}
}

func (f mathematical) value(x, y float64) float64 {
	if f.two != nil {
		return f.two(x, y)
	}
	return f.one(x)
}

// error is the distance of a result from the correctly rounded one in units of its last
// place, as CUDA's documentation counts; it is infinite where the kinds of numbers differ.
func (f mathematical) error(x, y, got float64, single bool) float64 {
	want, exact := f.value(x, y), f.exact(x, y)
	if exact != nil {
		want, _ = exact.Float64()
	}
	limit, least, bits := math.MaxFloat64, 0x1p-1074, 52
	if single {
		want = float64(float32(want))
		limit, least, bits = math.MaxFloat32, 0x1p-149, 23
	}
	switch {
	case math.IsNaN(want) || math.IsNaN(got):
		if math.IsNaN(want) && math.IsNaN(got) {
			return 0
		}
		return math.Inf(1)
	case math.IsInf(got, 0) || math.IsInf(want, 0):
		if got == want || math.Signbit(got) == math.Signbit(want) && min(math.Abs(want), math.Abs(got)) == limit {
			return 0
		}
		return math.Inf(1)
	case want == 0 && got == 0:
		if math.Signbit(want) != math.Signbit(got) {
			return math.Inf(1)
		}
		return 0
	}
	unit := max(math.Ldexp(1, math.Ilogb(want)-bits), least)
	return math.Abs(got-want) / unit
}

// exact is the value in the wider type, nil where the type has none or the value is no
// ordinary number.
func (f mathematical) exact(x, y float64) wide {
	ordinary := func(x float64) bool { return x != 0 && !math.IsNaN(x) && !math.IsInf(x, 0) }
	switch value := f.value(x, y); {
	case value == 0 && f.wide2 == nil || math.IsNaN(value) || !ordinary(x):
		return nil
	case f.wide != nil && (!math.IsInf(value, 0) || math.Abs(x) < 2000 && math.Abs(x) > 1):
		return f.wide(num(x))
	case f.wide2 != nil && ordinary(y):
		return f.wide2(num(x), num(y))
	}
	return nil
}

// kernels compiles a kernel for every function.
func kernels(t *testing.T, element string, all []mathematical) *compile.Module {
	t.Helper()
	var b strings.Builder
	for _, f := range all {
		call := f.name + "(x[i])"
		if f.two != nil {
			call = f.name + "(x[i], y[i])"
		}
		fmt.Fprintf(&b, "__global__ void k_%s(const %[2]s* x, const %[2]s* y, %[2]s* z, int n) { int i = blockIdx.x * 256 + threadIdx.x; if (i < n) z[i] = %[3]s; }\n", f.name, element, call)
	}
	m, err := compile.CUDA(context.Background(), "math.cu", b.String(), compile.Options{Compiler: "clang"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// evaluate runs a function on the emulator.
func evaluate(t *testing.T, m *compile.Module, name string, single bool, x, y []float64) []float64 {
	t.Helper()
	dev, err := emu.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	e, err := m.Entry("k_" + name)
	if err != nil {
		t.Fatal(err)
	}
	kind := gpu.Float64
	if single {
		kind = gpu.Float32
	}
	var buffers []any
	for range 3 {
		b, err := dev.Alloc(kind, len(x))
		if err != nil {
			t.Fatal(err)
		}
		buffers = append(buffers, b)
	}
	for i, values := range [][]float64{x, y} {
		if err := buffers[i].(gpu.Buffer).Upload(narrowed(values, single)); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Launch(dev, gpu.Dim{X: (len(x) + 255) / 256}, gpu.Dim{X: 256}, append(buffers, int32(len(x)))...); err != nil {
		t.Fatal(err)
	}
	z := make([]float64, len(x))
	if !single {
		if err := buffers[2].(gpu.Buffer).Download(z); err != nil {
			t.Fatal(err)
		}
		return z
	}
	narrow := make([]float32, len(x))
	if err := buffers[2].(gpu.Buffer).Download(narrow); err != nil {
		t.Fatal(err)
	}
	for i, v := range narrow {
		z[i] = float64(v)
	}
	return z
}

func narrowed(values []float64, single bool) any {
	if !single {
		return values
	}
	list := make([]float32, len(values))
	for i, v := range values {
		list[i] = float32(v)
	}
	return list
}
