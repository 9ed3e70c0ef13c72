package bytecode

import (
	"go/types"
	"reflect"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// A channel operation of a cell is a select with the channel of stops as its second case.

// killed is the call that returns the channel of stops for the last case of a select, nil
// if there is none.
func (l *lowering) killed(in *ssa.Select) *ssa.Call {
	if !in.Blocking || len(in.States) < 2 {
		return nil
	}
	c, ok := in.States[len(in.States)-1].Chan.(*ssa.Call)
	if !ok || len(*c.Referrers()) != 1 || c.Call.IsInvoke() {
		return nil
	}
	if fn, ok := c.Call.Value.(*ssa.Function); !ok || fn.String() != l.host.KillName {
		return nil
	}
	return c
}

// receive lowers a call of the functions that receive a value. The call is only made where
// a stop ends the wait. It reports whether the machine can do so.
func (l *lowering) receive(in *ssa.Call, fn *ssa.Function) bool {
	if fn.Origin() == nil || !slices.Contains(l.host.RecvNames, fn.Origin().String()) {
		return false
	}
	c := in.Call.Args[0]
	rt := l.types[c.Type()]
	if _, _, ok := l.callee(&in.Call); !ok || rt == nil || rt.Kind() != reflect.Chan || isStatic(c) {
		return false
	}
	defs := l.parts[in]
	if defs == nil {
		defs = []int{l.reg(in), -1}
	}
	done, rest, stopped := l.fresh(number), &block{}, &block{}
	l.order = append(l.order, rest, stopped)
	x := operation{channel: l.reg(c), value: place{defs[0], -1}, elem: l.part(c.Type().Underlying().(*types.Chan).Elem(), rt.Elem())}
	l.selections = append(l.selections, selecting{at: escape{at: l.indexes[in], block: in.Block()}, cases: []operation{x}, index: done, ok: defs[1], waits: true})
	l.emit(ins{op: opReceive, a: done, imm: int64(len(l.selections) - 1), uses: append([]int{x.channel}, l.held...), defs: slices.DeleteFunc(slices.Clone(defs), func(v int) bool { return v < 0 })})
	l.emit(ins{op: opBranch, a: done, yes: rest, no: stopped})
	l.now = stopped
	l.direct(in, fn, nil)
	l.resume(rest)
	return true
}

// planSelect plans the results of a select: the index of the case, whether a value was
// received, and the values that each receiving case would receive.
func (l *lowering) planSelect(in *ssa.Select) {
	kill := l.killed(in)
	if in.Blocking && kill == nil {
		return
	}
	own := ownCases(in)
	for _, s := range own {
		t := s.Chan.Type().Underlying().(*types.Chan)
		if l.types[s.Chan.Type()] == nil || l.types[t.Elem()] == nil {
			return
		}
	}
	if len(own) == 0 {
		return
	}
	results := []types.Type{types.Typ[types.Int], types.Typ[types.Bool]}
	for _, s := range in.States {
		if s.Dir == types.RecvOnly {
			results = append(results, s.Chan.Type().Underlying().(*types.Chan).Elem())
		}
	}
	if l.planParts(in, results...) && kill != nil {
		l.skip[kill] = true
	}
}

// ownCases are the cases of a select without that of the channel of stops.
func ownCases(in *ssa.Select) []*ssa.SelectState {
	if in.Blocking {
		return in.States[:len(in.States)-1]
	}
	return in.States
}

// selects lowers a select.
func (l *lowering) selects(in *ssa.Select) {
	list := l.results[in]
	if list == nil {
		l.byEngine(in)
		return
	}
	s := selecting{at: escape{at: l.indexes[in], block: in.Block()}, index: list[0].reg, ok: list[1].reg, waits: in.Blocking}
	out := ins{op: opSelect, imm: int64(len(l.selections)), uses: slices.Clone(l.held), defs: []int{s.index, s.ok}}
	list = list[2:]
	var receives []operation
	var numbers []int
	own := ownCases(in)
	for i, state := range own {
		x := operation{channel: l.reg(state.Chan), sends: state.Dir == types.SendOnly,
			elem: l.part(state.Chan.Type().Underlying().(*types.Chan).Elem(), l.types[state.Chan.Type()].Elem())}
		out.uses = append(out.uses, x.channel)
		if x.sends {
			reg, at, ok := l.operand(state.Send)
			if !ok {
				panic("a value that is sent is not in the frame")
			}
			if x.value = (place{reg, at}); reg >= 0 {
				out.uses = append(out.uses, reg)
			}
			s.cases, s.numbers = append(s.cases, x), append(s.numbers, i)
		} else {
			if x.value = (place{list[0].reg, list[0].at}); x.value.reg >= 0 {
				out.defs = append(out.defs, x.value.reg)
			}
			list = list[1:]
			receives, numbers = append(receives, x), append(numbers, i)
		}
		s.boxed = s.boxed || x.elem.class == boxed
	}
	s.sends, s.cases, s.numbers = len(s.cases), append(s.cases, receives...), append(append(s.numbers, numbers...), len(own))
	l.selections = append(l.selections, s)
	l.emit(out)
}
