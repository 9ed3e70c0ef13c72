package bytecode

import "unsafe"

// Functions of the runtime that make maps and slices. Their names and signatures are kept
// for other modules that use them (go.dev/issue/67401).

//go:linkname makemap runtime.makemap
func makemap(t unsafe.Pointer, hint int, m unsafe.Pointer) unsafe.Pointer

//go:linkname makeslice runtime.makeslice
func makeslice(elem unsafe.Pointer, length, capacity int) unsafe.Pointer

// making is the creation of a map or of a slice.
type making struct {
	to       int // register
	len, cap int // registers, -1 if absent; a map has a capacity only
	isMap    bool
	typ      unsafe.Pointer // of the map, or of an element
	size     uint64         // of an element
}

// maxMade is the largest capacity of what the machine makes, times the size of an element:
// the engine has the messages for all lengths.
const maxMade = 1 << 20

// make makes a map or a slice, and returns false if the engine has to.
func (k *making) make(r *registers, p *pointers) bool {
	length, capacity := uint64(0), uint64(0)
	if k.len >= 0 {
		length = r[k.len]
		capacity = length
	}
	if k.cap >= 0 {
		capacity = r[k.cap]
	}
	if capacity > maxMade || length > capacity || capacity*k.size > maxMade {
		return false
	}
	if k.isMap {
		p[k.to] = makemap(k.typ, int(capacity), nil)
	} else {
		p[k.to], r[k.to], r[k.to+1] = makeslice(k.typ, int(length), int(capacity)), length, capacity
	}
	return true
}
