package bytecode

import (
	"go/types"
	"reflect"
	"sync/atomic"
	"unsafe"

	"golang.org/x/tools/go/ssa"
)

// An interface of any type is two pointers in registers, the words of an any: the type of
// the value and its data. In memory, one with methods has a table in place of the type.

//go:linkname ifaceE2I reflect.ifaceE2I
//go:noescape
func ifaceE2I(t unsafe.Pointer, from any, to unsafe.Pointer)

// ofInterface executes an operation of interfaces, and returns false if its check fails.
func (in *instr) ofInterface(c *code, r *registers, p *pointers) bool {
	a, b := in.a, in.b
	switch in.op {
	case opLoadI:
		if p[b] == nil {
			return false
		}
		p[a], p[a+1] = loadInterface(p[b], in.imm != 0)
	case opStoreE:
		if p[a] == nil {
			return false
		}
		*(*eface)(p[a]) = eface{p[b], p[b+1]}
	case opStoreI:
		if p[a] == nil {
			return false
		}
		storeInterface(c.news[in.imm], p[a], eface{p[b], p[b+1]})
	case opBoxN:
		p[a], p[a+1] = c.news[in.imm], numberData(r[b])
	case opBoxP:
		p[a], p[a+1] = c.news[in.imm], p[b]
	case opBoxH:
		p[a], p[a+1] = c.news[in.imm], unsafe.Pointer(&sliceHeader{p[b], r[b], r[b+1]})
	case opBoxT:
		p[a], p[a+1] = c.news[in.imm], unsafe.Pointer(&stringHeader{p[b], r[b]})
	case opAssert:
		return c.assertions[in.imm].assert(r, p)
	}
	return true
}

// loadInterface is the interface at an address as an any.
func loadInterface(at unsafe.Pointer, methods bool) (typ, data unsafe.Pointer) {
	e := (*eface)(at)
	if methods && e.typ != nil {
		return (*table)(e.typ).typ, e.data
	}
	return e.typ, e.data
}

// storeInterface writes an interface of a type with methods.
func storeInterface(t, at unsafe.Pointer, e eface) {
	if e.typ == nil {
		*(*eface)(at) = eface{}
		return
	}
	ifaceE2I(t, *(*any)(unsafe.Pointer(&e)), at)
}

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

// asserting is x.(T).
type asserting struct {
	x         int // registers
	value, ok int // ok is -1 if a failure panics
	to        part
	named     bool
	is        func(dynamic, asserted reflect.Type) bool
	passed    *lookups[struct{}] // types that implement the interface
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

// assert returns false if the assertion panics.
func (a *asserting) assert(r *registers, p *pointers) bool {
	typ, data := p[uint16(a.x)], p[uint16(a.x)+1]
	holds := typ != nil && (typ == a.to.typ || a.fits(typ))
	switch {
	case holds:
		a.to.unpack(eface{typ, data}, r, p, a.value)
	case a.ok < 0:
		return false
	default:
		a.to.read(nil, r, p, a.value, nil, -1)
	}
	if a.ok >= 0 {
		r[uint16(a.ok)] = truth(holds)
	}
	return true
}

// fits reports whether a value of another type than the asserted one passes.
func (a *asserting) fits(typ unsafe.Pointer) bool {
	if a.to.class == dynamic {
		if _, ok := a.passed.find(typ); ok {
			return true
		}
	} else if a.named {
		return false
	}
	t := typeOf(typ)
	if a.to.class != dynamic && t.Kind() != a.to.kind || !a.is(t, a.to.rt) {
		return false
	}
	if a.to.class == dynamic { // a type that lacks a method may get it from a later cell
		a.passed.add(typ, struct{}{})
	}
	return true
}

// unpack reads the value in an interface into a register.
func (t *part) unpack(e eface, r *registers, p *pointers, reg int) {
	switch k := uint16(reg); t.class {
	case pointer, record:
		p[k] = e.data
	case dynamic:
		p[k], p[k+1] = e.typ, e.data
	default:
		t.read(e.data, r, p, reg, nil, -1)
	}
}

// typeOf is the type of an interface's first word.
func typeOf(word unsafe.Pointer) reflect.Type {
	e := eface{typ: word}
	return reflect.TypeOf(*(*any)(unsafe.Pointer(&e)))
}

// lookups are what an instruction has found for the types of values that it met. Most
// meet few types.
type lookups[T any] struct {
	list atomic.Pointer[[]lookup[T]]
}

type lookup[T any] struct {
	typ   unsafe.Pointer
	found T
}

const maxLookups = 8

func (x *lookups[T]) find(typ unsafe.Pointer) (found T, ok bool) {
	if list := x.list.Load(); list != nil {
		for i := range *list {
			if e := &(*list)[i]; e.typ == typ {
				return e.found, true
			}
		}
	}
	return found, false
}

// add notes what was found. An entry that another goroutine adds at the same time may be
// lost.
func (x *lookups[T]) add(typ unsafe.Pointer, found T) {
	var list []lookup[T]
	if old := x.list.Load(); old != nil && len(*old) < maxLookups {
		list = append(list, *old...)
	}
	list = append(list, lookup[T]{typ, found})
	x.list.Store(&list)
}
