package bytecode

import (
	"go/types"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/ssa"
)

// program holds the data that the functions of an interpreter share.
type program struct {
	compile   func(f *Function) (*code, error)
	host      Host
	types     map[types.Type]reflect.Type
	functions map[*ssa.Function]*Function
}

// Host describes the engine that cells run in.
type Host struct {
	FlagName  string   // the name of the interrupt flag, an int32, in the code of cells: "package.Name"
	Enter     string   // the name of a function that does nothing
	KillName  string   // the name of the function that returns the channel of stops
	RecvNames []string // the names of the generic functions that receive a value
	Cell      string   // the function that holds a cell's statements, without its package

	Flag     *int32                                    // the interrupt flag
	Polls    func(fn *ssa.Function) bool               // whether a function polls the flag although its code does not
	Kill     func() <-chan struct{}                    // the channel that closes when waits end
	Stop     func()                                    // is called where such a function finds the flag set
	Overflow error                                     // the panic value of a runaway recursion
	Deep     func()                                    // panics with it if the stack of this goroutine is too large
	Eager    bool                                      // functions are compiled at their first call, even if they repeat nothing
	Is       func(dynamic, asserted reflect.Type) bool // whether a value passes a type assertion; nil: the engine executes all of them
	Probes   *Probes                                   // nil if no cell has them
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
}

// callsBefore is how often a function that repeats nothing is called before it is compiled:
// compiling takes as long as some calls.
const callsBefore = 4

// repeats reports whether one call of a function executes code many times: it has a
// backward jump, or package sort calls a function for it.
func repeats(fn *ssa.Function) bool {
	for _, b := range fn.Blocks {
		for _, s := range b.Succs {
			if s.Index <= b.Index {
				return true
			}
		}
		for _, in := range b.Instrs {
			if c, ok := in.(*ssa.Call); ok && len(callbacks(c)) > 0 {
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
		if c, err := f.program.compile(f); err == nil {
			f.code.Store(c)
		}
	})
	return f.code.Load()
}

// callbacks are the operands of a call of package sort that are replaced.
func callbacks(in *ssa.Call) (list []ssa.Value) {
	fn, ok := in.Call.Value.(*ssa.Function)
	if !ok || fn.Blocks != nil || fn.Pkg == nil || fn.Pkg.Pkg.Path() != "sort" {
		return nil
	}
	for _, a := range in.Call.Args {
		if s := a.Type().String(); s == "func(i int, j int) bool" || s == "func(int) bool" || s == "func(i int) bool" || s == "func(int, int) bool" {
			list = append(list, a)
		}
	}
	return list
}
