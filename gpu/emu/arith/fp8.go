package arith

import (
	"math"

	"warpbook/gpu/ptx"
)

// FP8 is a float type of 8 bits. Neither type has an infinity here: e4m3 has none, and
// conversions to e5m2 give the largest number, because they require .satfinite.
type FP8 struct {
	fraction int // bits
	bias     int
	most     float64 // the largest number
	infinite byte    // code of infinity, or 0
}

// FP8s are the two types, by the name of a pair of them.
var FP8s = map[ptx.Type]FP8{"e4m3x2": {3, 7, 448, 0}, "e5m2x2": {2, 15, 57344, 0x7c}}

const nanFP8 = 0x7f

// Encode rounds a number to the nearest, to even if two are, and to the largest if
// it is beyond. NaN is 0x7f; relu turns negative values into 0.
func (f FP8) Encode(v float64, relu bool) byte {
	sign := byte(math.Float64bits(v) >> 63 << 7)
	switch {
	case v != v:
		return nanFP8
	case relu && sign != 0:
		return 0
	case v == 0:
		return sign
	}
	v = min(math.Abs(v), 2*f.most)
	_, e := math.Frexp(v)
	e = max(e-1, 1-f.bias) // subnormal numbers have the exponent of the smallest normal one
	units := int(math.RoundToEven(math.Ldexp(v, f.fraction-e)))
	v = math.Ldexp(float64(units), e-f.fraction)
	if v >= f.most {
		v, e = f.most, int(math.Logb(f.most))
		units = int(math.Ldexp(v, f.fraction-e))
	}
	// With the hidden bit taken as one of the exponent, a carry goes there by itself.
	return sign | byte((e+f.bias-1)<<f.fraction+units)
}

// Decode is the value of a code.
func (f FP8) Decode(code byte) (v float64) {
	e, units := int(code&0x7f)>>f.fraction, int(code)&(1<<f.fraction-1)
	switch {
	case f.infinite == 0 && code&0x7f == nanFP8, f.infinite != 0 && code&0x7f > f.infinite:
		return math.NaN()
	case f.infinite != 0 && code&0x7f == f.infinite:
		v = math.Inf(1)
	case e == 0:
		v = math.Ldexp(float64(units), 1-f.bias-f.fraction)
	default:
		v = math.Ldexp(float64(units+1<<f.fraction), e-f.bias-f.fraction)
	}
	if code >= 0x80 {
		return -v
	}
	return v
}
