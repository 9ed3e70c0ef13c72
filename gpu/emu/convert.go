package emu

import (
	"math"
	"math/big"

	"warpbook/gpu/ptx"
)

// conversion is cvt: from one type to another, through float64 or int64, which
// hold every value of the narrower types.
type conversion struct {
	from, to ptx.Type
	mode     string // "rn", "rzi", ... or ""
	ftz, sat bool
	relu     bool // negative numbers become zero
}

var conversionTypes = map[ptx.Type]bool{
	"u8": true, "s8": true, "u16": true, "s16": true, "u32": true, "s32": true, "u64": true, "s64": true,
	"f16": true, "bf16": true, "f32": true, "f64": true,
}

func cvtForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	c := &conversion{}
	c.from, c.to = w.last(), w.last()
	c.mode = w.take("rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "rna")
	c.ftz, c.sat, c.relu = w.has("ftz"), w.has("sat"), w.has("relu")
	if len(w) == 0 && c.from == "f32" && (c.to == "f16x2" || c.to == "bf16x2") && (c.mode == "rn" || c.mode == "rz") {
		return packForm(lo, c)
	}
	tf32 := c.to == "tf32" && c.from == "f32" && c.mode != "rz"
	if len(w) > 0 || !conversionTypes[c.from] || !conversionTypes[c.to] && !tf32 || c.mode == "rna" && !tf32 {
		return lo.unsupported("no such form of cvt")
	}
	if err := lo.operands(2, 2); err != nil {
		return err
	}
	in := &lo.op.in
	d, err := lo.wideEnough(0, c.to)
	if err != nil {
		return err
	}
	a, err := lo.wideEnough(1, c.from)
	if err != nil {
		return err
	}
	in.kinds, in.exec = string([]rune{rune(widthOf(d)), rune(widthOf(a))}), runLanes
	in.lane = func(_ *instr, a, _, _ uint64) uint64 { return c.convert(a) }
	if fast := fastConversions[*c]; fast.exec != nil && fast.kinds == in.kinds {
		in.exec = fast.exec
		in.vector.op = vectorConversions[*c]
	}
	return first(lo.def(&in.d, 0, widthOf(d)), lo.use(&in.a, 1, a))
}

// fastConversions are those worth a loop.
var fastConversions = map[conversion]struct {
	kinds string
	exec  execFunc
}{
	{from: "u32", to: "u64"}: {"dw", map1(extend[uint64, uint32])},
	{from: "s32", to: "s64"}: {"dw", map1(extend[int64, int32])},
	{from: "u64", to: "u32"}: {"wd", map1(extend[uint32, uint64])},
	{from: "s64", to: "s32"}: {"wd", map1(extend[uint32, uint64])},

	{from: "u32", to: "f32", mode: "rn"}: {"ww", map1(extend[float32, uint32])},
	{from: "s32", to: "f32", mode: "rn"}: {"ww", map1(extend[float32, int32])},
}

func extend[D, A uint32 | int32 | uint64 | int64 | float32](d *[32]D, a *[32]A) {
	for l := range d {
		d[l] = D(a[l])
	}
}

// wideEnough is the type of a register operand, which may be wider than the
// instruction's; other operands have the instruction's.
func (lo *lowering) wideEnough(i int, t ptx.Type) (ptx.Type, error) {
	o := lo.operand(i)
	if o.Kind != ptx.RegisterOperand {
		if t.Bytes() == 1 {
			t = "b16"
		}
		return t, nil
	}
	r := lo.fn.Registers[o.Reg]
	if r.Type == "pred" || r.Type.Bytes() < t.Bytes() {
		return "", lo.malformed("operand %d, %s, is .%s, expected at least .%s", i+1, r.Name, r.Type, t)
	}
	return r.Type, nil
}

// convert is the conversion of one value; the result is extended to 64 bits by
// its sign, because a register may be wider than the type.
func (c *conversion) convert(a uint64) uint64 {
	fromFloat, toFloat := isFloat(c.from), isFloat(c.to)
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

// asInt is a value of an integer type, extended to 64 bits.
func asInt(a uint64, t ptx.Type) uint64 {
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

func (c *conversion) intToInt(a uint64) uint64 {
	v := asInt(a, c.from)
	if c.sat {
		least, most := intRange(c.to)
		if c.from[0] == 's' && int64(v) < 0 {
			v = uint64(max(int64(v), least))
		} else {
			v = min(v, most)
		}
	}
	return asInt(v, c.to)
}

// intToFloat rounds once: to f64 from the integer itself, to narrower types
// from a float64 that was rounded to odd.
func (c *conversion) intToFloat(a uint64) uint64 {
	v, negative := asInt(a, c.from), false
	if c.from[0] == 's' && int64(v) < 0 {
		v, negative = -v, true
	}
	mode := roundings[c.mode]
	if c.to == "f64" && v != 0 && mode != nearest {
		z := new(big.Float).SetUint64(v)
		if negative {
			z.Neg(z)
		}
		return math.Float64bits(round(mode, z, 64))
	}
	high, low := float64(v>>32)*(1<<32), float64(uint32(v))
	sum := high + low
	if c.to != "f64" {
		sum = toOdd(high, low, sum)
	}
	if negative {
		sum = -sum
	}
	return c.encode(sum)
}

// encode rounds a value to the float type.
func (c *conversion) encode(v float64) uint64 {
	if c.sat {
		v = math.Min(positive(v), 1)
	}
	if c.to == "f64" {
		return math.Float64bits(v)
	}
	if c.relu {
		v = positive(v)
	}
	r := roundFloat(v, roundings[c.mode], formats[c.to])
	if c.to == "tf32" {
		r <<= 13
	}
	if c.ftz && c.to == "f32" {
		r = uint64(math.Float32bits(flush(f32(r))))
	}
	return r
}

// floatToInt rounds and clamps. NaN becomes 0, or the highest bit alone if one
// of the types has 64 bits.
func (c *conversion) floatToInt(a uint64) uint64 {
	v := decode(a, c.from)
	if c.ftz && c.from == "f32" {
		v = float64(flush(float32(v)))
	}
	if v != v {
		if c.from == "f64" || c.to.Bytes() == 8 {
			return asInt(1<<(8*c.to.Bytes()-1), c.to)
		}
		return 0
	}
	switch c.mode {
	case "rni":
		v = math.RoundToEven(v)
	case "rmi":
		v = math.Floor(v)
	case "rpi":
		v = math.Ceil(v)
	default:
		v = math.Trunc(v)
	}
	least, most := intRange(c.to)
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

func (c *conversion) floatToFloat(a uint64) uint64 {
	if c.ftz && c.from == "f32" {
		a = uint64(bits32(flush(f32(a))))
	}
	v := decode(a, c.from)
	switch c.mode { // to an integral value of the same type
	case "rni":
		v = math.RoundToEven(v)
	case "rzi":
		v = math.Trunc(v)
	case "rmi":
		v = math.Floor(v)
	case "rpi":
		v = math.Ceil(v)
	}
	if v != v && !c.sat {
		return c.nan(a)
	}
	return c.encode(v)
}

// nan is the NaN that a NaN becomes. Conversions from and to f64 keep as much
// of the payload as fits and make it quiet, from bf16 to f32 all of it, and
// others none.
func (c *conversion) nan(a uint64) uint64 {
	switch {
	case c.from == "f64" || c.to == "f64":
		from, to := formats[c.from], formats[c.to]
		sign := a >> (from.exponent + from.fraction) & 1
		payload := a << (64 - from.fraction) >> (64 - to.fraction)
		top := uint64(1)<<(to.exponent+1) - 1 // exponent and quiet bit
		return sign<<(to.exponent+to.fraction) | top<<(to.fraction-1) | payload
	case c.from == "bf16" && c.to == "f32":
		return a << 16
	case c.to == "tf32":
		return a >> 13 << 13
	}
	return roundFloat(math.NaN(), nearest, formats[c.to])
}

// format is a float type, as numbers of bits.
type format struct{ exponent, fraction uint }

var formats = map[ptx.Type]format{"f16": {5, 10}, "bf16": {8, 7}, "f32": {8, 23}, "f64": {11, 52},
	"tf32": {8, 10}}

// decode is the value of a float type, which float64 holds exactly.
func decode(a uint64, t ptx.Type) float64 {
	switch t {
	case "f64":
		return f64(a)
	case "f32":
		return float64(f32(a))
	case "bf16":
		return float64(f32(a << 16))
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

// roundFloat rounds a float64 to a narrower format, with subnormal results and
// overflow as the mode has them.
func roundFloat(v float64, mode rounding, f format) uint64 {
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
	case nearest:
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
