package bytecode

import (
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"sync/atomic"

	"golang.org/x/tools/go/ssa"
)

// call lowers a call of a function of cells, of a compiled function, or of a builtin.
// The engine executes all other calls.
func (l *lowering) call(in *ssa.Call) {
	switch fn := in.Call.Value.(type) {
	case *ssa.Builtin:
		if len(in.Call.Args) == 0 {
			break
		}
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
		if fn.Name() == "ssa:wrapnilchk" && classOf(in.Type()) == pointer { // in a method of *T that calls that of T
			l.checked(ins{op: opFieldAddr, a: l.reg(in), b: l.reg(in.Call.Args[0])}, in)
			return
		}
		if fn.Name() == "delete" && l.delete(in) || fn.Name() == "append" && l.append(in) || fn.Name() == "copy" && l.copy(in) || l.extreme(in, fn.Name()) {
			return
		}
	case *ssa.Function:
		if fn.String() == l.host.Enter || fn.Blocks == nil && l.math(in, fn) || l.receive(in, fn) || l.sorts(in, fn) || l.orders(in, fn) {
			return
		}
	}
	if l.compiled[in] != nil {
		l.direct(in, nil, nil)
		return
	}
	if fn, free, ok := l.callee(&in.Call); ok {
		l.direct(in, fn, free)
		return
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

// callee is what a call calls, if the machine can execute it: a function, with the free
// variables of a closure; if the function is nil, a function value or the method of an
// interface.
func (l *lowering) callee(call *ssa.CallCommon) (fn *ssa.Function, free []ssa.Value, ok bool) {
	if call.IsInvoke() {
		return nil, nil, inRegisters(call.Signature())
	}
	switch v := call.Value.(type) {
	case *ssa.Builtin:
		return nil, nil, false
	case *ssa.Function:
		fn = v
	case *ssa.MakeClosure:
		fn, free = v.Fn.(*ssa.Function), v.Bindings
	default:
		return nil, nil, inRegisters(call.Signature()) && l.types[v.Type()] != nil
	}
	f := l.f.program.functions[fn]
	return fn, free, f != nil && fn.Blocks != nil && fn.String() != l.host.Enter && f.callable()
}

// planClosure plans a closure that is only called: the calls pass its variables.
func (l *lowering) planClosure(in *ssa.MakeClosure) {
	if _, made := l.indexes[in]; !made { // its calls by the engine read the variables, too
		l.skip[in] = true
		return
	}
	for _, r := range *in.Referrers() {
		if _, debug := r.(*ssa.DebugRef); debug {
			continue
		}
		c, ok := r.(*ssa.Call)
		if !ok || c.Call.Value != in || slices.Contains(c.Call.Args, ssa.Value(in)) {
			return
		}
		if _, _, ok := l.callee(&c.Call); !ok {
			return
		}
	}
	l.skip[in] = true
}

// planCall assigns registers to the results of a call that the machine executes.
func (l *lowering) planCall(in *ssa.Call) {
	_, _, ok := l.callee(&in.Call)
	if !ok {
		n := l.native(&in.Call)
		if ok = n != nil; ok {
			l.compiled[in] = n
		}
	}
	results := in.Call.Signature().Results()
	if !ok || results.Len() < 2 {
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

// native is a call of a compiled function that the machine can make, nil for another call.
func (l *lowering) native(call *ssa.CallCommon) *native {
	fn, ok := call.Value.(*ssa.Function)
	if !ok || fn.Blocks != nil || call.IsInvoke() || calledBack(call) != nil || fn.Pkg == nil || fn.Pkg.Pkg.Path()+".Enter" == l.host.Enter && fn.String() != l.host.Recovered || !nativesWork() {
		return nil
	}
	at, ok := l.pfn.at(fn)
	if !ok || l.pfn.stack[at] == nil || reflect.ValueOf(l.pfn.stack[at]).Pointer() == madeByReflect { // one that looks at its caller
		return nil
	}
	t, results := reflect.TypeOf(l.pfn.stack[at]), call.Signature().Results()
	if t.Kind() != reflect.Func || t.NumIn() != len(call.Args) || t.NumOut() != results.Len() {
		return nil
	}
	n := nativeOf(l.pfn.stack[at])
	if n == nil || !fitsCall(n, call, 0) {
		return nil
	}
	n.atOnce = atOnce[fn.String()]
	return n
}

// planMethod plans the calls of compiled methods.
func (l *lowering) planMethod(in *ssa.Call) *invoking {
	v := &invoking{name: in.Call.Method.Name()}
	t := l.types[in.Call.Value.Type()]
	if t == nil || t.Kind() != reflect.Interface || !nativesWork() {
		return v
	}
	method, ok := t.MethodByName(v.name)
	if !ok || method.PkgPath != "" { // the linker keeps exported methods only
		return v
	}
	if n := nativeMethod(method.Type); n != nil && fitsCall(n, &in.Call, 1) {
		v.native, v.typ, v.index, v.replaced = n, typeWord(t), method.Index, l.host.Methods[v.name]
	}
	return v
}

// fitsCall reports whether a call passes its arguments, after the first ones, and results as
// the function does.
func fitsCall(n *native, call *ssa.CallCommon, first int) bool {
	fits := func(x *conveyed, t types.Type) bool { return x.class == classOf(t) && x.kind == kindOf(t) }
	for i, a := range call.Args {
		if !fits(&n.args[first+i], a.Type()) {
			return false
		}
	}
	for i := range n.results {
		if !fits(&n.results[i], call.Signature().Results().At(i).Type()) {
			return false
		}
	}
	return true
}

// direct lowers a call that the machine executes.
func (l *lowering) direct(in *ssa.Call, fn *ssa.Function, free []ssa.Value) {
	at, ok := l.pfn.at(in)
	if !ok {
		panic(fmt.Sprintf("the engine does not know %v", in))
	}
	cl := call{escape: l.record(in), value: -1}
	out := ins{op: opCall, imm: int64(len(l.calls))}
	switch {
	case fn != nil:
		cl.callee = l.f.program.functions[fn]
	case in.Call.IsInvoke():
		cl.value, cl.invoked = l.reg(in.Call.Value), l.planMethod(in)
		out.uses = append(out.uses, cl.value)
	case l.compiled[in] != nil:
		out.op, cl.native = opNative, l.compiled[in]
	default:
		cl.value, cl.typ, cl.last = l.reg(in.Call.Value), typeWord(l.types[in.Call.Value.Type()]), &atomic.Pointer[Function]{}
		out.uses = append(out.uses, cl.value)
	}
	next := 0
	for _, a := range slices.Concat(in.Call.Args, free) {
		s := slot{reg: l.reg(a), class: classOf(a.Type())}
		cl.args, cl.passed = append(cl.args, s), append(cl.passed, passing{class: s.class, to: uint16(next)})
		out.uses = append(out.uses, s.reg)
		next += width(s.class)
	}
	for _, b := range cl.escape.boxes {
		out.uses = append(out.uses, b.reg)
	}
	out.uses = append(out.uses, l.held...)
	results := in.Call.Signature().Results()
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
