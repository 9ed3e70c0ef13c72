package bytecode

import (
	"sync"

	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/ssa"
)

var supported = sync.OnceValue(check)

// Install makes this package execute the functions of an interpreter from their first
// call. It is called before the interpreter runs.
func Install(in *ixgo.Interp, host Host) error {
	switch err := supported(); err {
	case nil:
	case errMachine: // the engine executes all functions
		return nil
	default:
		return err
	}
	var p *program
	for fn, pfn := range functions(in) {
		var marks *probed
		if host.Probes != nil && len(pfn.Instrs) > 0 {
			if marks = probesOf(fn, host.Probes); marks != nil {
				pfn.stack = append(pfn.stack, marks)
			}
		}
		repeating := repeats(fn)
		once := fn.Name() == host.Cell || fn.Name() == "init"
		if len(fn.Blocks) == 0 || len(pfn.Instrs) == 0 || once && !repeating {
			continue
		}
		if p == nil { // most cells have no such function
			p = &program{compile: compile, host: host, types: reflectTypes(in), functions: map[*ssa.Function]*Function{}}
		}
		f := &Function{program: p, fn: fn, pfn: pfn, engine: pfn.Instrs[0], probed: marks}
		if !host.Eager && !repeating {
			f.after = callsBefore
		}
		p.functions[fn] = f
		pfn.Instrs[0] = f.begin
	}
	return nil
}

// begin replaces the first instruction of the engine's code.
func (f *Function) begin(fr *ixgo.Frame) {
	c := f.code.Load()
	if c == nil {
		if c = f.ready(); c == nil {
			f.engine(fr)
			return
		}
	}
	enter(c, asFrame(fr))
}
