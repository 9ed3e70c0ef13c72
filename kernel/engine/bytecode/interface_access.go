package bytecode

import (
	"reflect"
	"unsafe"
)

// asserting is x.(T).
type asserting struct {
	x         int // registers
	value, ok int // ok is -1 if a failure panics
	to        part
	named     bool
	is        func(dynamic, asserted reflect.Type) bool
	passed    *lookups[struct{}] // types that implement the interface
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
