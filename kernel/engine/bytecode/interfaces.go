package bytecode

import (
	"go/types"
	"reflect"
	"unsafe"

	"golang.org/x/tools/go/ssa"
)

// An interface of any type is two pointers in registers, the words of an any: the type of
// the value and its data. In memory, one with methods has a table in place of the type.

// hasMethods reports whether an interface has methods.
func hasMethods(t types.Type) bool { return t.Underlying().(*types.Interface).NumMethods() > 0 }

// isNil reports whether a value is the constant nil.
func isNil(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value == nil
}

// planBox plans an interface that holds a constant, which is a constant too.
func (l *lowering) planBox(in *ssa.MakeInterface) {
	c, ok := in.X.(*ssa.Const)
	if !ok {
		return
	}
	at, ok := l.pfn.at(c)
	t := l.types[c.Type()]
	if !ok || t == nil {
		return
	}
	v := l.pfn.stack[at]
	if reflect.TypeOf(v) != t {
		return
	}
	e := (*eface)(unsafe.Pointer(&v))
	l.vreg[in], l.skip[in] = len(l.vregs), true
	l.vregs = append(l.vregs, vreg{class: dynamic, reg: -1, static: true, ptr: e.typ, data: e.data})
}

// box lowers the conversion of a value to an interface.
func (l *lowering) box(in *ssa.MakeInterface) {
	k := classOf(in.X.Type())
	if k == boxed || isStatic(in.X) {
		l.byEngine(in)
		return
	}
	s := l.slot(in.X)
	o := map[class]op{number: opBoxN, pointer: opBoxP, record: opBoxP, header: opBoxH}[k]
	if k == header && s.kind == reflect.String {
		o = opBoxT
	}
	l.news = append(l.news, s.typ)
	l.emit(ins{op: o, a: l.reg(in), b: s.reg, imm: int64(len(l.news) - 1)})
}

// planAssert plans the results of v, ok := x.(T).
func (l *lowering) planAssert(in *ssa.TypeAssert) {
	if in.CommaOk && l.asserts(in) {
		l.planParts(in, in.AssertedType, types.Typ[types.Bool])
	}
}

// asserts reports whether the machine knows the asserted type.
func (l *lowering) asserts(in *ssa.TypeAssert) bool {
	t := l.types[in.AssertedType]
	if t == nil || l.host.Is == nil {
		return false
	}
	switch classOf(in.AssertedType) {
	case number:
		return isNumber(t.Kind())
	case pointer:
		return isPointer(t.Kind())
	case record:
		return isRecord(t)
	case header:
		return t.Kind() == reflect.Slice || t.Kind() == reflect.String
	case dynamic:
		return t.Kind() == reflect.Interface
	}
	return false
}

func (l *lowering) assert(in *ssa.TypeAssert) {
	if !l.asserts(in) || in.CommaOk && l.results[in] == nil {
		l.byEngine(in)
		return
	}
	t := l.types[in.AssertedType]
	a := asserting{x: l.reg(in.X), value: -1, ok: -1, to: l.part(in.AssertedType, t), named: t.Name() != "", is: l.host.Is, passed: &lookups[struct{}]{}}
	out := ins{op: opAssert, imm: int64(len(l.assertions)), uses: []int{a.x}}
	if in.CommaOk {
		list := l.results[in]
		a.value, a.ok = list[0].reg, list[1].reg
		out.defs = []int{a.value, a.ok}
	} else {
		a.value = l.reg(in)
		out.defs = []int{a.value}
	}
	l.assertions = append(l.assertions, a)
	l.checked(out, in)
}
