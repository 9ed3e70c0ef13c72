package emu

import "math"

// float32Rows are the instructions on f32.
var float32Rows = []row{
	{name: "add.f32", kinds: "www", options: round1, lane: adding.lane32(), fast: map2(addF32)},
	{name: "sub.f32", kinds: "www", options: round1, lane: subtracting.lane32(), fast: map2(subF32)},
	{name: "mul.f32", kinds: "www", options: round1, lane: multiplying.lane32(), fast: map2(mulF32)},
	{name: "fma.f32", kinds: "wwww", options: round1, lane: fusing.lane32(), fast: map3(fmaF32)},
	{name: "mad.f32", kinds: "wwww", options: round1, lane: fusing.lane32(), fast: map3(fmaF32)},
	{name: "div.f32", kinds: "www", options: rounds + " ftz", lane: dividing.lane32()},
	{name: "div.full.f32", kinds: "www", options: "ftz", lane: dividing.lane32()},
	{name: "div.approx.f32", kinds: "www", options: "ftz", lane: single(divideFast)},
	{name: "rcp.f32", kinds: "ww", options: rounds + " ftz", lane: inverting.lane32()},
	{name: "rcp.approx.f32", kinds: "ww", options: "ftz", lane: inverting.lane32()},
	{name: "sqrt.f32", kinds: "ww", options: rounds + " ftz", lane: rooting.lane32()},
	{name: "sqrt.approx.f32", kinds: "ww", options: "ftz", lane: rooting.lane32()},
	{name: "rsqrt.approx.f32", kinds: "ww", options: "ftz", lane: function32(inverseRoot)},
	{name: "ex2.approx.f32", kinds: "ww", options: "ftz", lane: function32(math.Exp2)},
	{name: "lg2.approx.f32", kinds: "ww", options: "ftz", lane: function32(math.Log2)},
	{name: "sin.approx.f32", kinds: "ww", options: "ftz", lane: function32(math.Sin)},
	{name: "cos.approx.f32", kinds: "ww", options: "ftz", lane: function32(math.Cos)},
	{name: "tanh.approx.f32", kinds: "ww", lane: function32(math.Tanh)},
	{name: "neg.f32", kinds: "ww", options: "ftz", lane: single(func(_ *instr, a, _, _ float32) float32 { return -a })},
	{name: "abs.f32", kinds: "ww", options: "ftz", lane: single(func(_ *instr, a, _, _ float32) float32 { return abs32(a) })},
	{name: "min.f32", kinds: "www", options: "ftz", lane: single(func(_ *instr, a, b, _ float32) float32 { return lesser(a, b) })},
	{name: "max.f32", kinds: "www", options: "ftz", lane: single(func(_ *instr, a, b, _ float32) float32 { return -lesser(-a, -b) })},
	{name: "min.NaN.f32", kinds: "www", options: "ftz", lane: single(func(_ *instr, a, b, _ float32) float32 { return min(a, b) })},
	{name: "max.NaN.f32", kinds: "www", options: "ftz", lane: single(func(_ *instr, a, b, _ float32) float32 { return max(a, b) })},
	{name: "min.xorsign.abs.f32", kinds: "www", options: "ftz", lane: single(func(_ *instr, a, b, _ float32) float32 { return withSigns(lesser(abs32(a), abs32(b)), a, b) })},
	{name: "max.xorsign.abs.f32", kinds: "www", options: "ftz", lane: single(func(_ *instr, a, b, _ float32) float32 { return withSigns(-lesser(-abs32(a), -abs32(b)), a, b) })},
	{name: "copysign.f32", kinds: "www", lane: func(_ *instr, a, b, _ uint64) uint64 { return a&(1<<31) | b&(1<<31-1) }},
}

// float64Rows are the instructions on f64.
var float64Rows = []row{
	{name: "add.f64", kinds: "ddd", options: rounds, lane: adding.lane64(), fast: map2(addF64)},
	{name: "sub.f64", kinds: "ddd", options: rounds, lane: subtracting.lane64()},
	{name: "mul.f64", kinds: "ddd", options: rounds, lane: multiplying.lane64(), fast: map2(mulF64)},
	{name: "fma.f64", kinds: "dddd", options: rounds, lane: fusing.lane64(), fast: map3(fmaF64)},
	{name: "mad.f64", kinds: "dddd", options: rounds, lane: fusing.lane64(), fast: map3(fmaF64)},
	{name: "div.f64", kinds: "ddd", options: rounds, lane: dividing.lane64()},
	{name: "rcp.f64", kinds: "dd", options: rounds, lane: inverting.lane64()},
	{name: "sqrt.f64", kinds: "dd", options: rounds, lane: rooting.lane64()},
	{name: "rsqrt.approx.f64", kinds: "dd", options: "ftz", lane: func(in *instr, a, b, c uint64) uint64 {
		if in.ftz {
			return rough(inverseRoot)(in, a, b, c)
		}
		return bits64(inverseRoot(f64(a)), a)
	}},
	{name: "rcp.approx.f64", kinds: "dd", options: "ftz", lane: rough(func(v float64) float64 { return 1 / v })},
	{name: "neg.f64", kinds: "dd", lane: func(_ *instr, a, _, _ uint64) uint64 { return bits64(-f64(a), a) }},
	{name: "abs.f64", kinds: "dd", lane: func(_ *instr, a, _, _ uint64) uint64 { return bits64(math.Abs(f64(a)), a) }},
	{name: "min.f64", kinds: "ddd", lane: func(_ *instr, a, b, _ uint64) uint64 { return bits64(lesser(f64(a), f64(b)), a, b) }},
	{name: "max.f64", kinds: "ddd", lane: func(_ *instr, a, b, _ uint64) uint64 { return bits64(-lesser(-f64(a), -f64(b)), a, b) }},
	{name: "copysign.f64", kinds: "ddd", lane: func(_ *instr, a, b, _ uint64) uint64 { return a&(1<<63) | b&(1<<63-1) }},
}

// function32 is a function that the GPU approximates, correctly rounded as far
// as float64 gives it.
func function32(f func(float64) float64) laneFunc {
	return single(func(_ *instr, a, _, _ float32) float32 { return float32(f(float64(a))) })
}

// divideFast is div.approx: by more than 2^126, the quotient is 0, or NaN of
// infinity.
func divideFast(in *instr, a, b, c float32) float32 {
	if math.Abs(float64(b)) > 1<<126 && !math.IsInf(float64(b), 0) {
		return a * math.Float32frombits(math.Float32bits(b)&(1<<31))
	}
	return dividing.rounded32(in, a, b, c)
}

func abs32(a float32) float32 { return math.Float32frombits(math.Float32bits(a) &^ (1 << 31)) }

// withSigns gives a number the product of two signs.
func withSigns(v, a, b float32) float32 {
	sign := (math.Float32bits(a) ^ math.Float32bits(b)) & (1 << 31)
	return math.Float32frombits(math.Float32bits(v)&^(1<<31) | sign)
}

// rough is an .ftz function of f64 that looks at the upper half of its operand
// and gives that of the result.
func rough(f func(float64) float64) laneFunc {
	upper := func(v float64) float64 {
		u := math.Float64bits(v)
		if u>>52&0x7ff == 0 {
			u &= 1 << 63
		}
		return f64(u >> 32 << 32)
	}
	return func(_ *instr, a, _, _ uint64) uint64 {
		v := upper(f(upper(f64(a))))
		if v != v {
			return nan32 << 32
		}
		return math.Float64bits(v) >> 32 << 32
	}
}

func inverseRoot(v float64) float64 { return 1 / math.Sqrt(v) }

// lesser is the smaller number, -0 before +0; NaN only if both are.
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
		d[l] = bits64(f64(a[l])+f64(b[l]), a[l], b[l])
	}
}

func mulF64(d, a, b *[32]uint64) {
	for l := range d {
		d[l] = bits64(f64(a[l])*f64(b[l]), a[l], b[l])
	}
}

func fmaF64(d, a, b, c *[32]uint64) {
	for l := range d {
		d[l] = bits64(math.FMA(f64(a[l]), f64(b[l]), f64(c[l])), a[l], c[l], b[l])
	}
}
