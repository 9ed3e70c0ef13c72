package bytecode

import (
	"go/token"
	"reflect"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// A variable of a function that defers calls has a register of its own, and no memory, if it
// is only read and written, by the function and by closures that it defers. Such a closure
// has code for each Defer instruction (inner), which uses the registers of the call that
// defers it. Where the engine makes the deferred calls, it gets the variables in memory, and
// they return to their registers after that (machine.lend).

// planVariables gives variables registers of their own.
func (l *lowering) planVariables() {
	entry := l.fn.Blocks[0]
	if l.f.probed != nil || l.fn.Recover == nil || len(entry.Preds) > 0 { // a debugger reads variables in memory
		return
	}
	for i, in := range entry.Instrs {
		v, ok := in.(*ssa.Alloc)
		if !ok || !l.fitsRegister(v, l.deferredOnly) {
			continue
		}
		if param := l.spilled(v, entry.Instrs[i+1:]); param >= 0 {
			l.vregs[param].own, l.variables[v] = true, param
		} else {
			l.variables[v] = l.fresh(classOf(elem(v)))
			l.vregs[l.variables[v]].own = true
		}
		if slices.ContainsFunc(*v.Referrers(), func(r ssa.Instruction) bool { _, ok := r.(*ssa.MakeClosure); return ok }) {
			at, _ := l.pfn.at(v)
			t := l.types[v.Type()]
			l.captured = append(l.captured, captured{l.part(elem(v), t.Elem()), l.variables[v], at, typeWord(t)})
		}
	}
}

// fitsRegister reports whether a variable can be in a register: it is read and written, and
// captured only by closures for which captures holds.
func (l *lowering) fitsRegister(at ssa.Value, captures func(c *ssa.MakeClosure, at ssa.Value) bool) bool {
	k, t := classOf(elem(at)), l.types[at.Type()]
	if _, known := l.pfn.at(at); k == boxed || k == record || captures != nil && (!known || t == nil || t.Kind() != reflect.Pointer) {
		return false
	}
	for _, r := range *at.Referrers() {
		switch r := r.(type) {
		case *ssa.DebugRef, *ssa.UnOp:
		case *ssa.Store:
			if r.Addr != at || r.Val == at || classOf(r.Val.Type()) != k {
				return false
			}
		case *ssa.MakeClosure:
			if captures == nil || !captures(r, at) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// deferredOnly reports whether a closure is only deferred, as a call that the machine can
// make, and only reads and writes a variable.
func (l *lowering) deferredOnly(c *ssa.MakeClosure, at ssa.Value) bool {
	if _, made := l.indexes[c]; made {
		return false
	}
	for _, r := range *c.Referrers() {
		if _, debug := r.(*ssa.DebugRef); debug {
			continue
		}
		d, ok := r.(*ssa.Defer)
		if !ok || d.Call.Value != c || d.DeferStack != nil || slices.Contains(d.Call.Args, ssa.Value(c)) {
			return false
		}
		if _, _, ok := l.callee(&d.Call); !ok {
			return false
		}
	}
	for i, b := range c.Bindings {
		if b == at && !l.fitsRegister(c.Fn.(*ssa.Function).FreeVars[i], nil) {
			return false
		}
	}
	return true
}

// spilled is the vreg of a parameter that is only the first value of a variable, -1 if there
// is none: the variable has the register of the parameter.
func (l *lowering) spilled(v *ssa.Alloc, next []ssa.Instruction) int {
	s, ok := nextOf(next).(*ssa.Store)
	if !ok || s.Addr != v {
		return -1
	}
	if param, ok := s.Val.(*ssa.Parameter); ok && soleUse(param) == s {
		return l.vreg[param]
	}
	return -1
}

// planMoves saves moves from and to variables in registers: a loaded value that is only used
// before the variable changes is in its register, and so is a value that is only stored
// there.
func (l *lowering) planMoves() {
	if len(l.variables) == 0 {
		return
	}
	for _, b := range l.fn.Blocks {
		for i, in := range b.Instrs {
			v, ok := in.(ssa.Value)
			if !ok || l.skip[in] {
				continue
			}
			if _, planned := l.vreg[v]; planned {
				continue
			}
			if load, ok := in.(*ssa.UnOp); ok && load.Op == token.MUL {
				if reg, ok := l.variables[load.X]; ok && l.keeps(load, b.Instrs[i+1:]) {
					l.vreg[load], l.skip[load] = reg, true
				}
				continue
			}
			s, ok := nextOf(b.Instrs[i+1:]).(*ssa.Store)
			if !ok || s.Val != v || soleUse(v) != s || !writesLast(in) {
				continue
			}
			if reg, ok := l.variables[s.Addr]; ok {
				l.vreg[v], l.skip[s] = reg, true
			}
		}
	}
}

// writesLast reports whether an instruction writes its result after it has read all its
// operands, and only if it does not panic.
func writesLast(in ssa.Instruction) bool {
	switch in := in.(type) {
	case *ssa.BinOp:
		return classOf(in.Type()) == number
	case *ssa.TypeAssert:
		return !in.CommaOk
	}
	return false
}

// keeps reports whether a variable does not change between its load and the last use of the
// loaded value, which is in the same block. Next are the instructions after the load.
func (l *lowering) keeps(load *ssa.UnOp, next []ssa.Instruction) bool {
	last := l.lastUse(load, next)
	if last < 0 {
		return false
	}
	for _, in := range next[:last] {
		switch in := in.(type) {
		case *ssa.Store:
			if in.Addr == load.X {
				return false
			}
		case *ssa.RunDefers:
			return false
		}
	}
	return true
}

// lastUse is the place of the last instruction of a list that uses a value, -1 if there are
// others: an instruction that is merged into the ones that use its value reads its operands
// there.
func (l *lowering) lastUse(v ssa.Value, list []ssa.Instruction) int {
	last := -1
	for _, r := range *v.Referrers() {
		if _, debug := r.(*ssa.DebugRef); debug {
			continue
		}
		at := slices.Index(list, r)
		if _, phi := r.(*ssa.Phi); phi || at < 0 {
			return -1
		}
		f, field := r.(*ssa.FieldAddr)
		if l.skip[r] || field && l.fields[f] {
			x, ok := r.(ssa.Value)
			if !ok {
				return -1
			}
			if at = l.lastUse(x, list); at < 0 {
				return -1
			}
		}
		last = max(last, at)
	}
	return last
}
