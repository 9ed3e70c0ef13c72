package bytecode

import (
	"sync"
	"unsafe"

	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/ssa"
)

// code is the machine code of a function. It is immutable.
type code struct {
	pfn    *function
	engine []func(*ixgo.Frame) // the engine's own instructions
	instrs []instr
	checks []int32 // by instruction: the escape for a failed check
	flag   *int32  // the interrupt flag
	stop   func()  // is called where the flag is set

	overflow error  // the panic value of a stack overflow
	size     int    // registers of a call
	entry    []slot // parameters and free variables
	escapes  []escape
	calls    []call
	returns  []results
	slices   []slicing
	math1    []func(float64) float64
	math2    []func(x, y float64) float64

	functions map[*ssa.Function]*Function // of the program
	plain     bool                        // the engine executes none of its instructions, except stops and failed checks

	machines sync.Pool // that have executed it

	constAt  int // the first register of the constants, which are the last ones
	numbers  []uint64
	pointers []unsafe.Pointer
}

// escape is an instruction that the engine executes.
type escape struct {
	at     int // its index in the engine's code
	block  *ssa.BasicBlock
	boxes  []slot // operands that are in registers
	result slot   // class boxed if it stays in the frame

	callbacks []int // places in the frame of functions that the call calls before it returns
}

// call is a call of a function that the machine may be able to execute.
type call struct {
	escape  escape // the call by the engine
	callee  *Function
	args    []slot // in the caller; the callee has them in registers 0 and up, each in two if it is a header
	params  []uint16
	results []slot // in the caller
}

// results are the return values of a function.
type results struct {
	values []slot
	kept   []bool // the value is in the frame's stack
}

// slicing is x[lo:hi:max] of a slice, a string or an array.
type slicing struct {
	lo, hi, max int // registers, -1 if absent
	size        uint64
	length      uint64 // of an array
	array, text bool
}

// copyTo copies a value between registers of two calls.
func (s *slot) copyTo(d *slot, r *registers, p *pointers, dr *registers, dp *pointers) {
	switch s.class {
	case number:
		dr[d.reg] = r[s.reg]
	case pointer:
		dp[d.reg] = p[s.reg]
	case header:
		dp[d.reg], dr[d.reg], dr[d.reg+1] = p[s.reg], r[s.reg], r[s.reg+1]
	}
}

// slice returns false if a bound is out of range.
func (s *slicing) slice(r *registers, p *pointers, a, b uint16) bool {
	data, length, limit := p[b], r[b], r[b+1]
	switch {
	case s.array:
		if data == nil {
			return false
		}
		length, limit = s.length, s.length
	case s.text:
		limit = length
	}
	lo, hi, top := uint64(0), length, limit
	if s.lo >= 0 {
		lo = r[s.lo]
	}
	if s.hi >= 0 {
		hi = r[s.hi]
	}
	if s.max >= 0 {
		top = r[s.max]
	}
	if top > limit || hi > top || lo > hi {
		return false
	}
	if top > lo { // otherwise a pointer would lie after the end of the array
		data = unsafe.Add(data, lo*s.size)
	}
	p[a], r[a], r[a+1] = data, hi-lo, top-lo
	return true
}

// machine executes the calls of one goroutine, from a call by the engine to its return.
// Its memory is reused.
type machine struct {
	numbers  []uint64
	pointers []unsafe.Pointer
	base     int // of the registers of the call at the top
	stack    []activation
	high     int // pointers from here on are nil
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
	maxDepth  = 250000
	maxSize   = 1 << 24 // registers
	deepStack = 10000   // older callers get values in their frames only when these are needed
	keptSize  = 1 << 16
)

//go:nocheckptr
func (m *machine) registers() (*registers, *pointers) {
	return (*registers)(unsafe.Pointer(&m.numbers[m.base])), (*pointers)(unsafe.Pointer(&m.pointers[m.base]))
}

func (m *machine) depth() int { return len(m.stack) }

// enter executes a call that the engine has begun.
func enter(c *code, fr *frame) {
	m, _ := c.machines.Get().(*machine)
	if m == nil { // with the size that this call needs: a recursion through the engine has many machines
		m = &machine{numbers: make([]uint64, c.size+1), pointers: make([]unsafe.Pointer, c.size+1)}
	}
	m.base = 0
	m.push(activation{c: c, fr: fr})
	fr.callee = nil // it may be left over from an earlier call
	r, p := m.registers()
	for i := range c.entry {
		c.entry[i].unbox(r, p, fr.stack[c.entry[i].at])
	}
	m.run(c)
	m.stack = m.stack[:0]
	if len(m.numbers) > keptSize {
		return
	}
	clear(m.pointers[:m.high])
	m.high = 0
	c.machines.Put(m)
}

// push begins a call whose registers begin at a.base.
func (m *machine) push(a activation) {
	end := a.base + a.c.size + 1 // a register that exists even if the call has none
	if end > len(m.numbers) {
		m.grow(end)
	}
	m.high = max(m.high, end)
	m.stack = append(m.stack, a)
	m.base = a.base
	copy(m.numbers[a.base+a.c.constAt:], a.c.numbers)
	copy(m.pointers[a.base+a.c.constAt:], a.c.pointers)
}

func (m *machine) grow(size int) {
	size = max(size, 2*len(m.numbers))
	numbers, pointers := make([]uint64, size), make([]unsafe.Pointer, size)
	copy(numbers, m.numbers)
	copy(pointers, m.pointers)
	m.numbers, m.pointers = numbers, pointers
}

// call begins a call and returns its code, nil if the engine has executed it.
func (m *machine) call(c *code, cl *call, ret unsafe.Pointer) *code {
	callee := cl.callee.ready()
	if callee == nil {
		m.engineCall(c, cl)
		return nil
	}
	if len(m.stack) >= maxDepth || m.base+c.size > maxSize {
		m.frame()
		panic(c.overflow)
	}
	m.push(activation{c: callee, base: m.base + c.size, ret: ret, to: cl})
	r, p := m.registers()
	from := m.base - c.size
	for i := range cl.args {
		s := &cl.args[i]
		k := cl.params[i]
		switch s.class {
		case number:
			r[k] = m.numbers[from+s.reg]
		case pointer:
			p[k] = m.pointers[from+s.reg]
		case header:
			p[k], r[k], r[k+1] = m.pointers[from+s.reg], m.numbers[from+s.reg], m.numbers[from+s.reg+1]
		}
	}
	return callee
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

// pop ends a call and returns the caller's code, its next instruction and the place of
// the results.
func (m *machine) pop() (*code, unsafe.Pointer, *call) {
	n := len(m.stack) - 1
	top, caller := &m.stack[n], &m.stack[n-1]
	if top.fr != nil {
		caller.fr.callee = nil
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
// callers.
func (m *machine) frame() *frame {
	n := len(m.stack) - 1
	first := n
	for m.stack[first].fr == nil {
		first--
	}
	for i := first + 1; i <= n; i++ {
		a, caller := &m.stack[i], m.stack[i-1].fr
		caller.ipc, caller.block = a.to.escape.at+1, a.to.escape.block
		a.fr = &frame{interp: caller.interp, caller: caller, pfn: a.c.pfn, block: a.c.pfn.Main, deferid: caller.deferid}
		caller.callee = a.fr
		if n < deepStack || i == n {
			a.fr.stack = append([]any(nil), a.c.pfn.stack...)
		}
	}
	if fr := m.stack[n].fr; fr.stack == nil {
		fr.stack = append([]any(nil), fr.pfn.stack...)
	}
	return m.stack[n].fr
}

// escape makes the engine execute an instruction.
func (m *machine) escape(c *code, e *escape) {
	fr := m.frame()
	fr.ipc, fr.block = e.at+1, e.block
	r, p := m.registers()
	for i := range e.boxes {
		e.boxes[i].box(r, p, fr.stack)
	}
	c.engine[e.at]((*ixgo.Frame)(unsafe.Pointer(fr)))
	if e.result.class != boxed {
		e.result.unbox(r, p, fr.stack[e.result.at])
	}
}

// stop is called when the interrupt flag is set, before a block.
func (m *machine) stop(c *code, e *escape) {
	fr := m.frame()
	fr.ipc, fr.block = e.at+1, e.block
	c.stop()
}

// fail makes the engine execute the instruction before ip, whose check failed. It does
// not return.
func (m *machine) fail(c *code, ip unsafe.Pointer) {
	at := (uintptr(ip)-uintptr(unsafe.Pointer(&c.instrs[0])))/unsafe.Sizeof(instr{}) - 1
	m.escape(c, &c.escapes[c.checks[at]])
	panic("bytecode: a check failed that the engine does not make")
}
