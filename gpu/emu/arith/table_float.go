package arith

import "math"

// float32Rows are the instructions on f32.
var float32Rows = []Row{
	{Name: "add.f32", Kinds: "www", Options: round1, Lane: adding.lane32(), Loop: loop2(addF32)},
	{Name: "sub.f32", Kinds: "www", Options: round1, Lane: subtracting.lane32(), Loop: loop2(subF32)},
	{Name: "mul.f32", Kinds: "www", Options: round1, Lane: multiplying.lane32(), Loop: loop2(mulF32)},
	{Name: "fma.f32", Kinds: "wwww", Options: round1, Lane: fusing.lane32(), Loop: loop3(fmaF32)},
	{Name: "mad.f32", Kinds: "wwww", Options: round1, Lane: fusing.lane32(), Loop: loop3(fmaF32)},
	{Name: "div.f32", Kinds: "www", Options: rounds + " ftz", Lane: dividing.lane32()},
	{Name: "div.full.f32", Kinds: "www", Options: "ftz", Lane: dividing.lane32()},
	{Name: "div.approx.f32", Kinds: "www", Options: "ftz", Lane: single(divideFast)},
	{Name: "rcp.f32", Kinds: "ww", Options: rounds + " ftz", Lane: inverting.lane32()},
	{Name: "rcp.approx.f32", Kinds: "ww", Options: "ftz", Lane: inverting.lane32()},
	{Name: "sqrt.f32", Kinds: "ww", Options: rounds + " ftz", Lane: rooting.lane32()},
	{Name: "sqrt.approx.f32", Kinds: "ww", Options: "ftz", Lane: rooting.lane32()},
	{Name: "rsqrt.approx.f32", Kinds: "ww", Options: "ftz", Lane: function32(inverseRoot)},
	{Name: "ex2.approx.f32", Kinds: "ww", Options: "ftz", Lane: function32(math.Exp2)},
	{Name: "lg2.approx.f32", Kinds: "ww", Options: "ftz", Lane: function32(math.Log2)},
	{Name: "sin.approx.f32", Kinds: "ww", Options: "ftz", Lane: function32(math.Sin)},
	{Name: "cos.approx.f32", Kinds: "ww", Options: "ftz", Lane: function32(math.Cos)},
	{Name: "tanh.approx.f32", Kinds: "ww", Lane: function32(math.Tanh)},
	{Name: "neg.f32", Kinds: "ww", Options: "ftz", Lane: single(func(_ *Operation, a, _, _ float32) float32 { return -a })},
	{Name: "abs.f32", Kinds: "ww", Options: "ftz", Lane: single(func(_ *Operation, a, _, _ float32) float32 { return abs32(a) })},
	{Name: "min.f32", Kinds: "www", Options: "ftz", Lane: single(func(_ *Operation, a, b, _ float32) float32 { return lesser(a, b) })},
	{Name: "max.f32", Kinds: "www", Options: "ftz", Lane: single(func(_ *Operation, a, b, _ float32) float32 { return -lesser(-a, -b) })},
	{Name: "min.NaN.f32", Kinds: "www", Options: "ftz", Lane: single(func(_ *Operation, a, b, _ float32) float32 { return min(a, b) })},
	{Name: "max.NaN.f32", Kinds: "www", Options: "ftz", Lane: single(func(_ *Operation, a, b, _ float32) float32 { return max(a, b) })},
	{Name: "min.xorsign.abs.f32", Kinds: "www", Options: "ftz", Lane: single(func(_ *Operation, a, b, _ float32) float32 { return withSigns(lesser(abs32(a), abs32(b)), a, b) })},
	{Name: "max.xorsign.abs.f32", Kinds: "www", Options: "ftz", Lane: single(func(_ *Operation, a, b, _ float32) float32 { return withSigns(-lesser(-abs32(a), -abs32(b)), a, b) })},
	{Name: "copysign.f32", Kinds: "www", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return a&(1<<31) | b&(1<<31-1) }},
}

// float64Rows are the instructions on f64.
var float64Rows = []Row{
	{Name: "add.f64", Kinds: "ddd", Options: rounds, Lane: adding.lane64(), Loop: loop2(addF64)},
	{Name: "sub.f64", Kinds: "ddd", Options: rounds, Lane: subtracting.lane64()},
	{Name: "mul.f64", Kinds: "ddd", Options: rounds, Lane: multiplying.lane64(), Loop: loop2(mulF64)},
	{Name: "fma.f64", Kinds: "dddd", Options: rounds, Lane: fusing.lane64(), Loop: loop3(fmaF64)},
	{Name: "mad.f64", Kinds: "dddd", Options: rounds, Lane: fusing.lane64(), Loop: loop3(fmaF64)},
	{Name: "div.f64", Kinds: "ddd", Options: rounds, Lane: dividing.lane64()},
	{Name: "rcp.f64", Kinds: "dd", Options: rounds, Lane: inverting.lane64()},
	{Name: "sqrt.f64", Kinds: "dd", Options: rounds, Lane: rooting.lane64()},
	{Name: "rsqrt.approx.f64", Kinds: "dd", Options: "ftz", Lane: func(o *Operation, a, b, c uint64) uint64 {
		if o.FTZ {
			return rough(inverseRoot)(o, a, b, c)
		}
		return Bits64(inverseRoot(F64(a)), a)
	}},
	{Name: "rcp.approx.f64", Kinds: "dd", Options: "ftz", Lane: rough(func(v float64) float64 { return 1 / v })},
	{Name: "neg.f64", Kinds: "dd", Lane: func(_ *Operation, a, _, _ uint64) uint64 { return Bits64(-F64(a), a) }},
	{Name: "abs.f64", Kinds: "dd", Lane: func(_ *Operation, a, _, _ uint64) uint64 { return Bits64(math.Abs(F64(a)), a) }},
	{Name: "min.f64", Kinds: "ddd", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return Bits64(lesser(F64(a), F64(b)), a, b) }},
	{Name: "max.f64", Kinds: "ddd", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return Bits64(-lesser(-F64(a), -F64(b)), a, b) }},
	{Name: "copysign.f64", Kinds: "ddd", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return a&(1<<63) | b&(1<<63-1) }},
}

// function32 is a function that the GPU approximates, rounded correctly within the
// precision of float64.
func function32(f func(float64) float64) Lane {
	return single(func(_ *Operation, a, _, _ float32) float32 { return float32(f(float64(a))) })
}

// divideFast is div.approx: for a divisor above 2^126 the quotient is 0, or NaN if the
// dividend is infinite.
func divideFast(o *Operation, a, b, c float32) float32 {
	if math.Abs(float64(b)) > 1<<126 && !math.IsInf(float64(b), 0) {
		return a * math.Float32frombits(math.Float32bits(b)&(1<<31))
	}
	return dividing.rounded32(o, a, b, c)
}

func abs32(a float32) float32 { return math.Float32frombits(math.Float32bits(a) &^ (1 << 31)) }

// withSigns gives a number the product of two signs.
func withSigns(v, a, b float32) float32 {
	sign := (math.Float32bits(a) ^ math.Float32bits(b)) & (1 << 31)
	return math.Float32frombits(math.Float32bits(v)&^(1<<31) | sign)
}

// rough is an .ftz function of f64 that reads the upper half of its operand and gives
// the upper half of the result.
func rough(f func(float64) float64) Lane {
	upper := func(v float64) float64 {
		u := math.Float64bits(v)
		if u>>52&0x7ff == 0 {
			u &= 1 << 63
		}
		return F64(u >> 32 << 32)
	}
	return func(_ *Operation, a, _, _ uint64) uint64 {
		v := upper(f(upper(F64(a))))
		if v != v {
			return nan32 << 32
		}
		return math.Float64bits(v) >> 32 << 32
	}
}

func inverseRoot(v float64) float64 { return 1 / math.Sqrt(v) }

// lesser is the smaller number, with -0 below +0; NaN only if both are NaN.
func lesser[T float32 | float64](a, b T) T {
	switch {
	case a != a:
		return b
	case b != b:
		return a
	}
	return min(a, b)
}

func addF32(d *[32]uint32, a, b *[32]float32) {
	for l := range d {
		d[l] = bits32(a[l] + b[l])
	}
}

func subF32(d *[32]uint32, a, b *[32]float32) {
	for l := range d {
		d[l] = bits32(a[l] - b[l])
	}
}

func mulF32(d *[32]uint32, a, b *[32]float32) {
	for l := range d {
		d[l] = bits32(a[l] * b[l])
	}
}

func fmaF32(d *[32]uint32, a, b, c *[32]float32) {
	for l := range d {
		d[l] = bits32(fma32(a[l], b[l], c[l]))
	}
}

func addF64(d, a, b *[32]uint64) {
	for l := range d {
		d[l] = Bits64(F64(a[l])+F64(b[l]), a[l], b[l])
	}
}

func mulF64(d, a, b *[32]uint64) {
	for l := range d {
		d[l] = Bits64(F64(a[l])*F64(b[l]), a[l], b[l])
	}
}

func fmaF64(d, a, b, c *[32]uint64) {
	for l := range d {
		d[l] = Bits64(math.FMA(F64(a[l]), F64(b[l]), F64(c[l])), a[l], c[l], b[l])
	}
}
