package bytecode

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

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
	results := []types.Type{types.Typ[types.Bool], types.Typ[types.Int], types.Typ[types.Rune]}
	if isMap {
		results[1], results[2] = m.Key(), m.Elem()
	}
	var turns []*ssa.Next
	for _, r := range *in.Referrers() {
		if n, ok := r.(*ssa.Next); ok && extracted(n, results) {
			turns = append(turns, n)
		} else if _, debug := r.(*ssa.DebugRef); !debug {
			return
		}
	}
	for _, n := range turns {
		if !l.planParts(n, results...) {
			panic("a result of a range is not in the frame")
		}
	}
	if isMap {
		l.iterators[in] = l.fresh(pointer)
	} else {
		l.iterators[in] = l.fresh(number)
	}
}

// extracted reports whether the results of a turn are used once each, with these types:
// for k = range m, with a k of an interface type, converts the key.
func extracted(n *ssa.Next, results []types.Type) bool {
	var seen [3]bool
	for _, r := range *n.Referrers() {
		x, ok := r.(*ssa.Extract)
		if _, debug := r.(*ssa.DebugRef); debug {
			continue
		}
		if !ok || seen[x.Index] || !types.Identical(x.Type(), results[x.Index]) {
			return false
		}
		seen[x.Index] = true
	}
	return true
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
