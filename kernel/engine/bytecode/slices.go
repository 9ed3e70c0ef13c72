package bytecode

import (
	"reflect"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// alloc lowers a new variable.
func (l *lowering) alloc(in *ssa.Alloc) {
	if d, ok := l.variables[in]; ok {
		l.zero(in, d)
		return
	}
	t := l.f.program.types[in.Type()]
	if t == nil || t.Kind() != reflect.Pointer {
		l.byEngine(in)
		return
	}
	l.emit(ins{op: opNew, a: l.reg(in), imm: l.typeOf(t.Elem())})
}

// zero gives a variable in a register its first value, unless the next instruction does.
func (l *lowering) zero(v *ssa.Alloc, d int) {
	b := v.Block().Instrs
	if s, ok := nextOf(b[slices.Index(b, ssa.Instruction(v))+1:]).(*ssa.Store); ok && s.Addr == v {
		return
	}
	out := ins{op: [...]op{number: opConst, pointer: opNilP, header: opNilH, dynamic: opMovI}[classOf(elem(v))], a: d}
	if out.op == opMovI { // from a constant
		out.b = len(l.vregs)
		l.vregs = append(l.vregs, vreg{class: dynamic, reg: -1, static: true})
	}
	l.emit(out)
}

// typeOf is the number of a type in the list of the code.
func (l *lowering) typeOf(t reflect.Type) int64 {
	l.news = append(l.news, typeWord(t))
	return int64(len(l.news) - 1)
}

// recovers reports whether the block after a recovered panic reads a value.
func (l *lowering) recovers(v ssa.Value) bool {
	return l.fn.Recover != nil && slices.ContainsFunc(*v.Referrers(), func(r ssa.Instruction) bool { return r.Block() == l.fn.Recover })
}

// planAppend plans append(s, x, y): the elements are written to the slice, and not first
// to an array that the SSA form makes for them.
func (l *lowering) planAppend(in *ssa.Call) {
	if fn, ok := in.Call.Value.(*ssa.Builtin); !ok || fn.Name() != "append" || len(in.Call.Args) != 2 || !l.canAppend(in) {
		return
	}
	list, array := elements(in, in.Call.Args[1])
	if list == nil {
		return
	}
	for _, x := range list {
		if classOf(x.Type()) == boxed {
			if _, ok := l.pfn.at(x); !ok {
				return
			}
		}
	}
	for _, x := range array {
		l.skip[x] = true
	}
	l.appended[in] = list
}

// canAppend reports whether the machine can append to slices of a type: it knows the
// type, and elements have a size.
func (l *lowering) canAppend(in *ssa.Call) bool {
	t := l.types[in.Type()]
	return t != nil && t.Kind() == reflect.Slice && t.Elem().Size() > 0
}

// append lowers a call of append, and reports whether the machine can execute it.
func (l *lowering) append(in *ssa.Call) bool {
	args := in.Call.Args
	if len(args) != 2 || !l.canAppend(in) || isStatic(args[1]) {
		return false
	}
	t := l.types[in.Type()]
	a := appending{from: l.reg(args[0]), to: l.reg(in), more: -1, typ: typeWord(t.Elem()), size: uint64(t.Elem().Size())}
	uses := []int{a.from}
	if list, ok := l.appended[in]; ok {
		a.elem = l.part(list[0].Type(), t.Elem())
		for _, x := range list {
			reg, at, _ := l.operand(x)
			a.list = append(a.list, place{reg, at})
			if reg >= 0 {
				uses = append(uses, reg)
			} else {
			}
		}
	} else {
		a.more = l.reg(args[1])
		uses = append(uses, a.more)
	}
	out := ins{op: opAppend, imm: int64(len(l.appends)), uses: uses, defs: []int{a.to}}
	if len(a.list) == 1 && a.elem.class == number && a.size == 8 {
		out.op, out.a, out.b, out.c = opAppend64, a.to, a.from, a.list[0].reg
	}
	l.appends = append(l.appends, a)
	l.emit(out)
	return true
}

// copy lowers a call of copy, and reports whether the machine can execute it.
func (l *lowering) copy(in *ssa.Call) bool {
	t := l.types[in.Call.Args[0].Type()]
	if t == nil || t.Kind() != reflect.Slice || t.Elem().Size() == 0 {
		return false
	}
	l.emit(ins{op: opCopy, a: l.reg(in), b: l.reg(in.Call.Args[0]), c: l.reg(in.Call.Args[1]), imm: l.typeOf(t.Elem())})
	return true
}
