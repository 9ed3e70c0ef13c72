package bytecode

import (
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/ssa"
)

// code is the machine code of a function. It is immutable.
type code struct {
	pfn    *function
	engine []func(*ixgo.Frame) // the engine's own instructions
	instrs []instr
	checks []int32                // by instruction: the escape for a failed check
	flag   *int32                 // the interrupt flag
	stop   func()                 // is called where the flag is set
	kill   func() <-chan struct{} // closes when waits end

	overflow   error  // the panic value of a stack overflow
	deep       func() // panics with it if the stack of the goroutine is too large
	debugged   func() bool
	size       int    // registers of a call
	entry      []slot // parameters and free variables
	escapes    []escape
	calls      []call
	deferrals  []deferral
	captured   []captured
	ends       []call // what calls deferred functions: RunDefers, and a panic, whose place -1 is the frame's
	returns    []results
	slices     []slicing
	accesses   []mapAccess
	ranges     []ranging
	appends    []appending
	selections []selecting
	sortings   []sorting
	makings    []making
	concats    [][]int // registers of strings
	assertions []asserting
	news       []unsafe.Pointer // types, as words of an interface
	math1      []func(float64) float64
	math2      []func(x, y float64) float64

	probed *probed            // nil if the function has no probes
	flags  *[1 << 16]uint8    // of probes
	held   map[ssa.Value]slot // registers of values of variables

	wrapper bool    // the function was made to call another one, so that recover may look at its caller
	unwind  uintptr // the place of the first instruction after a panic
	alone   bool    // the function defers nothing, and calls no function that the machine executes

	functions map[*ssa.Function]*Function // of the program

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

	calledBack int        // the place in the frame of what the call calls before it returns
	lends      *sync.Pool // what the call has made for that; nil for other instructions
}

// call is a call of a function that the machine may be able to execute.
type call struct {
	escape  escape                    // the call by the engine
	callee  *Function                 // nil if a value is called
	value   int                       // register of that function value or interface, -1 if there is none
	typ     unsafe.Pointer            // of the function value
	last    *atomic.Pointer[Function] // that was called, if a value is
	invoked *invoking                 // the method, if the call is through an interface, which is in register value
	native  *native                   // the compiled function that is called, nil if there is none
	args    []slot                    // in the caller; the callee has them in registers 0 and up, each in two if it is a header
	passed  []passing                 // the same arguments, without the receiver of a method of an interface
	results []slot                    // in the caller
}

// passing is the move of an argument to the callee's registers.
type passing struct {
	class    class
	from, to uint16
}

// deferral is a deferred call that the machine makes at the end of the function. A record
// keeps its values until then. The call's escape is the Defer instruction.
type deferral struct {
	call
	inner  *inner // nil for a function that does not use the registers of the call
	values []slot // in the function: arguments and free variables, and behind them the function value or interface
	kept   []slot // the same in the record, with their places in the frame; -1 if the value is in each frame
	size   int    // registers of a record
}

// inner is a deferred closure that uses registers of the call that defers it.
type inner struct {
	f    *Function
	regs []int // of its free variables, -1 for one that is passed
	once sync.Once
	code atomic.Pointer[code]
}

// captured is a variable in a register that closures capture.
type captured struct {
	part
	reg, at int            // at is the place of its address in the frame
	address unsafe.Pointer // the type of that, as the word of an interface
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
	case pointer, record:
		dp[d.reg] = p[s.reg]
	case dynamic:
		dp[d.reg], dp[d.reg+1] = p[s.reg], p[s.reg+1]
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

// selecting is a select, or a receive.
type selecting struct {
	at        escape
	cases     []operation // those that send come first
	sends     int
	numbers   []int // of the cases, and of a stop
	index, ok int   // registers; ok is -1 if it is not wanted
	waits     bool  // for a case or for a stop: it has no default case
	boxed     bool  // a value is in the frame
}

// operation is a channel operation.
type operation struct {
	channel int   // register
	value   place // received or sent, with register and place -1 if it is not wanted
	elem    part
	sends   bool
}

// sorting is a call of a function of package slices that sorts.
type sorting struct {
	at       escape
	slice    int            // registers
	less     int            // of the function that compares, -1 if there is none
	compares *compared      // in their natural order, nil if there is a function
	typ      reflect.Type   // of the slice
	word     unsafe.Pointer // the type of the function, as the word of an interface
	stable   bool
}
