package arith

import (
	"math"
	"math/big"

	"warpbook/gpu/ptx"
)

// Conversion is cvt: from one type to another, through float64 or int64, which
// hold every value of the narrower types.
type Conversion struct {
	From, To ptx.Type
	Mode     string // "rn", "rzi", ... or ""
	FTZ, Sat bool
	Relu     bool // negative numbers become zero
}

var ConversionTypes = map[ptx.Type]bool{
	"u8": true, "s8": true, "u16": true, "s16": true, "u32": true, "s32": true, "u64": true, "s64": true,
	"f16": true, "bf16": true, "f32": true, "f64": true,
}

func Extend[D, A uint32 | int32 | uint64 | int64 | float32](d *[32]D, a *[32]A) {
	for l := range d {
		d[l] = D(a[l])
	}
}

// Convert converts one value. The result is sign-extended to 64 bits, because a register
// may be wider than the type.
func (c *Conversion) Convert(a uint64) uint64 {
	fromFloat, toFloat := IsFloat(c.From), IsFloat(c.To)
	switch {
	case !fromFloat && !toFloat:
		return c.intToInt(a)
	case !fromFloat:
		return c.intToFloat(a)
	case !toFloat:
		return c.floatToInt(a)
	}
	return c.floatToFloat(a)
}

// AsInt is a value of an integer type, extended to 64 bits.
func AsInt(a uint64, t ptx.Type) uint64 {
	switch t {
	case "u8":
		return uint64(uint8(a))
	case "s8":
		return uint64(int8(a))
	case "u16":
		return uint64(uint16(a))
	case "s16":
		return uint64(int16(a))
	case "u32":
		return uint64(uint32(a))
	case "s32":
		return uint64(int32(a))
	}
	return a
}

// intRange is the least and the greatest value of an integer type.
func intRange(t ptx.Type) (least int64, most uint64) {
	n := 8 * t.Bytes()
	if t[0] == 'u' {
		return 0, 1<<n - 1
	}
	return -1 << (n - 1), 1<<(n-1) - 1
}

func (c *Conversion) intToInt(a uint64) uint64 {
	v := AsInt(a, c.From)
	if c.Sat {
		least, most := intRange(c.To)
		if c.From[0] == 's' && int64(v) < 0 {
			v = uint64(max(int64(v), least))
		} else {
			v = min(v, most)
		}
	}
	return AsInt(v, c.To)
}

// intToFloat rounds once: to f64 from the integer, to narrower types from a float64 that
// was rounded to odd.
func (c *Conversion) intToFloat(a uint64) uint64 {
	v, negative := AsInt(a, c.From), false
	if c.From[0] == 's' && int64(v) < 0 {
		v, negative = -v, true
	}
	mode := Roundings[c.Mode]
	if c.To == "f64" && v != 0 && mode != Nearest {
		z := new(big.Float).SetUint64(v)
		if negative {
			z.Neg(z)
		}
		return math.Float64bits(round(mode, z, 64))
	}
	high, low := float64(v>>32)*(1<<32), float64(uint32(v))
	sum := high + low
	if c.To != "f64" {
		sum = toOdd(high, low, sum)
	}
	if negative {
		sum = -sum
	}
	return c.encode(sum)
}

// encode rounds a value to the float type.
func (c *Conversion) encode(v float64) uint64 {
	if c.Sat {
		v = math.Min(positive(v), 1)
	}
	if c.To == "f64" {
		return math.Float64bits(v)
	}
	if c.Relu {
		v = positive(v)
	}
	r := RoundFloat(v, Roundings[c.Mode], FormatOf(c.To))
	if c.To == "tf32" {
		r <<= 13
	}
	if c.FTZ && c.To == "f32" {
		r = uint64(math.Float32bits(Flush(F32(r))))
	}
	return r
}

// floatToInt rounds and clamps. NaN becomes 0, or the highest bit alone if one
// of the types has 64 bits.
func (c *Conversion) floatToInt(a uint64) uint64 {
	v := Decode(a, c.From)
	if c.FTZ && c.From == "f32" {
		v = float64(Flush(float32(v)))
	}
	if v != v {
		if c.From == "f64" || c.To.Bytes() == 8 {
			return AsInt(1<<(8*c.To.Bytes()-1), c.To)
		}
		return 0
	}
	switch c.Mode {
	case "rni":
		v = math.RoundToEven(v)
	case "rmi":
		v = math.Floor(v)
	case "rpi":
		v = math.Ceil(v)
	default:
		v = math.Trunc(v)
	}
	least, most := intRange(c.To)
	switch {
	case v <= float64(least):
		return uint64(least)
	case v >= float64(most):
		return most
	case v < 0:
		return uint64(int64(v))
	}
	return uint64(v)
}

func (c *Conversion) floatToFloat(a uint64) uint64 {
	if c.FTZ && c.From == "f32" {
		a = uint64(bits32(Flush(F32(a))))
	}
	v := Decode(a, c.From)
	switch c.Mode { // to an integral value of the same type
	case "rni":
		v = math.RoundToEven(v)
	case "rzi":
		v = math.Trunc(v)
	case "rmi":
		v = math.Floor(v)
	case "rpi":
		v = math.Ceil(v)
	}
	if v != v && !c.Sat {
		return c.nan(a)
	}
	return c.encode(v)
}

// nan is the result for a NaN. Conversions from and to f64 keep the payload bits that
// fit and make the NaN quiet, a conversion from bf16 to f32 keeps all of them, and other
// conversions keep none.
func (c *Conversion) nan(a uint64) uint64 {
	switch {
	case c.From == "f64" || c.To == "f64":
		from, to := FormatOf(c.From), FormatOf(c.To)
		sign := a >> (from.exponent + from.fraction) & 1
		payload := a << (64 - from.fraction) >> (64 - to.fraction)
		top := uint64(1)<<(to.exponent+1) - 1 // exponent and quiet bit
		return sign<<(to.exponent+to.fraction) | top<<(to.fraction-1) | payload
	case c.From == "bf16" && c.To == "f32":
		return a << 16
	case c.To == "tf32":
		return a >> 13 << 13
	}
	return RoundFloat(math.NaN(), Nearest, FormatOf(c.To))
}

// format is a float type, described by its numbers of bits.
type format struct{ exponent, fraction uint }

// FormatOf is the format of a type, zero for one that is no float. Tensor cores ask once
// for each product, which a map makes a seventh of their time.
func FormatOf(t ptx.Type) format {
	switch t {
	case "f16":
		return format{5, 10}
	case "bf16":
		return format{8, 7}
	case "f32":
		return format{8, 23}
	case "f64":
		return format{11, 52}
	case "tf32":
		return format{8, 10}
	}
	return format{}
}

// Decode is the value of a float type, which float64 holds exactly.
func Decode(a uint64, t ptx.Type) float64 {
	switch t {
	case "f64":
		return F64(a)
	case "f32":
		return float64(F32(a))
	case "bf16":
		return float64(F32(a << 16))
	}
	sign, e, f := a>>15&1, int(a>>10&31), a&(1<<10-1)
	var v float64
	switch e {
	case 0:
		v = math.Ldexp(float64(f), -24)
	case 31:
		if v = math.Inf(1); f != 0 {
			v = math.NaN()
		}
	default:
		v = math.Ldexp(float64(f|1<<10), e-25)
	}
	if sign != 0 {
		return -v
	}
	return v
}

// RoundFloat rounds a float64 to a narrower format. The mode determines subnormal
// results and overflow.
func RoundFloat(v float64, mode rounding, f format) uint64 {
	u := math.Float64bits(v)
	sign := u >> 63 << (f.exponent + f.fraction)
	infinity := (uint64(1)<<f.exponent - 1) << f.fraction
	bias := 1<<(f.exponent-1) - 1
	switch {
	case v != v:
		return infinity | (1<<f.fraction - 1)
	case v == 0:
		return sign
	case math.IsInf(v, 0):
		return sign | infinity
	}
	fraction, exponent := math.Frexp(math.Abs(v)) // fraction in [1/2, 1)
	e := exponent - 1 + bias
	drop := 52 - int(f.fraction)
	if e < 1 { // subnormal: fewer bits
		drop, e = drop+1-e, 1
	}
	whole := uint64(math.Ldexp(fraction, 53))
	if drop > 54 {
		drop, whole = 54, 1 // less than half of the smallest number
	}
	kept, rest := whole>>drop, whole&(1<<drop-1)
	if roundsUp(mode, kept, rest, uint64(1)<<(drop-1), sign != 0) {
		kept++
	}
	r := uint64(e-1)<<f.fraction + kept
	if r >= infinity {
		r = infinity
		if mode == zero || mode == down && sign == 0 || mode == up && sign != 0 {
			r--
		}
	}
	return sign | r
}

func roundsUp(mode rounding, kept, rest, half uint64, negative bool) bool {
	switch mode {
	case Nearest:
		return rest > half || rest == half && kept&1 != 0
	case away:
		return rest >= half
	case up:
		return rest != 0 && !negative
	case down:
		return rest != 0 && negative
	}
	return false
}
