package engine

import (
	"strings"

	"warpbook/gpu/emu/arith"
	"warpbook/gpu/emu/simd"
	"warpbook/gpu/ptx"
)

var comparisons = map[string]comparison{
	"eq": equal, "ne": unequal, "lt": less, "le": lessEqual, "gt": greater, "ge": greaterEqual,
	"lo": less, "ls": lessEqual, "hi": greater, "hs": greaterEqual,
	"num": isNumber, "nan": isNaN,
}

// unordered are the comparisons that are true for NaN: each is the complement of another
// comparison.
var unordered = map[string]comparison{
	"equ": unequal, "neu": equal, "ltu": greaterEqual, "leu": greater, "gtu": lessEqual, "geu": less,
}

// compare returns the lanes in which a comparison of type T is true.
func compare[T arith.Integer | float32 | float64](c comparison, a, b *[32]T) (r uint32) {
	switch c {
	case equal:
		for l := range a {
			r |= arith.Bit(a[l] == b[l]) << l
		}
	case unequal: // false for NaN
		for l := range a {
			r |= arith.Bit(a[l] < b[l] || a[l] > b[l]) << l
		}
	case less:
		for l := range a {
			r |= arith.Bit(a[l] < b[l]) << l
		}
	case lessEqual:
		for l := range a {
			r |= arith.Bit(a[l] <= b[l]) << l
		}
	case greater:
		return compare(less, b, a)
	case greaterEqual:
		return compare(lessEqual, b, a)
	default:
		for l := range a {
			r |= arith.Bit(a[l] == a[l] && b[l] == b[l]) << l
		}
		if c == isNaN {
			r = ^r
		}
	}
	return r
}

// compareFunc compares two slots; flip complements the result.
type compareFunc func(w *warp, c comparison, a, b uint32) uint32

func compareAs[T arith.Integer | float32 | float64](w *warp, c comparison, a, b uint32) uint32 {
	return compare(c, lanes[T](w, a), lanes[T](w, b))
}

// compareHalves compares 16-bit values, which lie in 32-bit slots.
func compareHalves(w *warp, c comparison, a, b uint32) uint32 {
	var x, y [32]int32
	for l := range x {
		x[l] = int32(int16(lanes[uint32](w, a)[l]))
		y[l] = int32(int16(lanes[uint32](w, b)[l]))
	}
	return compare(c, &x, &y)
}

// compareFlushed compares f32 values with subnormals as zeros.
func compareFlushed(w *warp, c comparison, a, b uint32) uint32 {
	x, y := *lanes[float32](w, a), *lanes[float32](w, b)
	for l := range x {
		x[l], y[l] = arith.Flush(x[l]), arith.Flush(y[l])
	}
	return compare(c, &x, &y)
}

var compareTypes = map[ptx.Type]compareFunc{
	"u16": compareAs[uint32], "b16": compareAs[uint32], "s16": compareHalves,
	"u32": compareAs[uint32], "b32": compareAs[uint32], "s32": compareAs[int32],
	"u64": compareAs[uint64], "b64": compareAs[uint64], "s64": compareAs[int64],
	"f32": compareAs[float32], "f64": compareAs[float64],
	"f16": compareHalf("f16", 0, false), "bf16": compareHalf("bf16", 0, false),
}

// comparing is a comparison of setp or set: with the complement, and the predicate that
// the result is combined with.
type comparing struct {
	compare compareFunc
	op      comparison
	flip    uint32
	combine string // "and", "or", "xor" or ""
	ftz     bool
}

// run returns the lanes in which the comparison is true.
func (c *comparing) run(w *warp, in *instr) uint32 {
	r := c.compare(w, c.op, in.a, in.b) ^ c.flip
	return c.combined(r, w, in)
}

func (c *comparing) combined(r uint32, w *warp, in *instr) uint32 {
	if c.combine == "" {
		return r
	}
	p := w.preds[in.x.p] ^ in.x.pflip
	switch c.combine {
	case "and":
		return r & p
	case "or":
		return r | p
	}
	return r ^ p
}

// comparingOf reads the modifiers of setp and set up to the source type.
func (lo *lowering) comparingOf(w *words) (*comparing, ptx.Type, error) {
	t := w.last()
	c := &comparing{compare: compareTypes[t]}
	if c.ftz = w.has("ftz"); c.ftz {
		c.compare = map[ptx.Type]compareFunc{"f32": compareFlushed, "f16": compareHalf("f16", 0, true)}[t]
	}
	if c.compare == nil || len(*w) == 0 {
		return nil, "", lo.unsupported("no comparison of .%s", t)
	}
	name := (*w)[0]
	*w = (*w)[1:]
	op, ok := comparisons[name]
	if not, is := unordered[name]; is && arith.IsFloat(t) {
		op, ok, c.flip = not, true, all
	}
	if !ok {
		return nil, "", lo.malformed("no comparison .%s of .%s", name, t)
	}
	c.op = op
	c.combine = w.take("and", "or", "xor")
	return c, t, nil
}

// setpForm sets a predicate, and a second one to the opposite comparison.
func setpForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	if n := len(w); n > 0 && strings.HasSuffix(w[n-1], "x2") {
		return setpPairForm(lo)
	}
	c, t, err := lo.comparingOf(&w)
	if err != nil {
		return err
	}
	if len(w) > 0 {
		return lo.unsupported("modifier %s", w.rest())
	}
	in := &lo.op.in
	x := lo.extra()
	want := 3
	if c.combine != "" {
		want = 4
	}
	if err := first(lo.operands(want, want), lo.pair(predicate), lo.use(&in.a, 1, t), lo.use(&in.b, 2, t)); err != nil {
		return err
	}
	in.exec = c.setBoth
	if c.combine == "" {
		if lo.operand(0).Kind == ptx.RegisterOperand {
			if !c.ftz {
				in.vector = comparisonForm(t, c.op, c.flip != 0)
			}
			in.exec = func(w *warp, in *instr, m uint32) {
				r := c.compare(w, c.op, in.a, in.b) ^ c.flip
				w.preds[in.d] = w.preds[in.d]&^m | r&m
			}
		}
		return nil
	}
	return lo.predicateUse(&x.p, &x.pflip, 3)
}

// setpPairForm compares the halves of a register, each for a predicate of its own.
func setpPairForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	w[len(w)-1] = strings.TrimSuffix(w[len(w)-1], "x2")
	c, t, err := lo.comparingOf(&w)
	if err != nil {
		return err
	}
	if len(w) > 0 || t != "f16" && t != "bf16" {
		return lo.unsupported("no such form of setp")
	}
	in, x := &lo.op.in, lo.extra()
	want := 3
	if c.combine != "" {
		want = 4
	}
	if err := first(lo.operands(want, want), lo.pair(predicate), lo.use(&in.a, 1, "b32"), lo.use(&in.b, 2, "b32")); err != nil {
		return err
	}
	high := compareHalf(t, 16, c.ftz)
	in.exec = func(w *warp, in *instr, m uint32) {
		r, s := c.run(w, in), c.combined(high(w, c.op, in.a, in.b)^c.flip, w, in)
		if in.x.hasD {
			w.preds[in.d] = w.preds[in.d]&^m | r&m
		}
		if in.x.hasD2 {
			w.preds[in.x.d2] = w.preds[in.x.d2]&^m | s&m
		}
	}
	if c.combine == "" {
		return nil
	}
	return lo.predicateUse(&x.p, &x.pflip, 3)
}

// setBoth sets the predicates of setp p|q.
func (c *comparing) setBoth(w *warp, in *instr, m uint32) {
	raw := c.compare(w, c.op, in.a, in.b) ^ c.flip
	r, not := c.combined(raw, w, in), c.combined(^raw, w, in)
	if in.x.hasD {
		w.preds[in.d] = w.preds[in.d]&^m | r&m
	}
	if in.x.hasD2 {
		w.preds[in.x.d2] = w.preds[in.x.d2]&^m | not&m
	}
}

// pair binds a destination that may be followed by a predicate: d or d|p.
func (lo *lowering) pair(w width) error {
	in, x, o := &lo.op.in, lo.extra(), lo.operand(0)
	if o.Kind != ptx.PairOperand {
		x.hasD = true
		return lo.def(&in.d, 0, w)
	}
	if o.Reg >= 0 {
		x.hasD = true
		if err := lo.bindRegister(&in.d, o.Reg, "operand 1", w, true); err != nil {
			return err
		}
	}
	if o.Second >= 0 {
		x.hasD2 = true
		return lo.bindRegister(&x.d2, o.Second, "the second destination", predicate, true)
	}
	return nil
}

// setForm sets a register to all ones, or 1.0, where a comparison holds.
func setForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	if n := len(w); n > 0 && strings.HasSuffix(w[n-1], "x2") {
		return setPairForm(lo)
	}
	c, t, err := lo.comparingOf(&w)
	if err != nil {
		return err
	}
	d := w.last()
	value := map[ptx.Type]uint64{"u32": all, "s32": all, "f32": 0x3f800000, "f16": 0x3c00, "bf16": 0x3f80}[d]
	if len(w) > 0 || value == 0 {
		return lo.unsupported("no such form of set")
	}
	in, x := &lo.op.in, lo.extra()
	in.kinds = string(rune(widthOf(d)))
	in.exec = func(w *warp, in *instr, m uint32) {
		r := c.run(w, in)
		for y := m; y != 0; y &= y - 1 {
			l := lowest(y) & 31
			w.setLane(in, l, uint64(r>>l&1)*value)
		}
	}
	want := 3
	if c.combine != "" {
		want = 4
	}
	if err := first(lo.operands(want, want), lo.def(&in.d, 0, widthOf(d)), lo.use(&in.a, 1, t), lo.use(&in.b, 2, t)); err != nil {
		return err
	}
	if c.combine == "" {
		return nil
	}
	return lo.predicateUse(&x.p, &x.pflip, 3)
}

// selpForm chooses between two values by a predicate.
func selpForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	t := w.last()
	if len(w) > 0 || widthOf(t) == 0 || t == "pred" {
		return lo.unsupported("no such form of selp")
	}
	in := &lo.op.in
	in.exec, in.vector.op = select32, simd.Select32
	if widthOf(t) == double {
		in.exec, in.vector.op = select64, simd.Select64
	}
	lo.op.pass = true
	x := lo.extra()
	return first(lo.operands(4, 4), lo.def(&in.d, 0, widthOf(t)), lo.use(&in.a, 1, t), lo.use(&in.b, 2, t),
		lo.predicateUse(&x.p, &x.pflip, 3))
}

func select32(w *warp, in *instr, m uint32) {
	choose(lanes[uint32](w, in.d), lanes[uint32](w, in.a), lanes[uint32](w, in.b), w.preds[in.x.p]^in.x.pflip, m)
}

func select64(w *warp, in *instr, m uint32) {
	choose(lanes[uint64](w, in.d), lanes[uint64](w, in.a), lanes[uint64](w, in.b), w.preds[in.x.p]^in.x.pflip, m)
}

func choose[T any](d, a, b *[32]T, p, m uint32) {
	for x := m; x != 0; x &= x - 1 {
		l := lowest(x) & 31
		if p>>l&1 != 0 {
			d[l] = a[l]
		} else {
			d[l] = b[l]
		}
	}
}

// slctForm chooses by the sign of the third source.
func slctForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	by := w.last()
	ftz := w.has("ftz")
	t := w.last()
	if len(w) > 0 || by != "s32" && by != "f32" || widthOf(t) == 0 {
		return lo.unsupported("no such form of slct")
	}
	in := &lo.op.in
	letter := string(rune(widthOf(t)))
	in.kinds, in.exec = letter+letter+letter+"w", runLanes
	in.lane = func(_ *arith.Operation, a, b, c uint64) uint64 {
		v := arith.F32(c)
		if ftz {
			v = arith.Flush(v)
		}
		if by == "s32" && int32(c) >= 0 || by == "f32" && v >= 0 {
			return a
		}
		return b
	}
	return first(lo.operands(4, 4), lo.def(&in.d, 0, widthOf(t)), lo.use(&in.a, 1, t), lo.use(&in.b, 2, t), lo.use(&in.c, 3, by))
}

// testpForm lowers testp, which tests the class of a float.
func testpForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	t := w.last()
	test := map[string]func(exponent, fraction uint64) bool{
		"finite": func(e, f uint64) bool { return e != top }, "infinite": func(e, f uint64) bool { return e == top && f == 0 },
		"number": func(e, f uint64) bool { return e != top || f == 0 }, "notanumber": func(e, f uint64) bool { return e == top && f != 0 },
		"normal": func(e, f uint64) bool { return e != top && (e != 0 || f == 0) }, "subnormal": func(e, f uint64) bool { return e == 0 && f != 0 },
	}[w.take("finite", "infinite", "number", "notanumber", "normal", "subnormal")]
	if test == nil || len(w) > 0 || t != "f32" && t != "f64" {
		return lo.unsupported("no such form of testp")
	}
	in := &lo.op.in
	in.kinds, in.lane, in.exec = "p"+string(rune(widthOf(t))), classify(t, test), runLanes
	return first(lo.operands(2, 2), lo.def(&in.d, 0, predicate), lo.use(&in.a, 1, t))
}

// top is the exponent of infinities and NaNs, as classify gives it.
const top = 1<<11 - 1

// classify makes a lane function of a test of the exponent and fraction.
func classify(t ptx.Type, test func(exponent, fraction uint64) bool) arith.Lane {
	return func(_ *arith.Operation, a, _, _ uint64) uint64 {
		e, f := a>>52&top, a&(1<<52-1)
		if t == "f32" {
			if e, f = a>>23&0xff, a&(1<<23-1); e == 0xff {
				e = top
			}
		}
		return uint64(arith.Bit(test(e, f)))
	}
}
