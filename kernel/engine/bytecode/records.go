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
		m.escape(c, &d.escape)
	}
}

// record records a deferred call, and reports false if the engine has to make it.
func (m *machine) record(c *code, d *deferral) bool {
	x := deferred{d: d, depth: len(m.stack), at: m.keep}
	if d.native == nil {
		f := d.callee
		if d.invoked != nil {
			f = d.invoked.method(c, m.pointers[m.base+d.value])
		} else if d.value >= 0 {
			f, x.env = m.target(c, &d.call)
		}
		if f != nil {
			x.c = f.ready()
		}
		if x.c == nil {
			return false
		}
	}
	if m.keep += d.size + 1; m.keep > m.keptHigh { // at least one register, which exists
		m.keepMore()
	}
	r, p := m.registers()
	kr, kp := m.kept(x.at)
	for i := range d.values {
		d.values[i].copyTo(&d.kept[i], r, p, kr, kp)
	}
	m.records = append(m.records, x)
	return true
}

// kept are the values of a record.
//
//go:nocheckptr
func (m *machine) kept(at int) (*registers, *pointers) {
	return (*registers)(unsafe.Pointer(&m.keptNumbers[at])), (*pointers)(unsafe.Pointer(&m.keptPointers[at]))
}

// runDefers makes the deferred calls of the call at the top, the last one first. It returns
// the code of a function that has begun, after which the instruction before ip is executed
// again, and nil if none is left.
func (m *machine) runDefers(c *code, end *call, ip unsafe.Pointer) *code {
	n := len(m.stack)
	for last := len(m.records) - 1; last >= 0 && m.records[last].depth == n; last = len(m.records) - 1 {
		x := m.records[last]
		switch {
		case n >= maxDepth || m.base+c.size > maxSize, x.c == nil && !m.compiled(&x, end):
			m.list(n - 1)
		case x.c != nil:
			m.begin(c, &x, end, unsafe.Add(ip, -int(unsafe.Sizeof(instr{}))))
			return x.c
		}
	}
	if fr := m.stack[n-1].fr; fr != nil && (fr._defer != nil || fr._panic != nil) {
		fr.calls(&end.escape)
		m.endDefers(fr)
	}
	return nil
}

// endDefers makes the deferred calls that the engine has listed for the call at the top. If
// this still panics, it ends.
func (m *machine) endDefers(fr *frame) {
	u := fr.unwinder()
	u.RunDeferred()
	if v, panics := u.Panicking(); panics {
		m.ended = fr
		panic(v)
	}
}

// begin begins the last deferred call.
func (m *machine) begin(c *code, x *deferred, end *call, ret unsafe.Pointer) {
	m.push(activation{c: x.c, base: m.base + c.size, ret: ret, to: end})
	r, p := m.registers()
	kr, kp := m.kept(x.at)
	skipped, n := 0, len(x.d.args)
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
	m.forget(len(m.records) - 1)
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
	for i := range m.records[first:] {
		x := &m.records[first+i]
		r, p := m.kept(x.at)
		for k := range x.d.kept {
			if s := &x.d.kept[k]; s.at >= 0 {
				s.box(r, p, fr.stack)
			}
		}
		m.stack[n].c.engine[x.d.escape.at]((*ixgo.Frame)(unsafe.Pointer(fr)))
	}
	m.forget(first)
}

// List makes all records entries of the engine's lists, which the debugger reads.
func (m *machine) List(*ixgo.Frame) {
	for len(m.records) > 0 {
		m.list(m.records[len(m.records)-1].depth - 1)
	}
}
