package bytecode

import (
	"strings"
	"unsafe"
)

// A panic in a machine unwinds Go's stack to execute, whatever the number of calls of the
// machine. The innermost of these that has deferred calls makes them, and returns if one of
// them recovers.

// thrown is a panic that has come to a call of the machine that has deferred calls.
type thrown struct {
	n int // the call
	v any
}

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
func (m *machine) attempt(c *code, earlier *thrown) (x *thrown) {
	ended := false
	defer func() {
		if ended {
			return
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
		x = &thrown{n, m.stack[n].fr.unwinder().Unwinding(v)}
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
func (m *machine) panics(e *escape, x eface) (*code, unsafe.Pointer) {
	v := m.at(e).unwinder().Panic(*(*any)(unsafe.Pointer(&x)))
	n := m.deferring()
	if n < 0 {
		panic(v)
	}
	return m.unwind(&thrown{n, m.stack[n].fr.unwinder().Unwinding(v)})
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
func (m *machine) unwind(x *thrown) (*code, unsafe.Pointer) {
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

// recover executes a call of recover.
func (m *machine) recover(c *code, e *escape) {
	n := len(m.stack) - 1
	fr := m.stack[n].fr
	if n == 0 || m.stack[n-1].c.wraps() || fr != nil && fr._panic != nil {
		m.escape(c, e)
		return
	}
	v := any(nil)
	if by := m.stack[n-1].fr; by != nil && by._panic != nil {
		v = by.unwinder().Recover(c.pfn.Fn)
	}
	r, p := m.registers()
	e.result.unbox(r, p, v)
}

// wraps reports whether a function was made to call another one, so that recover may look
// at its caller.
func (c *code) wraps() bool {
	s := c.pfn.Fn.Synthetic
	return s != "" && !strings.HasPrefix(s, "instance of ")
}

// recovered calls the function that gets what recover returns.
func (m *machine) recovered(c *code, cl *call) {
	_, p := m.registers()
	if p[cl.args[0].reg] != nil {
		m.native(c, cl)
		return
	}
	to := cl.results[0].reg
	p[to], p[to+1] = nil, nil
}
