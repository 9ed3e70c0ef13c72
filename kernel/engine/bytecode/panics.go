package bytecode

import (
	"strings"
	"unsafe"
)

// A panic in a machine unwinds Go's stack to execute, whatever the number of calls of the
// machine. The innermost of these that has deferred calls makes them, and returns if one of
// them recovers.

// arrived is a panic that has come to a call of the machine that has deferred calls.
type arrived struct {
	n int // the call
	v any
}

// thrown is the panic of a panic statement that only the machine knows. Deferred functions
// recover most panics and call little else. The machine tells the engine of the panic (tell)
// before the engine gets or makes the frame of the call or of a call above it: other code
// sees or ends a panic only through these frames.
type thrown struct {
	depth     int // of the call that makes its deferred calls, from 1; 0 if there is no such panic
	value     eface
	at        *escape // the statement
	recovered bool
	ended     []activation // the calls that the panic has ended, the innermost first
}

// maxThrown is the largest number of calls that such a panic ends.
const maxThrown = 32

// finish executes the call at the bottom until it returns.
func (m *machine) finish(c *code) {
	if c.alone {
		m.run(c, unsafe.Pointer(&c.instrs[0]))
		return
	}
	for x := m.attempt(c, nil); x != nil; {
		x = m.attempt(nil, x)
	}
}

// attempt executes the call at the top, or else goes on with a panic.
func (m *machine) attempt(c *code, earlier *arrived) (x *arrived) {
	ended := false
	defer func() {
		if ended {
			return
		}
		if m.thrown.depth != 0 {
			m.tell()
		}
		n := m.deferring()
		if n < 0 {
			return
		}
		v := recover()
		if v == nil { // runtime.Goexit, which unwinds the stack itself
			m.exit()
			return
		}
		m.link(len(m.stack) - 1)
		x = &arrived{n, m.stack[n].fr.unwinder().Unwinding(v)}
	}()
	if earlier == nil {
		m.run(c, unsafe.Pointer(&c.instrs[0]))
	} else {
		m.run(m.unwind(earlier))
	}
	ended = true
	return nil
}

// panics executes panic, without a panic of Go where the machine has a call with deferred
// calls. It returns where that goes on.
func (m *machine) panics(c *code, e *escape, x eface) (*code, unsafe.Pointer) {
	if m.thrown.depth == 0 && x.plain() {
		if n := m.catching(c); n >= 0 {
			m.thrown.value, m.thrown.at = x, e
			return m.throw(n)
		}
	}
	v := m.at(e).unwinder().Panic(*(*any)(unsafe.Pointer(&x)))
	n := m.deferring()
	if n < 0 {
		panic(v)
	}
	return m.unwind(&arrived{n, m.stack[n].fr.unwinder().Unwinding(v)})
}

// catching is the call whose deferred calls a panic makes next, if the engine need not know
// of the panic, and -1 otherwise.
func (m *machine) catching(c *code) int {
	last := len(m.records) - 1
	if last < 0 || c.debugged == nil || c.debugged() {
		return -1
	}
	n := m.records[last].depth - 1
	if len(m.stack)-n+len(m.thrown.ended) > maxThrown {
		return -1
	}
	for i := n; i < len(m.stack); i++ {
		if a := &m.stack[i]; a.c.probed != nil || a.fr.listed() {
			return -1
		}
	}
	return n
}

// plain reports whether a type is none of the engine's own, whose values mean something to
// recover.
func (e eface) plain() bool {
	if e.typ == nil {
		return false
	}
	path := typeOf(e.typ).PkgPath()
	return path == "" || path == "main" || strings.HasPrefix(path, "main·")
}

// throw ends the calls above one, which makes its deferred calls. It returns where that goes
// on.
func (m *machine) throw(n int) (*code, unsafe.Pointer) {
	m.thrown.depth, m.thrown.recovered = n+1, false
	for i := len(m.stack) - 1; i > n; i-- {
		m.thrown.ended = append(m.thrown.ended, m.stack[i])
	}
	clear(m.stack[n+1:])
	m.stack = m.stack[:n+1]
	a := &m.stack[n]
	if a.fr != nil {
		a.fr.callee = nil
	}
	m.base, m.ended = a.base, nil
	return a.c, unsafe.Add(unsafe.Pointer(&a.c.instrs[0]), a.c.unwind)
}

// forget ends a panic that only the machine knows.
func (x *thrown) forget() {
	clear(x.ended)
	x.depth, x.value, x.ended = 0, eface{}, x.ended[:0]
}

// tell makes a panic one that the engine knows, as if it had known it from the beginning.
func (m *machine) tell() {
	x, n := m.thrown, m.thrown.depth-1
	m.thrown = thrown{}
	running := append([]activation(nil), m.stack[n+1:]...)
	m.stack = m.stack[:n+1]
	for i := len(x.ended) - 1; i >= 0; i-- {
		m.stack = append(m.stack, x.ended[i])
	}
	for i := n; i+1 < len(m.stack); i++ { // throw has cut these links
		if fr := m.stack[i+1].fr; fr != nil {
			m.stack[i].fr.callee = fr
		}
	}
	v := m.at(x.at).unwinder().Panic(*(*any)(unsafe.Pointer(&x.value)))
	m.unwind(&arrived{n, m.stack[n].fr.unwinder().Unwinding(v)})
	if x.recovered {
		m.stack[n].fr.unwinder().Recover(m.stack[n].c.pfn.Fn)
	}
	m.stack = append(m.stack, running...)
	m.base = m.stack[len(m.stack)-1].base
}

// deferring is the innermost call that has deferred calls, or that runs them because it
// panics; -1 if there is none.
func (m *machine) deferring() int {
	depth := 0 // of the last record
	if last := len(m.records) - 1; last >= 0 {
		depth = m.records[last].depth
	}
	for n := len(m.stack) - 1; n >= 0; n-- {
		if fr := m.stack[n].fr; depth == n+1 || fr != nil && fr != m.ended && fr.defers() {
			return n
		}
	}
	return -1
}

// defers reports whether the engine has listed deferred calls, or the frame makes its last
// one because it panics.
func (fr *frame) defers() bool {
	if fr._defer == nil && fr._panic == nil {
		return false
	}
	_, panics := fr.unwinder().Panicking()
	return panics || fr._defer != nil
}

// unwind makes a call that panics the one at the top, and returns where it goes on: it
// makes its deferred calls, and returns if one of them recovers.
func (m *machine) unwind(x *arrived) (*code, unsafe.Pointer) {
	fr := m.drop(x.n)
	fr.unwinder().Panics(x.v)
	fr.callee = nil
	c := m.stack[x.n].c
	return c, unsafe.Add(unsafe.Pointer(&c.instrs[0]), c.unwind)
}

// drop removes the calls above one, and returns the frame of that.
func (m *machine) drop(n int) *frame {
	clear(m.stack[n+1:])
	m.stack = m.stack[:n+1]
	m.base, m.ended = m.stack[n].base, nil
	return m.link(n)
}

// exit makes all deferred calls, because runtime.Goexit ends the goroutine.
func (m *machine) exit() {
	if n := m.deferring(); n >= 0 {
		defer m.exit() // also if one of them panics
		fr := m.drop(n)
		m.list(n)
		fr._panic = nil
		m.endDefers(fr)
	}
}

// recover executes a call of recover, and returns the next instruction: in most functions
// the one before it calls the function that gets the result, which is not needed for nil and
// for values that mean nothing to the engine.
func (m *machine) recover(c *code, in *instr, ip unsafe.Pointer) unsafe.Pointer {
	e, after := &c.escapes[in.imm], unsafe.Add(ip, uintptr(in.a)*unsafe.Sizeof(instr{}))
	n := len(m.stack) - 1
	r, p := m.registers()
	if x := &m.thrown; x.depth == n && n > 0 && !x.recovered {
		x.recovered = true
		p[e.result.reg], p[e.result.reg+1] = x.value.typ, x.value.data
		return after
	}
	fr := m.stack[n].fr
	if n == 0 || m.stack[n-1].c.wrapper || fr != nil && fr._panic != nil {
		m.escape(c, e)
		return ip
	}
	v := any(nil)
	if by := m.stack[n-1].fr; by != nil && by._panic != nil {
		v = by.unwinder().Recover(c.pfn.Fn)
	}
	if e.result.unbox(r, p, v); v == nil {
		return after
	}
	return ip
}
