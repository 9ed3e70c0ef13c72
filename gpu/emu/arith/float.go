package arith

import (
	"math"
	"math/big"
	"slices"
)

// rounding is how a float result is rounded.
type rounding uint8

const (
	Nearest rounding = iota // ties to even
	zero
	down
	up
	away // to nearest, ties away from zero
)

var Roundings = map[string]rounding{"rn": Nearest, "rz": zero, "rm": down, "rp": up, "rna": away}

// nan32 is the NaN of every f32 result: payloads are dropped. An f64 result is one of
// the NaN operands, made quiet: the second, else the third, else the first.
const (
	nan32 = 0x7fffffff
	nan64 = 0xfff8000000000000 // of an invalid operation
	quiet = 1 << 51
)

func F32(a uint64) float32 { return math.Float32frombits(uint32(a)) }
func F64(a uint64) float64 { return math.Float64frombits(a) }

// bits32 is the bits of an f32 result.
func bits32(v float32) uint32 {
	if v != v {
		return nan32
	}
	return math.Float32bits(v)
}

// smallest32 is the smallest normal f32.
const smallest32 = 0x1p-126

// Flush replaces a subnormal number by zero of its sign.
func Flush(v float32) float32 {
	if b := math.Float32bits(v); b&0x7f800000 == 0 {
		return math.Float32frombits(b & 0x80000000)
	}
	return v
}

// single makes a lane function of an f32 operation with its options.
func single(f func(o *Operation, a, b, c float32) float32) Lane {
	return func(o *Operation, a, b, c uint64) uint64 {
		x, y, z := F32(a), F32(b), F32(c)
		if o.FTZ {
			x, y, z = Flush(x), Flush(y), Flush(z)
		}
		v := f(o, x, y, z)
		if o.FTZ {
			v = Flush(v)
		}
		if o.Sat {
			v = saturate(v)
		}
		return uint64(bits32(v))
	}
}

// saturate clamps to [0, 1]; NaN becomes 0.
func saturate(v float32) float32 {
	if v > 1 {
		return 1
	}
	if v > 0 {
		return v
	}
	return 0
}

// fma32 is a*b+c rounded once. The product is exact in float64. The sum is rounded in
// float64 first, which is harmless unless it then lies exactly between two float32
// numbers or below the smallest normal one: there the lost part of the sum decides.
func fma32(a, b, c float32) float32 {
	p := float64(a) * float64(b)
	z := float64(c)
	s := p + z
	u := math.Float64bits(s)
	const half = 1 << 28 // of the 29 bits that float32 lacks
	if u&(1<<29-1) != half && u>>52&0x7ff > 1023-126 {
		return float32(s)
	}
	return float32(toOdd(p, z, s))
}

// toOdd replaces an inexact sum s of p and z by that neighbour of s whose last bit is
// odd. It then rounds as the exact sum does.
func toOdd(p, z, s float64) float64 {
	t := s - p
	lost := (p - (s - t)) + (z - t)
	if lost == 0 || lost != lost || math.IsInf(s, 0) {
		return s
	}
	u := math.Float64bits(s)
	if u&1 != 0 {
		return s
	}
	if (lost > 0) == (s > 0) {
		return math.Float64frombits(u + 1)
	}
	return math.Float64frombits(u - 1)
}

// precision holds every product and sum of three f64 numbers exactly, and a quotient or
// root precisely enough for a correct rounding to f64.
const precision = 4400

// round rounds a nonzero number: to nearest, and then to the neighbour if the mode
// requires it.
func round(mode rounding, z *big.Float, size int) float64 {
	v, accuracy := z.Float64()
	if size == 32 {
		var w float32
		w, accuracy = z.Float32()
		v = float64(w)
	}
	toward := math.Inf(1)
	if mode == down || mode == zero && !z.Signbit() {
		toward = math.Inf(-1)
	}
	if accuracy == big.Exact || (accuracy == big.Above) != (toward < 0) {
		return v
	}
	if size == 32 {
		return float64(math.Nextafter32(float32(v), float32(toward)))
	}
	return math.Nextafter(v, toward)
}

// number is v as a big.Float; v is finite.
func number(v float64) *big.Float { return new(big.Float).SetPrec(53).SetFloat64(v) }

// finite reports whether all values are finite.
func finite(vs ...float64) bool {
	for _, v := range vs {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// arithmetic is an operation that can round in every mode.
type arithmetic struct {
	f32   func(a, b, c float32) float32
	f64   func(a, b, c float64) float64
	exact func(z, a, b, c *big.Float) *big.Float // nil result: exactly as to nearest

	// mirror returns the operands whose result is the negated one: rounding that upward
	// and negating it is rounding downward, also for the sign of zero.
	mirror func(a, b, c float64) (x, y, z float64)

	dividend bool // if two operands are NaN, the first is the result
}

var (
	adding = arithmetic{
		func(a, b, _ float32) float32 { return a + b },
		func(a, b, _ float64) float64 { return a + b },
		func(z, a, b, _ *big.Float) *big.Float { return z.Add(a, b) },
		func(a, b, c float64) (x, y, z float64) { return -a, -b, c },
		false,
	}
	subtracting = arithmetic{
		func(a, b, _ float32) float32 { return a - b },
		func(a, b, _ float64) float64 { return a - b },
		func(z, a, b, _ *big.Float) *big.Float { return z.Sub(a, b) },
		func(a, b, c float64) (x, y, z float64) { return -a, -b, c },
		false,
	}
	multiplying = arithmetic{
		func(a, b, _ float32) float32 { return a * b },
		func(a, b, _ float64) float64 { return a * b },
		func(z, a, b, _ *big.Float) *big.Float { return z.Mul(a, b) },
		func(a, b, c float64) (x, y, z float64) { return -a, b, c },
		false,
	}
	fusing = arithmetic{
		fma32,
		math.FMA,
		func(z, a, b, c *big.Float) *big.Float { return z.Add(z.Mul(a, b), c) },
		func(a, b, c float64) (x, y, z float64) { return -a, b, -c },
		false,
	}
	dividing = arithmetic{
		func(a, b, _ float32) float32 { return a / b },
		func(a, b, _ float64) float64 { return a / b },
		func(z, a, b, _ *big.Float) *big.Float {
			if b.Sign() == 0 {
				return nil
			}
			return z.Quo(a, b)
		},
		func(a, b, c float64) (x, y, z float64) { return -a, b, c },
		true,
	}
	inverting = arithmetic{
		func(a, _, _ float32) float32 { return 1 / a },
		func(a, _, _ float64) float64 { return 1 / a },
		func(z, a, _, _ *big.Float) *big.Float {
			if a.Sign() == 0 {
				return nil
			}
			return z.Quo(number(1), a)
		},
		func(a, b, c float64) (x, y, z float64) { return -a, b, c },
		false,
	}
	rooting = arithmetic{
		func(a, _, _ float32) float32 { return float32(math.Sqrt(float64(a))) },
		func(a, _, _ float64) float64 { return math.Sqrt(a) },
		func(z, a, _, _ *big.Float) *big.Float {
			if a.Sign() <= 0 {
				return nil
			}
			return z.Sqrt(a)
		},
		nil, false,
	}
)

// lane32 and lane64 are the lane functions of an operation.
func (op arithmetic) lane32() Lane { return single(op.rounded32) }

// rounded32 is the operation on f32, rounded in the instruction's mode.
func (op arithmetic) rounded32(o *Operation, a, b, c float32) float32 {
	v := op.f32(a, b, c)
	x, y, z := float64(a), float64(b), float64(c)
	if o.Mode != Nearest {
		v = float32(op.directed(o.Mode, float64(v), x, y, z, 32))
	}
	if o.FTZ && abs32(v) == smallest32 && math.Abs(op.f64(x, y, z)) < smallest32 {
		return v * 0 // a GPU flushes tiny results before it rounds them
	}
	return v
}

func (op arithmetic) lane64() Lane {
	return func(o *Operation, a, b, c uint64) uint64 {
		v := op.f64(F64(a), F64(b), F64(c))
		if o.Mode != Nearest {
			v = op.directed(o.Mode, v, F64(a), F64(b), F64(c), 64)
		}
		if op.dividend {
			return Bits64(v, b, a)
		}
		return Bits64(v, a, c, b)
	}
}

// directed rounds in a mode other than to nearest; v is the result to nearest.
func (op arithmetic) directed(mode rounding, v, a, b, c float64, size int) float64 {
	if math.IsNaN(v) || !finite(a, b, c) {
		return v
	}
	z := op.exact(new(big.Float).SetPrec(precision), number(a), number(b), number(c))
	switch {
	case z == nil || z.IsInf():
		return v
	case z.Sign() != 0:
		return round(mode, z, size)
	case mode == down && op.mirror != nil:
		return -op.f64(op.mirror(a, b, c))
	}
	return v
}

// Bits64 is the bits of an f64 result; of operands that are NaN, the last wins.
func Bits64(v float64, operands ...uint64) uint64 {
	if v == v {
		return math.Float64bits(v)
	}
	return nanOf(operands)
}

func nanOf(operands []uint64) uint64 {
	for _, o := range slices.Backward(operands) {
		if x := F64(o); x != x {
			return o | quiet
		}
	}
	return nan64
}
