package bytecode

import "unsafe"

// Functions of the runtime that compiled Go and package reflect call. Their names and
// signatures are kept for other modules that use them (go.dev/issue/67401).

//go:linkname growslice runtime.growslice
func growslice(old unsafe.Pointer, newLen, oldCap, num int, typ unsafe.Pointer) sliceHeader

//go:linkname typedslicecopy reflect.typedslicecopy
//go:noescape
func typedslicecopy(typ unsafe.Pointer, dst, src sliceHeader) int

//go:linkname unsafeNew reflect.unsafe_New
func unsafeNew(typ unsafe.Pointer) unsafe.Pointer

//go:linkname typedmemmove reflect.typedmemmove
//go:noescape
func typedmemmove(typ, dst, src unsafe.Pointer)

// copied is a copy of a value.
func copied(typ, from unsafe.Pointer) unsafe.Pointer {
	to := unsafeNew(typ)
	typedmemmove(typ, to, from)
	return to
}

// appending is append(s, x, y), or append(s, more...).
type appending struct {
	from, to int // registers of s and of the result
	more     int // register of a slice or a string, -1 if there are single elements
	list     []place
	elem     part           // of single elements
	typ      unsafe.Pointer // the word of an interface that holds an element
	size     uint64
}

// place is a register, or a place in the frame if the register is -1.
type place struct{ reg, at int }

// append makes a longer slice.
func (a *appending) append(r *registers, p *pointers, stack []any) {
	s := headerAt(r, p, uint16(a.from))
	more := sliceHeader{len: uint64(len(a.list))}
	if a.more >= 0 {
		more = headerAt(r, p, uint16(a.more))
	}
	at := s.len
	if s.len += more.len; s.len > s.cap {
		s = growslice(s.data, int(s.len), int(s.cap), int(more.len), a.typ)
	}
	if a.more >= 0 {
		if more.len > 0 {
			typedslicecopy(a.typ, sliceHeader{unsafe.Add(s.data, at*a.size), more.len, more.len}, more)
		}
	} else {
		for i := range a.list {
			a.elem.write(unsafe.Add(s.data, at*a.size), r, p, a.list[i].reg, stack, a.list[i].at)
			at++
		}
	}
	k := uint16(a.to)
	p[k], r[k], r[k+1] = s.data, s.len, s.cap
}

// headerAt is the slice or the string in register k.
func headerAt(r *registers, p *pointers, k uint16) sliceHeader {
	return sliceHeader{p[k], r[k], r[k+1]}
}
