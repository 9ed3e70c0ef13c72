package bytecode

import (
	"go/types"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/ssa"
)

// program holds the data that the functions of an interpreter share.
type program struct {
	compile   func(f *Function, within *enclosing) (*code, error)
	host      Host
	types     map[types.Type]reflect.Type
	functions map[*ssa.Function]*Function
}

// Host describes the engine that cells run in.
type Host struct {
	FlagName  string                                    // the name of the interrupt flag, an int32, in the code of cells: "package.Name"
	Enter     string                                    // the name of a function that does nothing
	KillName  string                                    // the name of the function that returns the channel of stops
	RecvNames []string                                  // the names of the generic functions that receive a value
	Methods   map[string]map[reflect.Type]reflect.Value // what calls through interfaces call in place of compiled methods, by name and receiver
	Cell      string                                    // the function that holds a cell's statements, without its package
	Recovered string                                    // the name of the function that gets what recover returns; it returns nil for nil

	Flag     *int32                                    // the interrupt flag
	Polls    func(fn *ssa.Function) bool               // whether a function polls the flag although its code does not
	Kill     func() <-chan struct{}                    // the channel that closes when waits end
	Stop     func()                                    // is called where such a function finds the flag set
	Overflow error                                     // the panic value of a runaway recursion
	Deep     func()                                    // panics with it if the stack of this goroutine is too large
	Eager    bool                                      // functions are compiled at their first call, even if they repeat nothing
	Is       func(dynamic, asserted reflect.Type) bool // whether a value passes a type assertion; nil: the engine executes all of them
	Probes   *Probes                                   // nil if no cell has them
	Debugged func() bool                               // whether a debugger is attached, which wants to know of panics
}

// Function is a function of a cell that may be compiled.
type Function struct {
	program *program
	fn      *ssa.Function
	pfn     *function
	engine  func(*ixgo.Frame) // its first instruction
	probed  *probed           // nil if it has no probes
	calls   atomic.Int32
	once    sync.Once
	code    atomic.Pointer[code] // nil until it is compiled, or if it cannot be compiled
	after   int32                // number of calls that the engine still executes

	ordered sync.Once
	order   *ordering // nil if the function does more than compare
}

// callsBefore is how often a function that repeats nothing is called before it is compiled:
// compiling takes as long as some calls.
const callsBefore = 4

// repeats reports whether one call of a function executes code many times: it has a
// backward jump, or it sorts, or a compiled function calls a function of cells for it.
func repeats(fn *ssa.Function) bool {
	for _, b := range fn.Blocks {
		for _, s := range b.Succs {
			if s.Index <= b.Index {
				return true
			}
		}
		for _, in := range b.Instrs {
			if c, ok := in.(*ssa.Call); ok && (calledBack(&c.Call) != nil || isSort(c.Call.StaticCallee())) {
				return true
			}
		}
	}
	return false
}

// ready is the code of a function, nil if the engine executes this call.
func (f *Function) ready() *code {
	if c := f.code.Load(); c != nil {
		return c
	}
	if f.after > 0 && f.calls.Add(1) <= f.after {
		return nil
	}
	return f.now()
}

// now compiles a function if necessary and returns its code, nil if it cannot be
// compiled.
func (f *Function) now() *code {
	f.once.Do(func() {
		if c, err := f.program.compile(f, nil); err == nil {
			f.code.Store(c)
		}
	})
	return f.code.Load()
}

// enclosing is what the code of a deferred closure knows of the call that defers it, in whose
// registers it begins.
type enclosing struct {
	size int   // registers of that call
	regs []int // of the free variables, -1 for one that is passed
}

// ready is the code of a closure that calls of c defer, nil if it cannot be compiled.
func (x *inner) ready(c *code) *code {
	if k := x.code.Load(); k != nil {
		return k
	}
	x.once.Do(func() {
		if k, err := x.f.program.compile(x.f, &enclosing{c.size, x.regs}); err == nil {
			x.code.Store(k)
		}
	})
	return x.code.Load()
}

// callable reports whether the machine can call a function: its arguments, free variables
// and results are in registers.
func (f *Function) callable() bool {
	if !inRegisters(f.fn.Signature) {
		return false
	}
	for _, v := range f.fn.FreeVars {
		if classOf(v.Type()) == boxed {
			return false
		}
	}
	return len(f.fn.Params) == 0 || classOf(f.fn.Params[0].Type()) != boxed // a receiver
}

// inRegisters reports whether arguments and results are in registers.
func inRegisters(sig *types.Signature) bool {
	for _, list := range []*types.Tuple{sig.Params(), sig.Results()} {
		for v := range list.Variables() {
			if classOf(v.Type()) == boxed {
				return false
			}
		}
	}
	return true
}

// callers are functions that call functions of cells before they return, on the same
// goroutine.
var callers = map[string]string{
	"sort":           "Sort Stable IsSorted Slice SliceStable SliceIsSorted Search Find",
	"container/heap": "Init Push Pop Remove Fix",
	"strings":        "Map FieldsFunc IndexFunc LastIndexFunc ContainsFunc TrimFunc TrimLeftFunc TrimRightFunc",
	"bytes":          "Map FieldsFunc IndexFunc LastIndexFunc ContainsFunc TrimFunc TrimLeftFunc TrimRightFunc",
}

// calledBack is the operand of a call that is replaced: a function, or a value whose
// methods are called.
func calledBack(call *ssa.CallCommon) ssa.Value {
	fn, ok := call.Value.(*ssa.Function)
	if !ok || fn.Blocks != nil || fn.Pkg == nil || !slices.Contains(strings.Fields(callers[fn.Pkg.Pkg.Path()]), fn.Name()) {
		return nil
	}
	for _, a := range call.Args {
		switch t := a.Type().Underlying().(type) {
		case *types.Signature:
			return a
		case *types.Interface:
			if t.NumMethods() > 0 {
				return a
			}
		}
	}
	return nil
}

// isSort reports whether a function is one that the machine executes if it only compares.
func isSort(fn *ssa.Function) bool {
	if fn == nil {
		return false
	}
	switch origin(fn) {
	case "slices.Sort", "slices.SortFunc", "slices.SortStableFunc":
		return true
	}
	return false
}

// origin is the name of the generic function that a function is an instance of, "" if it is
// none.
func origin(fn *ssa.Function) string {
	if fn.Origin() == nil {
		return ""
	}
	return fn.Origin().String()
}
