package bytecode

import (
	"unicode/utf8"
	"unsafe"
)

// A range over a map has an iterator in a pointer register, one over a string has the
// next position in a number register. The engine allocates a tuple for each iteration.

//go:linkname mapiterinit runtime.mapiterinit
func mapiterinit(t, m unsafe.Pointer, it *mapIterator)

//go:linkname mapiternext runtime.mapiternext
func mapiternext(it *mapIterator)

// mapIterator is a range over a map. Its first fields are those of the type
// linknameIter of package runtime.
type mapIterator struct {
	key, elem unsafe.Pointer // of the current turn, nil after the last one
	_, _      unsafe.Pointer
	begun     bool
}

// ranging is an instruction that begins a range over a map, or that takes its next turn.
// A place is a register, or one in the frame if the register is -1.
type ranging struct {
	*mapType
	iterator, of int // registers; of is the map or the string

	ok           int // results of a turn
	key, keyAt   int
	elem, elemAt int
	keys, elems  bool // which of them are wanted
}

// begin makes the iterator of a range over a map.
func (g *ranging) begin(p *pointers) {
	it := &mapIterator{}
	mapiterinit(g.typ, p[uint16(g.of)], it)
	p[uint16(g.iterator)] = unsafe.Pointer(it)
}

// next takes a turn of a range over a map.
func (g *ranging) next(r *registers, p *pointers, stack []any) {
	it := (*mapIterator)(p[uint16(g.iterator)])
	if it.begun {
		mapiternext(it)
	}
	it.begun = true
	if it.key == nil {
		r[uint16(g.ok)] = 0
		return
	}
	if g.keys {
		g.mapType.key.read(it.key, r, p, g.key, stack, g.keyAt)
	}
	if g.elems {
		g.mapType.elem.read(it.elem, r, p, g.elem, stack, g.elemAt)
	}
	r[uint16(g.ok)] = 1
}

// nextRune takes a turn of a range over a string.
func (g *ranging) nextRune(r *registers, p *pointers) {
	s, at := text(r, p, uint16(g.of)), r[uint16(g.iterator)]
	if at >= uint64(len(s)) {
		r[uint16(g.ok)] = 0
		return
	}
	c, n := rune(s[at]), 1
	if c >= utf8.RuneSelf {
		c, n = utf8.DecodeRuneInString(s[at:])
	}
	r[uint16(g.iterator)] = at + uint64(n)
	r[uint16(g.ok)], r[uint16(g.key)], r[uint16(g.elem)] = 1, at, uint64(int64(c))
}
