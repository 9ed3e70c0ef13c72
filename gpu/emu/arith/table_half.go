package arith

import (
	"math"

	"warpbook/gpu/ptx"
)

// halfRows are the instructions on a 16-bit float type and on pairs of it. They
// compute in float64, rounded to odd where that is not exact, and round once.
func halfRows(t ptx.Type) []Row {
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
	var rows []Row
	for _, op := range ops {
		one := half16(t, op.f)
		words := "wwww"[:len(op.kinds)]
		rows = append(rows,
			Row{Name: op.name + "." + string(t), Kinds: op.kinds, Options: op.options, Lane: one},
			Row{Name: op.name + "." + string(t) + "x2", Kinds: words, Options: op.options, Lane: both(one)})
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
func half16(t ptx.Type, f func(a, b, c float64) float64) Lane {
	return func(o *Operation, a, b, c uint64) uint64 {
		x, y, z := a, b, c
		if o.FTZ {
			x, y, z = FlushHalf(a, t), FlushHalf(b, t), FlushHalf(c, t)
		}
		v := f(Decode(x, t), Decode(y, t), Decode(z, t))
		if o.Sat {
			v = math.Min(positive(v), 1)
		}
		if smallest := math.Ldexp(1, 2-1<<(FormatOf(t).exponent-1)); o.FTZ && math.Abs(v) < smallest {
			v = math.Copysign(0, v) // also for values that would round to the smallest normal number
		}
		return RoundFloat(v, Nearest, FormatOf(t))
	}
}

// FlushHalf replaces a subnormal number by zero of its sign.
func FlushHalf(a uint64, t ptx.Type) uint64 {
	f := FormatOf(t)
	if a>>f.fraction&(1<<f.exponent-1) == 0 {
		return a & 0x8000
	}
	return a
}

// both applies a lane function to the low and the high half.
func both(f Lane) Lane {
	return func(o *Operation, a, b, c uint64) uint64 {
		low := f(o, a&0xffff, b&0xffff, c&0xffff)
		return low | f(o, a>>16, b>>16, c>>16)<<16
	}
}
