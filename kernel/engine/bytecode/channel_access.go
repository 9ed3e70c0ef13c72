package bytecode

import (
	"math/bits"
	"unsafe"
)

// Functions of the runtime that package reflect calls.

//go:linkname chanrecv reflect.chanrecv
func chanrecv(ch unsafe.Pointer, nonblocking bool, val unsafe.Pointer) (selected, received bool)

//go:linkname chansend reflect.chansend0
func chansend(ch, val unsafe.Pointer, nonblocking bool) bool

// selectgo executes a select of compiled Go. Cases that send come first; order is memory
// for two numbers per case. The linker offers it to the standard library only, unless its
// flag -checklinkname=0 is set, as warpbook/kernel/edited does.
//
//go:linkname selectgo runtime.selectgo
func selectgo(cases *runtimeCase, order *uint16, callers *uintptr, sends, receives int, waits bool) (chosen int, received bool)

// cheaprandn is a random number below n, by which the runtime's select chooses too.
//
//go:linkname cheaprandn runtime.cheaprandn
func cheaprandn(n uint32) uint32

// runtimeCase is scase of package runtime.
type runtimeCase struct{ ch, elem unsafe.Pointer }

// buffer is memory for a value that a channel operation passes.
type buffer struct {
	word uint64
	ptr  unsafe.Pointer
	head sliceHeader
	face eface
}

// of is the address of memory for a value of a type.
func (b *buffer) of(t *part) unsafe.Pointer {
	switch t.class {
	case number:
		return unsafe.Pointer(&b.word)
	case pointer:
		return unsafe.Pointer(&b.ptr)
	case header:
		return unsafe.Pointer(&b.head)
	case dynamic:
		return unsafe.Pointer(&b.face)
	}
	return unsafeNew(t.typ)
}

// reset forgets the value.
func (b *buffer) reset() { b.ptr, b.head, b.face = nil, sliceHeader{}, eface{} }

// choose executes a select. It tries the cases without waiting first, which takes a tenth
// of the time.
//
// That the tries fail does not choose the default case, unless there is only one: a channel
// may have become ready after its try, and the next one ceased to be before its own. The
// runtime's select looks at all channels at once.
func (m *machine) choose(c *code, s *selecting, r *registers, p *pointers) {
	var stack []any
	if s.boxed {
		stack = m.frame().stack
	}
	chosen, received, done := -1, false, false // chosen is a place in s.cases
	switch {
	case s.waits && raised(c.flag) || len(s.cases) > maxTries:
	case len(s.cases) > 1:
		chosen, received = m.tryAll(s, r, p, stack)
		done = chosen >= 0
	default:
		if done, received = m.try(s, &s.cases[0], r, p, stack); done {
			chosen = 0
		}
		done = done || !s.waits
	}
	if !done {
		chosen, received = m.selects(c, s, r, p, stack)
	}
	if chosen >= 0 {
		chosen = s.numbers[chosen]
	}
	r[s.index], r[s.ok] = uint64(chosen), truth(received)
}

// receive receives a value, and returns false at a stop.
func (m *machine) receive(c *code, s *selecting, r *registers, p *pointers) bool {
	done, received := m.try(s, &s.cases[0], r, p, nil)
	if !done {
		chosen := 0
		if chosen, received = m.selects(c, s, r, p, nil); chosen != 0 {
			return false
		}
	}
	if s.ok >= 0 {
		r[uint16(s.ok)] = truth(received)
	}
	return true
}

// maxTries is the largest number of cases that are tried.
const maxTries = 64

// tryAll executes the first operation that need not wait, in a random order, and returns its
// place; -1 if there is none.
func (m *machine) tryAll(s *selecting, r *registers, p *pointers, stack []any) (chosen int, received bool) {
	for left := ^uint64(0) >> (maxTries - len(s.cases)); left != 0; {
		k := oneOf(left)
		left &^= 1 << k
		if done, received := m.try(s, &s.cases[k], r, p, stack); done {
			return k, received
		}
	}
	return -1, false
}

// try executes an operation if it need not wait.
func (m *machine) try(s *selecting, x *operation, r *registers, p *pointers, stack []any) (done, received bool) {
	at := m.of(&x.elem)
	if x.sends {
		x.elem.write(at, r, p, x.value.reg, stack, x.value.at)
		var failed any
		if done, failed = trySend(p[uint16(x.channel)], at); failed != nil { // it is closed: the panic names this select
			m.at(&s.at)
			panic(failed)
		}
	} else if done, received = chanrecv(p[uint16(x.channel)], true, at); done {
		x.receive(received, at, r, p, stack)
	}
	if x.elem.class != number {
		m.reset()
	}
	return done, received
}

// oneOf is the number of one of the bits that are set, each as likely as the others.
func oneOf(set uint64) int {
	if n := bits.OnesCount64(set); n > 1 {
		for range cheaprandn(uint32(n)) {
			set &= set - 1
		}
	}
	return bits.TrailingZeros64(set)
}

// trySend sends a value if that need not wait, and fails if the channel is closed.
func trySend(ch, value unsafe.Pointer) (done bool, failed any) {
	defer func() { failed = recover() }()
	return chansend(ch, value, true), nil
}

// selects executes a select by the runtime, which waits for a case or for a stop if the
// select has no default case. It returns the place of the case: the number of cases for a
// stop, -1 for the default case.
func (m *machine) selects(c *code, s *selecting, r *registers, p *pointers, stack []any) (chosen int, received bool) {
	m.at(&s.at)
	n := len(s.cases)
	if len(m.cases) <= n {
		m.cases, m.buffers, m.order = make([]runtimeCase, n+1), make([]buffer, n), make([]uint16, 2*(n+1))
	}
	for i := range s.cases {
		x := &s.cases[i]
		at := m.buffers[i].of(&x.elem)
		if x.sends {
			x.elem.write(at, r, p, x.value.reg, stack, x.value.at)
		}
		m.cases[i] = runtimeCase{p[uint16(x.channel)], at}
	}
	receives := n - s.sends
	if s.waits {
		kill := c.kill()
		m.cases[n] = runtimeCase{ch: *(*unsafe.Pointer)(unsafe.Pointer(&kill))}
		receives++
	}
	chosen, received = selectgo(&m.cases[0], &m.order[0], nil, s.sends, receives, s.waits)
	if chosen >= s.sends && chosen < n {
		s.cases[chosen].receive(received, m.cases[chosen].elem, r, p, stack)
	}
	clear(m.cases[:n+1])
	clear(m.buffers[:n])
	return chosen, received
}

// receive puts what a receive has written to memory into the place where it is wanted.
func (x *operation) receive(received bool, from unsafe.Pointer, r *registers, p *pointers, stack []any) {
	switch {
	case x.value.reg < 0 && x.value.at < 0:
	case !received:
		x.elem.read(nil, r, p, x.value.reg, stack, x.value.at)
	case x.elem.class == record: // nothing else has the memory
		p[uint16(x.value.reg)] = from
	default:
		x.elem.read(from, r, p, x.value.reg, stack, x.value.at)
	}
}
