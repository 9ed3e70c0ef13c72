package bytecode

import (
	"slices"
	"unsafe"

	"github.com/goplus/ixgo"
)

// machine executes the calls of one goroutine, from a call by the engine to its return.
// Its memory is reused.
type machine struct {
	numbers  []uint64
	pointers []unsafe.Pointer
	base     int // of the registers of the call at the top
	stack    []activation
	high     int    // pointers from here on are nil
	spare    *frame // of a call that has returned, for the next one
	by       *frame // that has called compiled code, which calls the function at the bottom; nil if the engine calls it

	called, returned bool // compiled code calls it, and a number that it returned is in word

	buffer                // of a channel operation that need not wait; its word also takes a result
	cases   []runtimeCase // of a select
	buffers []buffer      // of its cases
	order   []uint16      // in which the runtime looks at them
	regs    regArgs       // of a call of a compiled function
	maps    mapSpace      // of accesses of maps

	thrown         thrown     // a panic that the engine does not know
	records        []deferred // of deferred calls
	keptNumbers    []uint64   // their values
	keptPointers   []unsafe.Pointer
	ended          *frame // of a call that has made its deferred calls and still panics
	keep, keptHigh int    // where the next values begin, and where all that were kept end
}

// activation is a call that has not returned.
type activation struct {
	c    *code
	base int
	ret  unsafe.Pointer // the caller's next instruction
	to   *call          // the caller's call
	fr   *frame         // of the engine, nil until it is needed
}

// Limits of the depth and the memory of a machine. A deeper recursion is a runaway
// recursion.
const (
	maxDepth = 250000
	maxSize  = 1 << 24 // registers
	keptSize = 1 << 16
)

//go:nocheckptr
func (m *machine) registers() (*registers, *pointers) { return m.registersAt(m.base) }

//go:nocheckptr
func (m *machine) registersAt(base int) (*registers, *pointers) {
	return (*registers)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(m.numbers)), 8*base)), (*pointers)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(m.pointers)), 8*base))
}

func (m *machine) depth() int { return len(m.stack) }

// enter executes a call that the engine has begun.
func enter(c *code, fr *frame) {
	m, _ := c.machines.Get().(*machine)
	if m == nil { // with the size that this call needs: a recursion through the engine has many machines
		m = &machine{numbers: make([]uint64, c.size+1), pointers: make([]unsafe.Pointer, c.size+1)}
	}
	m.base = 0
	m.push(c, 0, nil, nil).fr = fr
	fr.callee = nil // it may be left over from an earlier call
	m.owns(fr, c)
	r, p := m.registers()
	for i := range c.entry {
		c.entry[i].unbox(r, p, fr.stack[c.entry[i].at])
	}
	for i := range c.captured { // another call may have had this frame
		fr.stack[c.captured[i].at] = nil
	}
	m.finish(c)
	m.stack = m.stack[:0]
	if fr.recorder != nil {
		fr.recorder = nil
	}
	if len(m.numbers) > keptSize {
		return
	}
	clear(m.pointers[:m.high])
	m.high, m.maps = 0, mapSpace{}
	m.clean()
	c.machines.Put(m)
}

// push begins a call whose registers begin at base.
func (m *machine) push(c *code, base int, ret unsafe.Pointer, to *call) *activation {
	end := base + c.size + 1 // a register that exists even if the call has none
	if end > len(m.numbers) {
		m.grow(end)
	}
	m.high = max(m.high, end)
	m.base = base
	at := base + c.constAt // most functions have few constants, so a call of copy takes longer
	for i, x := range c.numbers {
		m.numbers[at+i] = x
	}
	for i, x := range c.pointers {
		m.pointers[at+i] = x
	}
	a := next(&m.stack)
	a.c, a.base, a.ret, a.to, a.fr = c, base, ret, to, nil
	return a
}

// next adds an element to a list, which the caller sets: a copy of one that was made just
// before waits for it.
func next[T any](list *[]T) *T {
	n := len(*list)
	if n == cap(*list) {
		*list = slices.Grow(*list, 1)
	}
	*list = (*list)[:n+1]
	return &(*list)[n]
}

func (m *machine) grow(size int) {
	size = max(size, 2*len(m.numbers))
	numbers, pointers := make([]uint64, size), make([]unsafe.Pointer, size)
	copy(numbers, m.numbers)
	copy(pointers, m.pointers)
	m.numbers, m.pointers = numbers, pointers
}

// call begins a call, or has the engine execute it. It returns where the machine goes on.
func (m *machine) call(c *code, cl *call, ret unsafe.Pointer) (*code, unsafe.Pointer) {
	f, env := cl.callee, []any(nil)
	if cl.invoked != nil {
		f = cl.invoked.method(c, m.pointers[m.base+cl.value])
	} else if cl.value >= 0 {
		f, env = m.target(c, cl)
	}
	var callee *code
	if f != nil {
		callee = f.ready()
	}
	if callee == nil {
		if cl.invoked == nil || f != nil || !m.method(cl) {
			m.engineCall(c, cl)
		}
		return c, ret
	}
	if len(m.stack) >= maxDepth || m.base+c.size > maxSize {
		m.link(len(m.stack) - 1)
		panic(c.overflow)
	}
	m.push(callee, m.base+c.size, ret, cl)
	r, p := m.registers()
	from, fp := m.registersAt(m.base - c.size)
	skipped := uint16(0)
	if cl.invoked != nil {
		s := &callee.entry[0]
		e := eface{fp[cl.value], fp[cl.value+1]}
		s.unbox(r, p, *(*any)(unsafe.Pointer(&e)))
		skipped = uint16(width(s.class))
	}
	for i := range cl.passed {
		s := &cl.passed[i]
		k := s.to + skipped
		switch s.class {
		case number:
			r[k] = from[s.from]
		case pointer, record:
			p[k] = fp[s.from]
		case dynamic:
			p[k], p[k+1] = fp[s.from], fp[s.from+1]
		case header:
			p[k], r[k], r[k+1] = fp[s.from], from[s.from], from[s.from+1]
		}
	}
	for i, v := range env {
		callee.entry[len(cl.args)+i].unbox(r, p, v)
	}
	return callee, unsafe.Pointer(&callee.instrs[0])
}

// engineCall has the engine execute a call.
func (m *machine) engineCall(c *code, cl *call) {
	m.escape(c, &cl.escape)
	if len(cl.results) < 2 {
		return
	}
	r, p := m.registers()
	values := m.frame().stack[cl.escape.result.at].(ixgo.Tuple)
	for i := range cl.results {
		cl.results[i].unbox(r, p, values[i])
	}
}

// native calls a compiled function.
func (m *machine) native(c *code, cl *call) {
	r, p := m.registers()
	if n := cl.native; n.atOnce != nil && n.atOnce(p[uint16(cl.args[0].reg)]) {
		return
	}
	if m.at(&cl.escape).deferid != 0 { // functions of cells that it calls look for this frame
		m.engineCall(c, cl)
		return
	}
	cl.native.invoke(cl.native.fn, &m.regs, r, p, cl.args, cl.results)
}

// method calls a compiled method through an interface, and returns false if the engine has
// to call it.
func (m *machine) method(cl *call) bool {
	r, p := m.registers()
	typ := p[cl.value]
	if typ == nil {
		return false
	}
	fn := cl.invoked.function(typ)
	if fn == nil || m.at(&cl.escape).deferid != 0 {
		return false
	}
	cl.invoked.native.invoke(fn, &m.regs, r, p, cl.invoked.args, cl.results)
	return true
}

// pop ends a call and returns the caller's code, its next instruction and the place of
// the results.
func (m *machine) pop() (*code, unsafe.Pointer, *call) {
	n := len(m.stack) - 1
	top, caller := &m.stack[n], &m.stack[n-1]
	if top.fr != nil {
		caller.fr.callee = nil
		if top.fr.stack == nil && top.fr.recorder == nil && top.fr._panic == nil {
			m.spare = top.fr // nothing refers to it
		}
		top.fr = nil
	}
	m.stack = m.stack[:n]
	m.base = caller.base
	return caller.c, top.ret, top.to
}

// giveBack ends the call that the engine began.
func (m *machine) giveBack(c *code, list *results) {
	fr := m.stack[0].fr
	r, p := m.registers()
	for i := range list.values {
		if list.kept[i] {
			fr.stack[i] = fr.stack[list.values[i].at]
		} else {
			s := list.values[i]
			s.at = i
			s.box(r, p, fr.stack)
		}
	}
	fr.ipc = -1
}

// frame is the engine's frame of the call at the top, linked to the frames of its
// callers, with values.
func (m *machine) frame() *frame {
	fr := m.link(len(m.stack) - 1)
	fr.fill()
	return fr
}

// fill gives a frame values.
func (fr *frame) fill() {
	if fr.stack == nil {
		fr.stack = append([]any(nil), fr.pfn.stack...)
	}
}

// link is likewise the frame of call n. It has values only if it has been needed with them.
func (m *machine) link(n int) *frame {
	if m.thrown.depth != 0 && n >= m.thrown.depth-1 {
		m.tell()
	}
	first := n
	for m.stack[first].fr == nil {
		first--
	}
	for i := first + 1; i <= n; i++ {
		a, caller := &m.stack[i], m.stack[i-1].fr
		caller.calls(&a.to.escape)
		if a.fr = m.spare; a.fr == nil {
			a.fr = new(frame)
		}
		m.spare = nil
		*a.fr = frame{interp: caller.interp, caller: caller, pfn: a.c.pfn, block: a.c.pfn.Main, deferid: caller.deferid}
		caller.callee = a.fr
		m.owns(a.fr, a.c)
	}
	return m.stack[n].fr
}

// stackFor is the frame's stack that an access uses, nil if it does not need the frame.
func (m *machine) stackFor(t *mapType) []any {
	if t.key.class == boxed || t.elem.class == boxed {
		return m.frame().stack
	}
	return nil
}

// stackForPart is likewise for an append.
func (m *machine) stackForPart(t *part) []any {
	if t.class == boxed && t.rt != nil {
		return m.frame().stack
	}
	return nil
}

// leave executes an operation of the engine's values or of its stack.
func (m *machine) leave(c *code, in *instr) {
	switch in.op {
	case opEngine:
		m.escape(c, &c.escapes[in.imm])
	case opCallBack:
		m.callBack(c, &c.escapes[in.imm])
	case opNative:
		m.native(c, &c.calls[in.imm])
	case opDeferByEngine:
		m.list(len(m.stack) - 1)
		m.escape(c, &c.escapes[in.imm])
	case opSort:
		sorted := truth(m.sort(c, &c.sortings[in.imm]))
		r, _ := m.registers()
		r[in.a] = sorted
	case opMake:
		r, p := m.registers()
		r[in.a] = truth(c.makings[in.imm].make(r, p))
	case opConcat:
		r, p := m.registers()
		setText(r, p, int(in.a), concat(r, p, c.concats[in.imm]))
	case opStop:
		m.stop(c, &c.escapes[in.imm])
	case opMoveBox:
		stack := m.frame().stack
		stack[in.a] = stack[in.b]
	default:
		panic("bytecode: invalid operation")
	}
}

// escape makes the engine execute an instruction.
func (m *machine) escape(c *code, e *escape) {
	m.execute(c, e, m.boxed(e))
}

// boxed is the frame of the call at the top, at an escape, with the operands that are in
// registers.
func (m *machine) boxed(e *escape) *frame {
	fr := m.frame()
	fr.calls(e)
	r, p := m.registers()
	for i := range e.boxes {
		e.boxes[i].box(r, p, fr.stack)
	}
	return fr
}

// at is the frame of the call at the top, at an escape, perhaps without values.
func (m *machine) at(e *escape) *frame {
	fr := m.link(len(m.stack) - 1)
	fr.calls(e)
	return fr
}

// calls notes the escape that a frame executes.
func (fr *frame) calls(e *escape) {
	if e.at >= 0 { // else it stays where it has panicked
		fr.ipc, fr.block = e.at+1, e.block
	}
}

// execute executes an escape.
func (m *machine) execute(c *code, e *escape, fr *frame) {
	c.engine[e.at]((*ixgo.Frame)(unsafe.Pointer(fr)))
	r, p := m.registers()
	if e.result.class != boxed {
		e.result.unbox(r, p, fr.stack[e.result.at])
	}
}

// stop is called when the interrupt flag is set, before a block.
func (m *machine) stop(c *code, e *escape) {
	m.at(e)
	c.stop()
}

// fail makes the engine execute the instruction before ip, whose check failed. It does
// not return.
func (m *machine) fail(c *code, ip unsafe.Pointer) {
	at := (uintptr(ip)-uintptr(unsafe.Pointer(&c.instrs[0])))/unsafe.Sizeof(instr{}) - 1
	m.escape(c, &c.escapes[c.checks[at]])
	panic("bytecode: a check failed that the engine does not make")
}

// check makes the instruction before ip fail unless a condition holds.
func (m *machine) check(c *code, ip unsafe.Pointer, holds bool) {
	if !holds {
		m.fail(c, ip)
	}
}
