package bytecode

import (
	"reflect"
	"unsafe"
)

// Functions of the runtime that access a map of any type. Their names and signatures are
// kept for other modules that use them (go.dev/issue/67401). The fast ones are those that
// the Go compiler calls for keys of these sizes, if an element has at most maxElem bytes.

//go:linkname mapaccess2 runtime.mapaccess2
//go:noescape
func mapaccess2(t, m, key unsafe.Pointer) (unsafe.Pointer, bool)

//go:linkname mapaccess2Fast64 runtime.mapaccess2_fast64
//go:noescape
func mapaccess2Fast64(t, m unsafe.Pointer, key uint64) (unsafe.Pointer, bool)

//go:linkname mapaccess2Fast32 runtime.mapaccess2_fast32
//go:noescape
func mapaccess2Fast32(t, m unsafe.Pointer, key uint32) (unsafe.Pointer, bool)

//go:linkname mapaccess2FastText runtime.mapaccess2_faststr
//go:noescape
func mapaccess2FastText(t, m unsafe.Pointer, key string) (unsafe.Pointer, bool)

//go:linkname mapassign runtime.mapassign
//go:noescape
func mapassign(t, m, key unsafe.Pointer) unsafe.Pointer

//go:linkname mapassignFast64 runtime.mapassign_fast64
//go:noescape
func mapassignFast64(t, m unsafe.Pointer, key uint64) unsafe.Pointer

//go:linkname mapassignFast32 runtime.mapassign_fast32
//go:noescape
func mapassignFast32(t, m unsafe.Pointer, key uint32) unsafe.Pointer

//go:linkname mapassignFastText runtime.mapassign_faststr
func mapassignFastText(t, m unsafe.Pointer, key string) unsafe.Pointer

//go:linkname mapdelete runtime.mapdelete
//go:noescape
func mapdelete(t, m, key unsafe.Pointer)

const maxElem = 128

// mapType is the type of a map that the machine accesses.
type mapType struct {
	typ       unsafe.Pointer // the word of an interface
	rt        reflect.Type
	fast      fastKey
	key, elem part
}

// fastKey is the kind of the keys for which the runtime has functions of their own.
type fastKey uint8

const (
	slow fastKey = iota
	fast64
	fast32
	fastText
)

// part is the type of the keys or the elements of a map.
type part struct {
	class   class
	kind    reflect.Kind
	typ     unsafe.Pointer // the word of an interface
	rt      reflect.Type
	zero    any  // of a boxed one
	methods bool // of an interface
}

// mapAccess is m[key], m[key] = elem or delete(m, key). A place is a register, or one in
// the frame if the register is -1.
type mapAccess struct {
	*mapType
	m, ok        int // registers; ok is -1 if it is not wanted
	key, keyAt   int
	elem, elemAt int   // both are -1 if the element is not wanted
	bare         *slot // of a key that is not yet an interface, nil for others
	again        bool  // a lookup before an assignment to the same element, or that assignment
}

// mapSpace is memory of the machine for accesses of maps.
type mapSpace struct {
	text  stringHeader // a key that lies in several registers
	face  eface
	found unsafe.Pointer // the element of the last lookup that an assignment follows
}

// keyAddress is the address of the key of an access. Its memory is used again, unless the
// map keeps the key.
func (a *mapAccess) keyAddress(r *registers, p *pointers, stack []any, space *mapSpace, keeps bool) unsafe.Pointer {
	switch a.mapType.key.class {
	case number: // on a little-endian machine the low bytes are the value
		return unsafe.Pointer(&r[uint16(a.key)])
	case pointer:
		return unsafe.Pointer(&p[uint16(a.key)])
	case record:
		return p[uint16(a.key)]
	case header:
		space.text = stringHeader{p[uint16(a.key)], r[uint16(a.key)]}
		return unsafe.Pointer(&space.text)
	case dynamic:
		switch k := uint16(a.key); {
		case a.bare == nil:
			space.face = eface{p[k], p[k+1]}
		case keeps:
			var list [1]any
			a.bare.box(r, p, list[:])
			space.face = *(*eface)(unsafe.Pointer(&list[0]))
		case a.bare.class == number:
			space.face = eface{a.bare.typ, unsafe.Pointer(&r[k])}
		default:
			space.text = stringHeader{p[k], r[k]}
			space.face = eface{a.bare.typ, unsafe.Pointer(&space.text)}
		}
		if a.mapType.key.methods {
			storeInterface(a.mapType.key.typ, unsafe.Pointer(&space.face), space.face)
		}
		return unsafe.Pointer(&space.face)
	}
	if e := (*eface)(unsafe.Pointer(&stack[a.keyAt])); e.typ == a.mapType.key.typ {
		return e.data
	}
	return a.mapType.key.converted(stack[a.keyAt]).Addr().UnsafePointer()
}

// converted is a boxed value of another type with the same layout, or nil for a zero
// value, as a value of the type.
func (t *part) converted(v any) reflect.Value {
	out := reflect.New(t.rt).Elem()
	if v != nil {
		out.Set(reflect.ValueOf(v).Convert(t.rt))
	}
	return out
}

// get reads an element, and notes its place for an assignment that follows.
func (a *mapAccess) get(r *registers, p *pointers, stack []any, space *mapSpace) {
	var e unsafe.Pointer
	var ok bool
	m := p[uint16(a.m)]
	switch a.fast {
	case fast64:
		e, ok = mapaccess2Fast64(a.typ, m, r[uint16(a.key)])
	case fast32:
		e, ok = mapaccess2Fast32(a.typ, m, uint32(r[uint16(a.key)]))
	case fastText:
		e, ok = mapaccess2FastText(a.typ, m, text(r, p, uint16(a.key)))
	default:
		e, ok = mapaccess2(a.typ, m, a.keyAddress(r, p, stack, space, false))
	}
	if a.ok >= 0 {
		r[uint16(a.ok)] = truth(ok)
	}
	if !ok {
		e = nil
	}
	if a.again {
		space.found = e
	}
	a.mapType.elem.read(e, r, p, a.elem, stack, a.elemAt)
}

// read reads a key or an element into a register or the frame. An address of nil is that
// of a zero value.
func (t *part) read(from unsafe.Pointer, r *registers, p *pointers, reg int, stack []any, at int) {
	k := uint16(reg)
	switch t.class {
	case number:
		r[k] = 0
		if from != nil {
			r[k] = load(t.kind, from)
		}
	case pointer:
		p[k] = nil
		if from != nil {
			p[k] = *(*unsafe.Pointer)(from)
		}
	case record:
		p[k] = unsafe.Pointer(&zeroRecord)
		if from != nil {
			p[k] = copied(t.typ, from)
		}
	case header:
		switch {
		case from == nil:
			p[k], r[k], r[k+1] = nil, 0, 0
		case t.kind == reflect.String:
			h := (*stringHeader)(from)
			p[k], r[k], r[k+1] = h.data, h.len, h.len
		default:
			h := (*sliceHeader)(from)
			p[k], r[k], r[k+1] = h.data, h.len, h.cap
		}
	case dynamic:
		p[k], p[k+1] = nil, nil
		if from != nil {
			p[k], p[k+1] = loadInterface(from, t.methods)
		}
	default:
		switch {
		case at < 0:
		case from == nil || t.rt.Size() == 0:
			stack[at] = t.zero
		default:
			stack[at] = reflect.NewAt(t.rt, from).Elem().Interface()
		}
	}
}

// set assigns an element of a map that is not nil.
func (a *mapAccess) set(r *registers, p *pointers, stack []any, space *mapSpace) {
	var e unsafe.Pointer
	if a.again {
		e, space.found = space.found, nil
	}
	switch m := p[uint16(a.m)]; {
	case e != nil:
	case a.fast == fast64:
		e = mapassignFast64(a.typ, m, r[uint16(a.key)])
	case a.fast == fast32:
		e = mapassignFast32(a.typ, m, uint32(r[uint16(a.key)]))
	case a.fast == fastText:
		e = mapassignFastText(a.typ, m, text(r, p, uint16(a.key)))
	default:
		e = mapassign(a.typ, m, a.keyAddress(r, p, stack, space, true))
	}
	a.mapType.elem.write(e, r, p, a.elem, stack, a.elemAt)
}

// write writes a key or an element, which is in a register or in the frame, to memory.
func (t *part) write(to unsafe.Pointer, r *registers, p *pointers, reg int, stack []any, at int) {
	k := uint16(reg)
	switch t.class {
	case number:
		store(t.kind, to, r[k])
	case pointer:
		*(*unsafe.Pointer)(to) = p[k]
	case record:
		typedmemmove(t.typ, to, p[k])
	case header:
		if t.kind == reflect.String {
			*(*stringHeader)(to) = stringHeader{p[k], r[k]}
		} else {
			*(*sliceHeader)(to) = sliceHeader{p[k], r[k], r[k+1]}
		}
	case dynamic:
		if e := (eface{p[k], p[k+1]}); t.methods {
			storeInterface(t.typ, to, e)
		} else {
			*(*eface)(to) = e
		}
	default:
		t.assign(to, stack[at])
	}
}

// assign writes a boxed value to memory.
func (t *part) assign(to unsafe.Pointer, v any) {
	switch {
	case t.rt.Size() == 0:
	case (*eface)(unsafe.Pointer(&v)).typ == t.typ:
		reflect.NewAt(t.rt, to).Elem().Set(reflect.ValueOf(v))
	default:
		reflect.NewAt(t.rt, to).Elem().Set(t.converted(v))
	}
}

// remove deletes an element.
func (a *mapAccess) remove(r *registers, p *pointers, stack []any, space *mapSpace) {
	mapdelete(a.typ, p[uint16(a.m)], a.keyAddress(r, p, stack, space, false))
}

// size is the number of elements of a map.
func size(m unsafe.Pointer) uint64 { return uint64(len(*(*map[uint64]uint64)(unsafe.Pointer(&m)))) }
