package emu

import (
	"math"
	"slices"

	"warpbook/gpu/ptx"
)

// halfRows are the instructions on a 16-bit float type and on pairs of it. They
// compute in float64, rounded to odd where that is not exact, and round once.
func halfRows(t ptx.Type) []row {
	ops := []struct {
		name, kinds, options string
		f                    func(a, b, c float64) float64
	}{
		{"add", "hhh", "rn ftz sat", func(a, b, _ float64) float64 { return toOdd(a, b, a+b) }},
		{"sub", "hhh", "rn ftz sat", func(a, b, _ float64) float64 { return toOdd(a, -b, a-b) }},
		{"mul", "hhh", "rn ftz sat", func(a, b, _ float64) float64 { return a * b }},
		{"fma", "hhhh", "rn ftz sat", fusedHalf},
		{"fma.relu", "hhhh", "rn ftz", func(a, b, c float64) float64 { return max(fusedHalf(a, b, c), 0) }},
		{"neg", "hh", "ftz", func(a, _, _ float64) float64 { return -a }},
		{"abs", "hh", "ftz", func(a, _, _ float64) float64 { return math.Abs(a) }},
		{"min", "hhh", "ftz", func(a, b, _ float64) float64 { return lesser(a, b) }},
		{"max", "hhh", "ftz", func(a, b, _ float64) float64 { return -lesser(-a, -b) }},
		{"min.NaN", "hhh", "ftz", func(a, b, _ float64) float64 { return min(a, b) }},
		{"max.NaN", "hhh", "ftz", func(a, b, _ float64) float64 { return max(a, b) }},
		{"ex2.approx", "hh", map[ptx.Type]string{"bf16": "ftz"}[t], func(a, _, _ float64) float64 { return math.Exp2(a) }},
		{"tanh.approx", "hh", "", func(a, _, _ float64) float64 { return math.Tanh(a) }},
	}
	var rows []row
	for _, op := range ops {
		one := half16(t, op.f)
		words := "wwww"[:len(op.kinds)]
		rows = append(rows,
			row{name: op.name + "." + string(t), kinds: op.kinds, options: op.options, lane: one},
			row{name: op.name + "." + string(t) + "x2", kinds: words, options: op.options, lane: both(one)})
	}
	return rows
}

// fusedHalf is a*b+c rounded to odd; the product is exact.
func fusedHalf(a, b, c float64) float64 {
	p := float64(a * b)
	return toOdd(p, c, p+c)
}

// positive replaces negative numbers and NaN by zero.
func positive(v float64) float64 {
	if v > 0 {
		return v
	}
	return 0
}

// half16 makes a lane function of an operation on a 16-bit float type.
func half16(t ptx.Type, f func(a, b, c float64) float64) laneFunc {
	return func(in *instr, a, b, c uint64) uint64 {
		x, y, z := a, b, c
		if in.ftz {
			x, y, z = flushHalf(a, t), flushHalf(b, t), flushHalf(c, t)
		}
		v := f(decode(x, t), decode(y, t), decode(z, t))
		if in.sat {
			v = math.Min(positive(v), 1)
		}
		if smallest := math.Ldexp(1, 2-1<<(formats[t].exponent-1)); in.ftz && math.Abs(v) < smallest {
			v = math.Copysign(0, v) // also what would round to the smallest normal number
		}
		return roundFloat(v, nearest, formats[t])
	}
}

// flushHalf replaces a subnormal number by zero of its sign.
func flushHalf(a uint64, t ptx.Type) uint64 {
	f := formats[t]
	if a>>f.fraction&(1<<f.exponent-1) == 0 {
		return a & 0x8000
	}
	return a
}

// both applies a lane function to the low and the high half.
func both(f laneFunc) laneFunc {
	return func(in *instr, a, b, c uint64) uint64 {
		low := f(in, a&0xffff, b&0xffff, c&0xffff)
		return low | f(in, a>>16, b>>16, c>>16)<<16
	}
}

// compareHalf compares values of a 16-bit float type that stand shift bits up
// in their slots.
func compareHalf(t ptx.Type, shift int, ftz bool) compareFunc {
	value := func(a uint32) float64 {
		half := uint64(a >> shift & 0xffff)
		if ftz {
			half = flushHalf(half, t)
		}
		return decode(half, t)
	}
	return func(w *warp, c comparison, a, b uint32) uint32 {
		var x, y [32]float64
		for l := range x {
			x[l], y[l] = value(lanes[uint32](w, a)[l]), value(lanes[uint32](w, b)[l])
		}
		return compare(c, &x, &y)
	}
}

// setPairForm is set on pairs: each half is 1.0, or all ones, where it holds.
func setPairForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	t := w.last()
	one := map[ptx.Type]uint32{"f16x2": 0x3c00, "bf16x2": 0x3f80}[t]
	if d := w.last(); d == "u32" || d == "s32" {
		one = 0xffff
	} else if d != t {
		return lo.unsupported("no such form of set")
	}
	of := t[:len(t)-2]
	ftz := slices.Contains(w, "ftz")
	w = append(w, string(of))
	c, _, err := lo.comparingOf(&w)
	if err != nil {
		return err
	}
	if len(w) > 0 || c.combine != "" {
		return lo.unsupported("no such form of set")
	}
	in := &lo.op.in
	in.exec = func(w *warp, in *instr, m uint32) {
		low := compareHalf(of, 0, ftz)(w, c.op, in.a, in.b) ^ c.flip
		high := compareHalf(of, 16, ftz)(w, c.op, in.a, in.b) ^ c.flip
		d := lanes[uint32](w, in.d)
		for x := m; x != 0; x &= x - 1 {
			l := lowest(x) & 31
			d[l] = low>>l&1*one | high>>l&1*one<<16
		}
	}
	return first(lo.operands(3, 3), lo.def(&in.d, 0, word), lo.use(&in.a, 1, t), lo.use(&in.b, 2, t))
}

// packForm is cvt of two f32 values to a pair: the first source is the upper
// half.
func packForm(lo *lowering, c *conversion) error {
	one := *c
	one.to = c.to[:len(c.to)-2]
	in := &lo.op.in
	in.kinds, in.exec = "www", runLanes
	in.lane = func(_ *instr, a, b, _ uint64) uint64 {
		return one.convert(a)&0xffff<<16 | one.convert(b)&0xffff
	}
	return first(lo.operands(3, 3), lo.def(&in.d, 0, word), lo.use(&in.a, 1, "f32"), lo.use(&in.b, 2, "f32"))
}
