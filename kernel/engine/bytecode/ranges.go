package bytecode

import (
	"go/types"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/tools/go/ssa"
)

// A range over a map has an iterator in a pointer register, one over a string has the
// next position in a number register. The engine allocates a tuple for each turn.

// mapIterator is a range over a map. Its first fields are those of the type
// linknameIter of package runtime.
type mapIterator struct {
	key, elem unsafe.Pointer // of the current turn, nil after the last one
	_, _      unsafe.Pointer
	begun     bool
}

// ranging is an instruction that begins a range over a map, or that takes its next turn.
// A place is a register, or one in the frame if the register is -1.
type ranging struct {
	*mapType
	iterator, of int // registers; of is the map or the string

	ok           int // results of a turn
	key, keyAt   int
	elem, elemAt int
	keys, elems  bool // which of them are wanted
}

// begin makes the iterator of a range over a map.
func (g *ranging) begin(p *pointers) {
	it := &mapIterator{}
	mapiterinit(g.typ, p[uint16(g.of)], it)
	p[uint16(g.iterator)] = unsafe.Pointer(it)
}

// next takes a turn of a range over a map.
func (g *ranging) next(r *registers, p *pointers, stack []any) {
	it := (*mapIterator)(p[uint16(g.iterator)])
	if it.begun {
		mapiternext(it)
	}
	it.begun = true
	if it.key == nil {
		r[uint16(g.ok)] = 0
		return
	}
	if g.keys {
		g.mapType.key.read(it.key, r, p, g.key, stack, g.keyAt)
	}
	if g.elems {
		g.mapType.elem.read(it.elem, r, p, g.elem, stack, g.elemAt)
	}
	r[uint16(g.ok)] = 1
}

// nextRune takes a turn of a range over a string.
func (g *ranging) nextRune(r *registers, p *pointers) {
	s, at := text(r, p, uint16(g.of)), r[uint16(g.iterator)]
	if at >= uint64(len(s)) {
		r[uint16(g.ok)] = 0
		return
	}
	c, n := rune(s[at]), 1
	if c >= utf8.RuneSelf {
		c, n = utf8.DecodeRuneInString(s[at:])
	}
	r[uint16(g.iterator)] = at + uint64(n)
	r[uint16(g.ok)], r[uint16(g.key)], r[uint16(g.elem)] = 1, at, uint64(int64(c))
}

// planRange plans a range over a map or a string: its iterator and the results of its
// turns.
func (l *lowering) planRange(in *ssa.Range) {
	if _, ok := l.indexes[in]; !ok {
		return
	}
	m, isMap := in.X.Type().Underlying().(*types.Map)
	if isMap && l.mapType(in.X.Type()) == nil {
		return
	}
	var turns []*ssa.Next
	for _, r := range *in.Referrers() {
		if n, ok := r.(*ssa.Next); ok && !oneResultTwice(n) {
			turns = append(turns, n)
		} else if _, debug := r.(*ssa.DebugRef); !debug {
			return
		}
	}
	for _, n := range turns {
		key, elem := types.Type(types.Typ[types.Int]), types.Type(types.Typ[types.Rune])
		if isMap {
			key, elem = m.Key(), m.Elem()
		}
		if !l.planParts(n, types.Typ[types.Bool], key, elem) {
			panic("a result of a range is not in the frame")
		}
	}
	if isMap {
		l.iterators[in] = l.fresh(pointer)
	} else {
		l.iterators[in] = l.fresh(number)
	}
}

// oneResultTwice reports whether the results of a turn are used otherwise than once each.
func oneResultTwice(n *ssa.Next) bool {
	var seen [3]bool
	for _, r := range *n.Referrers() {
		x, ok := r.(*ssa.Extract)
		if _, debug := r.(*ssa.DebugRef); debug {
			continue
		}
		if !ok || seen[x.Index] {
			return true
		}
		seen[x.Index] = true
	}
	return false
}

func (l *lowering) rangeOver(in *ssa.Range) {
	reg, ok := l.iterators[in]
	if !ok {
		l.byEngine(in)
		return
	}
	if _, isMap := in.X.Type().Underlying().(*types.Map); !isMap {
		l.emit(ins{op: opConst, a: reg})
		return
	}
	g := ranging{mapType: l.mapType(in.X.Type()), iterator: reg, of: l.reg(in.X), ok: -1, key: -1, elem: -1}
	l.ranges = append(l.ranges, g)
	l.emit(ins{op: opRange, imm: int64(len(l.ranges) - 1), uses: []int{g.of}, defs: []int{reg}})
}

func (l *lowering) next(in *ssa.Next) {
	over, ok := in.Iter.(*ssa.Range)
	reg, planned := l.iterators[over]
	if !ok || !planned {
		l.byEngine(in)
		return
	}
	list := l.results[in]
	g := ranging{iterator: reg, of: l.reg(over.X), ok: list[0].reg, key: list[1].reg, keyAt: list[1].at, elem: list[2].reg, elemAt: list[2].at,
		keys: list[1].used != nil, elems: list[2].used != nil}
	out := ins{op: opNextRune, imm: int64(len(l.ranges)), uses: []int{reg}}
	if in.IsString {
		out.uses, out.defs = append(out.uses, g.of), append(out.defs, reg)
	} else {
		out.op, g.mapType = opNext, l.mapType(over.X.Type())
		if g.mapType.key.class == boxed || g.mapType.elem.class == boxed {
			l.escaped++ // it needs the frame
		}
	}
	for _, r := range list {
		if r.reg >= 0 {
			out.defs = append(out.defs, r.reg)
		}
	}
	l.ranges = append(l.ranges, g)
	l.emit(out)
}
