package bytecode

import (
	"fmt"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// call lowers a call of a compiled function of cells, of package math, of len or of cap.
// The engine executes all other calls.
func (l *lowering) call(in *ssa.Call) {
	switch fn := in.Call.Value.(type) {
	case *ssa.Builtin:
		if (fn.Name() == "len" || fn.Name() == "cap") && classOf(in.Call.Args[0].Type()) == header {
			o := opMovNum
			if fn.Name() == "cap" {
				o = opMovCap
			}
			l.emit(ins{op: o, a: l.reg(in), b: l.reg(in.Call.Args[0])})
			return
		}
		if _, isMap := in.Call.Args[0].Type().Underlying().(*types.Map); isMap && fn.Name() == "len" {
			l.emit(ins{op: opMapLen, a: l.reg(in), b: l.reg(in.Call.Args[0])})
			return
		}
		if fn.Name() == "delete" && l.delete(in) {
			return
		}
	case *ssa.Function:
		switch {
		case in.Call.IsInvoke():
		case fn.String() == l.host.Enter:
			return
		case fn.Blocks == nil:
			if l.math(in, fn) {
				return
			}
		case l.known(fn):
			l.direct(in, fn)
			return
		}
	}
	l.byEngine(in)
}

// math calls a function of package math, none of which panics.
func (l *lowering) math(in *ssa.Call, fn *ssa.Function) bool {
	at, ok := l.pfn.at(fn)
	if !ok || fn.Pkg == nil || fn.Pkg.Pkg.Path() != "math" {
		return false
	}
	args := in.Call.Args
	switch f := l.pfn.stack[at].(type) {
	case func(float64) float64:
		l.math1 = append(l.math1, f)
		l.emit(ins{op: opMath1, a: l.reg(in), b: l.reg(args[0]), imm: int64(len(l.math1) - 1)})
	case func(x, y float64) float64:
		l.math2 = append(l.math2, f)
		l.emit(ins{op: opMath2, a: l.reg(in), b: l.reg(args[0]), c: l.reg(args[1]), imm: int64(len(l.math2) - 1)})
	default:
		return false
	}
	return true
}

// known reports whether the machine can execute a call: the callee recovers nothing, and
// its arguments and results are in registers.
func (l *lowering) known(fn *ssa.Function) bool {
	f := l.f.program.functions[fn]
	if f == nil || fn.Recover != nil || f.pfn.Recover != nil || len(fn.FreeVars) > 0 {
		return false
	}
	for _, p := range fn.Params {
		if classOf(p.Type()) == boxed {
			return false
		}
	}
	for v := range fn.Signature.Results().Variables() {
		if classOf(v.Type()) == boxed {
			return false
		}
	}
	return true
}

// planCall assigns registers to the results of a call that the machine executes.
func (l *lowering) planCall(in *ssa.Call) {
	fn, ok := in.Call.Value.(*ssa.Function)
	if !ok || in.Call.IsInvoke() || fn.Blocks == nil || fn.String() == l.host.Enter || !l.known(fn) {
		return
	}
	results := fn.Signature.Results()
	if results.Len() < 2 {
		return
	}
	for i := range results.Len() {
		l.parts[in] = append(l.parts[in], l.fresh(classOf(results.At(i).Type())))
	}
	for _, r := range *in.Referrers() {
		x, ok := r.(*ssa.Extract)
		if !ok {
			panic("results are used together")
		}
		l.vreg[x] = l.parts[in][x.Index]
	}
}

// direct lowers a call that the machine executes.
func (l *lowering) direct(in *ssa.Call, fn *ssa.Function) {
	at, ok := l.pfn.at(in)
	if !ok {
		panic(fmt.Sprintf("the engine does not know %v", in))
	}
	l.escaped++ // the engine may have to execute it
	cl := call{escape: l.record(in), callee: l.f.program.functions[fn]}
	out := ins{op: opCall, imm: int64(len(l.calls))}
	next := 0
	for _, a := range in.Call.Args {
		s := slot{reg: l.reg(a), class: classOf(a.Type())}
		cl.args, cl.params = append(cl.args, s), append(cl.params, uint16(next))
		out.uses = append(out.uses, s.reg)
		next += width(s.class)
	}
	for _, b := range cl.escape.boxes {
		out.uses = append(out.uses, b.reg)
	}
	results := fn.Signature.Results()
	switch results.Len() {
	case 0:
	case 1:
		s := slot{reg: l.reg(in), at: at, class: classOf(in.Type()), kind: kindOf(in.Type())}
		cl.results, cl.escape.result = []slot{s}, s
	default:
		cl.escape.result = slot{at: at}
		for i := range results.Len() {
			t := results.At(i).Type()
			cl.results = append(cl.results, slot{reg: l.parts[in][i], class: classOf(t), kind: kindOf(t)})
		}
	}
	for _, s := range cl.results {
		out.defs = append(out.defs, s.reg)
	}
	l.calls = append(l.calls, cl)
	l.emit(out)
}
