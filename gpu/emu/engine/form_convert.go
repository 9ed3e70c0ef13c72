package engine

import (
	"slices"

	"warpbook/gpu/emu/arith"
	"warpbook/gpu/ptx"
)

func cvtForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	c := &arith.Conversion{}
	c.From, c.To = w.last(), w.last()
	c.Mode = w.take("rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "rna")
	c.FTZ, c.Sat, c.Relu = w.has("ftz"), w.has("sat"), w.has("relu")
	if isFP8(c.From) || isFP8(c.To) {
		return lo.fp8Form(w, c)
	}
	if len(w) == 0 && c.From == "f32" && (c.To == "f16x2" || c.To == "bf16x2") && (c.Mode == "rn" || c.Mode == "rz") {
		return packForm(lo, c)
	}
	tf32 := c.To == "tf32" && c.From == "f32" && c.Mode != "rz"
	if len(w) > 0 || !arith.ConversionTypes[c.From] || !arith.ConversionTypes[c.To] && !tf32 || c.Mode == "rna" && !tf32 {
		return lo.unsupported("no such form of cvt")
	}
	if err := lo.operands(2, 2); err != nil {
		return err
	}
	in := &lo.op.in
	d, err := lo.wideEnough(0, c.To)
	if err != nil {
		return err
	}
	a, err := lo.wideEnough(1, c.From)
	if err != nil {
		return err
	}
	in.kinds, in.exec = string([]rune{rune(widthOf(d)), rune(widthOf(a))}), runLanes
	in.lane = func(_ *arith.Operation, a, _, _ uint64) uint64 { return c.Convert(a) }
	if fast := fastConversions[*c]; fast.exec != nil && fast.kinds == in.kinds {
		in.exec = fast.exec
		in.vector.op = vectorConversions[*c]
	}
	if err := lo.def(&in.d, 0, widthOf(d)); err != nil {
		return err
	}
	switch in.src.Name() {
	case "cvt.u16.u32", "cvt.u16.s32", "cvt.s16.u32", "cvt.s16.s32":
		lo.halfOf(c.From, 0)
	}
	return lo.use(&in.a, 1, a)
}

// fastConversions are those for which a loop saves time.
var fastConversions = map[arith.Conversion]struct {
	kinds string
	exec  execFunc
}{
	{From: "u32", To: "u64"}: {"dw", map1(arith.Extend[uint64, uint32])},
	{From: "s32", To: "s64"}: {"dw", map1(arith.Extend[int64, int32])},
	{From: "u64", To: "u32"}: {"wd", map1(arith.Extend[uint32, uint64])},
	{From: "s64", To: "s32"}: {"wd", map1(arith.Extend[uint32, uint64])},

	{From: "u32", To: "f32", Mode: "rn"}: {"ww", map1(arith.Extend[float32, uint32])},
	{From: "s32", To: "f32", Mode: "rn"}: {"ww", map1(arith.Extend[float32, int32])},
}

// compareHalf compares values of a 16-bit float type at bit shift of their slots.
func compareHalf(t ptx.Type, shift int, ftz bool) compareFunc {
	value := func(a uint32) float64 {
		half := uint64(a >> shift & 0xffff)
		if ftz {
			half = arith.FlushHalf(half, t)
		}
		return arith.Decode(half, t)
	}
	return func(w *warp, c comparison, a, b uint32) uint32 {
		var x, y [32]float64
		for l := range x {
			x[l], y[l] = value(lanes[uint32](w, a)[l]), value(lanes[uint32](w, b)[l])
		}
		return compare(c, &x, &y)
	}
}

// setPairForm is set on pairs: each half is 1.0, or all ones, if the comparison is true.
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
func packForm(lo *lowering, c *arith.Conversion) error {
	one := *c
	one.To = c.To[:len(c.To)-2]
	in := &lo.op.in
	in.kinds, in.exec = "www", runLanes
	in.lane = func(_ *arith.Operation, a, b, _ uint64) uint64 {
		return one.Convert(a)&0xffff<<16 | one.Convert(b)&0xffff
	}
	return first(lo.operands(3, 3), lo.def(&in.d, 0, word), lo.use(&in.a, 1, "f32"), lo.use(&in.b, 2, "f32"))
}

func isFP8(t ptx.Type) bool { return t == "e4m3x2" || t == "e5m2x2" }

// fp8Form is cvt of two f32 values, or a pair of f16, to a pair of 8-bit floats, and
// of such a pair to f16. The first source and the upper half are the upper byte.
func (lo *lowering) fp8Form(w words, c *arith.Conversion) error {
	w.drop("satfinite", "relu")
	in := &lo.op.in
	in.exec = runLanes
	if len(w) > 0 || c.Mode != "rn" || c.FTZ || c.Sat {
		return lo.unsupported("no such form of cvt")
	}
	if err := lo.target(89); err != nil {
		return err
	}
	if of := arith.FP8s[c.From]; isFP8(c.From) && c.To == "f16x2" {
		in.kinds = "wh"
		half := func(code byte) uint64 {
			v := of.Decode(code)
			if c.Relu && v <= 0 {
				v = 0
			}
			return arith.RoundFloat(v, arith.Nearest, arith.FormatOf("f16"))
		}
		in.lane = func(_ *arith.Operation, a, _, _ uint64) uint64 { return half(byte(a>>8))<<16 | half(byte(a)) }
		return first(lo.operands(2, 2), lo.def(&in.d, 0, word), lo.use(&in.a, 1, "b16"))
	}
	of := arith.FP8s[c.To]
	pair := func(high, low float64) uint64 {
		return uint64(of.Encode(high, c.Relu))<<8 | uint64(of.Encode(low, c.Relu))
	}
	switch {
	case !isFP8(c.To) || !slices.Contains(lo.op.in.src.Modifiers, "satfinite"):
		return lo.unsupported("no such form of cvt")
	case c.From == "f16x2":
		in.kinds = "hw"
		in.lane = func(_ *arith.Operation, a, _, _ uint64) uint64 {
			return pair(arith.Decode(a>>16&0xffff, "f16"), arith.Decode(a&0xffff, "f16"))
		}
		return first(lo.operands(2, 2), lo.def(&in.d, 0, half), lo.use(&in.a, 1, "b32"))
	case c.From == "f32":
		in.kinds = "hww"
		in.lane = func(_ *arith.Operation, a, b, _ uint64) uint64 {
			return pair(float64(arith.F32(a)), float64(arith.F32(b)))
		}
		return first(lo.operands(3, 3), lo.def(&in.d, 0, half), lo.use(&in.a, 1, "f32"), lo.use(&in.b, 2, "f32"))
	}
	return lo.unsupported("no such form of cvt")
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
