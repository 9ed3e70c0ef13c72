package bytecode

import (
	"unsafe"

	"github.com/goplus/ixgo"
)

// A deferred call is recorded with its values, and made by the machine before its function
// returns. Where others look for deferred calls, in a panic or in the debugger, the records
// become entries of the engine's list: the frame gets their values, and the engine executes
// the Defer instructions.

// deferred is a deferred call that is recorded.
type deferred struct {
	d     *deferral
	c     *code // of the function that is called, nil if it is compiled
	env   []any // free variables of a function value
	depth int   // of the call that defers it, from 1
	at    int   // of the values
}

// defers executes a Defer instruction. The engine does so once it has one of the same call.
func (m *machine) defers(c *code, d *deferral) {
	n := len(m.stack)
	if fr := m.stack[n-1].fr; fr != nil && fr._defer != nil || !m.record(c, d) {
		m.list(n - 1)
		m.lend(n - 1)
		m.escape(c, &d.escape)
	}
}

// record records a deferred call, and reports false if the engine has to make it.
func (m *machine) record(c *code, d *deferral) bool {
	var to *code
	var env []any
	if d.inner != nil {
		to = d.inner.ready(c)
	} else if d.native == nil {
		f := d.callee
		if d.invoked != nil {
			f = d.invoked.method(c, m.pointers[m.base+d.value])
		} else if d.value >= 0 {
			f, env = m.target(c, &d.call)
		}
		if f != nil {
			to = f.ready()
		}
	}
	if to == nil && d.native == nil {
		return false
	}
	x := next(&m.records)
	if x.d, x.c, x.env, x.depth, x.at = d, to, env, len(m.stack), m.keep; d.keepsNothing() {
		return true
	}
	if m.keep += d.size + 1; m.keep > m.keptHigh { // at least one register, which exists
		m.keepMore()
	}
	r, p := m.registers()
	kr, kp := m.kept(x.at)
	for i := range d.values {
		d.values[i].copyTo(&d.kept[i], r, p, kr, kp)
	}
	return true
}

// keepsNothing reports whether a record has no values.
func (d *deferral) keepsNothing() bool { return d.size == 0 && d.native == nil }

// kept are the values of a record.
//
//go:nocheckptr
func (m *machine) kept(at int) (*registers, *pointers) {
	return (*registers)(unsafe.Pointer(&m.keptNumbers[at])), (*pointers)(unsafe.Pointer(&m.keptPointers[at]))
}

// runDefers makes the deferred calls of the call at the top, the last one first. It returns
// the code of a function that has begun, and nil if none is left. After that function, the
// instruction before ip is executed again, unless it was the last one.
func (m *machine) runDefers(c *code, end *call, ip unsafe.Pointer) (*code, unsafe.Pointer) {
	n := len(m.stack)
	for last := len(m.records) - 1; last >= 0 && m.records[last].depth == n; last = len(m.records) - 1 {
		x := &m.records[last]
		switch {
		case n >= maxDepth || m.base+c.size > maxSize, x.c == nil && !m.compiled(x, end):
			m.list(n - 1)
		case x.c != nil:
			if last > 0 && m.records[last-1].depth == n || m.thrown.depth == n || m.stack[n-1].fr.listed() {
				ip = unsafe.Add(ip, -int(unsafe.Sizeof(instr{})))
			}
			m.begin(c, x, end, ip)
			return x.c, unsafe.Pointer(&x.c.instrs[0])
		}
	}
	if m.thrown.depth == n {
		if m.thrown.recovered {
			m.thrown.forget()
			return c, ip
		}
		if next := m.catching(c); next >= 0 {
			return m.throw(next)
		}
		m.tell()
	}
	if fr := m.stack[n-1].fr; fr.listed() {
		fr.calls(&end.escape)
		m.endDefers(fr)
	}
	return c, ip
}

// listed reports whether the engine has listed deferred calls of a call, or has noted a
// panic of it.
func (fr *frame) listed() bool { return fr != nil && (fr._defer != nil || fr._panic != nil) }

// endDefers makes the deferred calls that the engine has listed for the call at the top. If
// this still panics, it ends.
func (m *machine) endDefers(fr *frame) {
	u := fr.unwinder()
	m.runListed(u)
	if v, panics := u.Panicking(); panics {
		m.ended = fr
		panic(v)
	}
}

// begin begins the last deferred call.
func (m *machine) begin(c *code, x *deferred, end *call, ret unsafe.Pointer) {
	base, skipped := m.base+c.size, 0
	if x.d.inner != nil { // it uses the registers of the call at the top
		base, skipped = m.base, c.size
	}
	m.push(x.c, base, ret, end)
	m.forget(len(m.records) - 1) // x stays as it is
	if x.d.keepsNothing() {
		return
	}
	r, p := m.registers()
	kr, kp := m.kept(x.at)
	n := len(x.d.args)
	if x.d.invoked != nil {
		s, k := &x.c.entry[0], x.d.kept[n].reg
		e := eface{kp[k], kp[k+1]}
		s.unbox(r, p, *(*any)(unsafe.Pointer(&e)))
		skipped = width(s.class)
	}
	for i := range x.d.kept[:n] {
		to := x.d.kept[i]
		to.reg += skipped
		x.d.kept[i].copyTo(&to, kr, kp, r, p)
	}
	for i, v := range x.env {
		x.c.entry[n+i].unbox(r, p, v)
	}
}

// compiled makes the last deferred call, of a compiled function. It reports false if the
// engine has to.
func (m *machine) compiled(x *deferred, end *call) bool {
	kr, kp := m.kept(x.at)
	n := x.d.native
	if n.atOnce != nil && n.atOnce(kp[x.d.kept[0].reg]) {
		m.forget(len(m.records) - 1)
		return true
	}
	if m.at(&end.escape).deferid != 0 { // functions of cells that it calls look for this frame
		return false
	}
	m.forget(len(m.records) - 1) // before it panics; it records nothing in this machine
	n.invoke(n.fn, &m.regs, kr, kp, x.d.kept, x.d.results)
	return true
}

// keepMore makes memory for the values of records. What was kept there before is kept until
// the machine ends, as in its registers.
func (m *machine) keepMore() {
	if n := len(m.keptNumbers); m.keep > n {
		m.keptNumbers = append(m.keptNumbers, make([]uint64, m.keep)...)
		m.keptPointers = append(m.keptPointers, make([]unsafe.Pointer, m.keep)...)
	}
	m.keptHigh = m.keep
}

// forget removes the records from one on.
func (m *machine) forget(first int) {
	m.keep = m.records[first].at
	m.records = m.records[:first]
}

// clean forgets the values of records when the machine ends.
func (m *machine) clean() {
	if m.keptHigh == 0 {
		return
	}
	if m.keptHigh > keptSize {
		m.records, m.keptNumbers, m.keptPointers = nil, nil, nil
	}
	clear(m.records[:cap(m.records)])
	clear(m.keptPointers)
	m.keptHigh = 0
}

// list makes the last records entries of the engine's list, if they are of call n.
func (m *machine) list(n int) {
	first := len(m.records)
	for first > 0 && m.records[first-1].depth == n+1 {
		first--
	}
	if first == len(m.records) {
		return
	}
	fr := m.link(n)
	fr.fill()
	m.lend(n)
	for i := range m.records[first:] {
		x := &m.records[first+i]
		if !x.d.keepsNothing() {
			r, p := m.kept(x.at)
			for k := range x.d.kept {
				if s := &x.d.kept[k]; s.at >= 0 {
					s.box(r, p, fr.stack)
				}
			}
		}
		m.stack[n].c.engine[x.d.escape.at]((*ixgo.Frame)(unsafe.Pointer(fr)))
	}
	m.forget(first)
}

// runListed makes the deferred calls that the engine has listed for the call at the top.
// They find its captured variables in memory.
func (m *machine) runListed(u unwinder) {
	m.lend(len(m.stack) - 1)
	defer m.takeBack() // also if runtime.Goexit ends the goroutine
	u.RunDeferred()
}

// lend puts the captured variables of call n into memory.
func (m *machine) lend(n int) {
	a := &m.stack[n]
	if len(a.c.captured) == 0 {
		return
	}
	fr := m.link(n)
	fr.fill()
	r, p := m.registersAt(a.base)
	for i := range a.c.captured {
		v := &a.c.captured[i]
		to := (*eface)(unsafe.Pointer(&fr.stack[v.at]))
		if to.data == nil {
			*to = eface{v.address, unsafeNew(v.typ)}
		}
		v.write(to.data, r, p, v.reg, nil, -1)
	}
}

// takeBack loads the captured variables of the call at the top into its registers.
func (m *machine) takeBack() {
	a := &m.stack[len(m.stack)-1]
	r, p := m.registersAt(a.base)
	for i := range a.c.captured {
		v := &a.c.captured[i]
		if from := (*eface)(unsafe.Pointer(&a.fr.stack[v.at])).data; from != nil {
			v.read(from, r, p, v.reg, nil, -1)
			a.fr.stack[v.at] = nil
		}
	}
}

// List makes all records entries of the engine's lists, which the debugger reads.
func (m *machine) List(*ixgo.Frame) {
	for len(m.records) > 0 {
		m.list(m.records[len(m.records)-1].depth - 1)
	}
}
