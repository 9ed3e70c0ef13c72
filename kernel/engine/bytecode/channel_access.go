package bytecode

import (
	"reflect"
	"unsafe"
)

// Functions of the runtime that package reflect calls.

//go:linkname chanrecv reflect.chanrecv
func chanrecv(ch unsafe.Pointer, nonblocking bool, val unsafe.Pointer) (selected, received bool)

//go:linkname chansend reflect.chansend0
func chansend(ch, val unsafe.Pointer, nonblocking bool) bool

//go:linkname rselect reflect.rselect
func rselect([]selectCase) (chosen int, received bool)

// selectCase is runtimeSelect of package reflect.
type selectCase struct {
	dir      reflect.SelectDir
	_        unsafe.Pointer // the type
	ch, elem unsafe.Pointer
}

// choose executes a channel operation. It tries without waiting first, which takes a tenth
// of the time.
func (m *machine) choose(c *code, s *selecting) {
	var stack []any
	if s.elem.class == boxed {
		stack = m.frame().stack
	}
	r, p := m.registers()
	ch, buffer, received := p[s.channel], m.buffer(&s.elem), false
	if s.sends {
		s.elem.write(buffer, r, p, s.value.reg, stack, s.value.at)
	}
	done, failed := false, any(nil)
	if ch != nil && !raised(c.flag) {
		done, received, failed = s.try(ch, buffer)
	}
	if failed != nil { // it is closed: the panic names this call
		m.at(&s.at)
		panic(failed)
	}
	chosen := 0
	if !done {
		chosen, received = m.wait(c, s, ch, buffer)
	}
	r[s.index], r[s.ok] = uint64(chosen), truth(received)
	if !s.sends && (s.value.reg >= 0 || s.value.at >= 0) {
		if chosen != 0 || !received {
			buffer = nil
		}
		s.elem.read(buffer, r, p, s.value.reg, stack, s.value.at)
	}
	m.ptr, m.head, m.face = nil, sliceHeader{}, eface{}
}

// wait waits until the operation is done, or for a stop, which is case 1.
func (m *machine) wait(c *code, s *selecting, ch, buffer unsafe.Pointer) (chosen int, received bool) {
	m.at(&s.at)
	dir, kill := reflect.SelectRecv, c.kill()
	if s.sends {
		dir = reflect.SelectSend
	}
	m.cases = [2]selectCase{{dir: dir, ch: ch, elem: buffer}, {dir: reflect.SelectRecv, ch: *(*unsafe.Pointer)(unsafe.Pointer(&kill)), elem: unsafe.Pointer(&none)}}
	chosen, received = rselect(m.cases[:])
	m.cases = [2]selectCase{}
	return chosen, received
}

// receive receives a value, and returns false at a stop.
func (m *machine) receive(c *code, s *selecting, r *registers, p *pointers) bool {
	ch, buffer := p[uint16(s.channel)], m.buffer(&s.elem)
	done, received := chanrecv(ch, true, buffer)
	if !done {
		chosen := 0
		if chosen, received = m.wait(c, s, ch, buffer); chosen != 0 {
			return false
		}
	}
	if !received {
		buffer = nil
	}
	if s.ok >= 0 {
		r[uint16(s.ok)] = truth(received)
	}
	s.elem.read(buffer, r, p, s.value.reg, nil, -1)
	if s.elem.class != number {
		m.ptr, m.head, m.face = nil, sliceHeader{}, eface{}
	}
	return true
}

// try executes a channel operation if it need not wait. A send to a closed channel fails.
func (s *selecting) try(ch, buffer unsafe.Pointer) (done, received bool, failed any) {
	if !s.sends {
		done, received = chanrecv(ch, true, buffer)
		return done, received, nil
	}
	defer func() { failed = recover() }()
	return chansend(ch, buffer, true), false, nil
}

// none is memory for values without a size.
var none struct{}

// buffer is memory for a value of a channel.
func (m *machine) buffer(t *part) unsafe.Pointer {
	switch t.class {
	case number:
		return unsafe.Pointer(&m.word)
	case pointer:
		return unsafe.Pointer(&m.ptr)
	case header:
		return unsafe.Pointer(&m.head)
	case dynamic:
		return unsafe.Pointer(&m.face)
	}
	return unsafeNew(t.typ)
}

// chooseOf executes a select with several cases, or with a default case.
func (m *machine) chooseOf(c *code, s *choosing) {
	m.at(&s.at)
	r, p := m.registers()
	n := len(s.cases)
	if len(m.words) < n {
		m.many, m.words = make([]selectCase, n+1), make([]uint64, n)
	}
	list := m.many[:n+1]
	for i := range s.cases {
		x := &s.cases[i]
		buffer := unsafe.Pointer(&m.words[i])
		if x.elem.class != number {
			buffer = unsafeNew(x.elem.typ)
		}
		list[i] = selectCase{dir: reflect.SelectRecv, ch: p[x.channel], elem: buffer}
		if x.sends {
			list[i].dir = reflect.SelectSend
			x.elem.write(buffer, r, p, x.value, nil, -1)
		}
	}
	if list[n] = (selectCase{dir: reflect.SelectDefault}); s.waits {
		kill := c.kill()
		list[n] = selectCase{dir: reflect.SelectRecv, ch: *(*unsafe.Pointer)(unsafe.Pointer(&kill)), elem: unsafe.Pointer(&none)}
	}
	chosen, received := rselect(list)
	if chosen < n {
		if x := &s.cases[chosen]; !x.sends && x.value >= 0 {
			from := list[chosen].elem
			if !received {
				from = nil
			}
			x.elem.read(from, r, p, x.value, nil, -1)
		}
	} else if !s.waits {
		chosen = -1
	}
	clear(list)
	r[s.index], r[s.ok] = uint64(chosen), truth(received)
}
