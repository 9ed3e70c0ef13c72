package bytecode

import (
	"slices"
	"sync/atomic"

	"golang.org/x/tools/go/ssa"
)

// deferred lowers a deferred call. The machine makes those of functions of cells, and of
// compiled functions that it can call. The engine makes any other one, and with it all that
// the same call of this function defers.
func (l *lowering) deferred(in *ssa.Defer) {
	fn, free, ok := l.callee(&in.Call)
	if fn != nil && fn.String() == l.host.Enter { // it does nothing
		return
	}
	d := deferral{call: call{value: -1}}
	if !ok {
		d.native = l.native(&in.Call)
	}
	if !ok && d.native == nil || in.DeferStack != nil {
		l.byEngine(in)
		return
	}
	d.escape = l.record(in)
	free = d.shares(l, fn, free)
	values := slices.Concat(in.Call.Args, free)
	for _, v := range values {
		d.keep(l, v)
	}
	switch {
	case d.native != nil:
		for _, x := range d.native.results {
			s := slot{reg: d.size, class: x.class}
			d.results, d.size = append(d.results, s), d.size+width(x.class)
		}
	case fn != nil:
		d.callee = l.f.program.functions[fn]
	case in.Call.IsInvoke():
		d.value, d.invoked = l.reg(in.Call.Value), &invoking{name: in.Call.Method.Name()}
		d.keep(l, in.Call.Value)
	default:
		d.value, d.typ, d.last = l.reg(in.Call.Value), typeWord(l.types[in.Call.Value.Type()]), &atomic.Pointer[Function]{}
		d.keep(l, in.Call.Value)
	}
	d.args = d.values[:len(values)]
	out := ins{op: opDefer, imm: int64(len(l.deferrals)), uses: slices.Clone(l.held)}
	for _, s := range slices.Concat(d.values, d.escape.boxes) {
		out.uses = append(out.uses, s.reg)
	}
	l.deferrals = append(l.deferrals, d)
	l.emit(out)
}

// shares notes which free variables of a closure are in registers. It returns the others.
func (d *deferral) shares(l *lowering, fn *ssa.Function, free []ssa.Value) (passed []ssa.Value) {
	regs := make([]int, len(free))
	for i, v := range free {
		if reg, ok := l.variables[v]; ok {
			regs[i] = reg
		} else {
			regs[i], passed = -1, append(passed, v)
		}
	}
	if len(passed) < len(free) {
		d.inner = &inner{f: l.f.program.functions[fn], regs: regs}
	}
	return passed
}

// keep adds a value to the record.
func (d *deferral) keep(l *lowering, v ssa.Value) {
	k := slot{at: -1, class: classOf(v.Type())}
	if !isStatic(v) {
		k = l.slot(v)
	}
	k.reg = d.size
	d.values, d.kept = append(d.values, slot{reg: l.reg(v), class: k.class}), append(d.kept, k)
	d.size += width(k.class)
}

// panics lowers panic. One that package ssa has made, for a misused range function, is the
// engine's.
func (l *lowering) panics(in *ssa.Panic) {
	if !in.Pos().IsValid() {
		l.byEngine(in)
		return
	}
	l.emit(ins{op: opPanic, a: l.reg(in.X), imm: int64(l.escape(in)), uses: slices.Clone(l.held)})
}

// unwinds lowers the begin of the block after a panic, which makes the deferred calls.
func (l *lowering) unwinds() {
	l.ends = append(l.ends, call{escape: escape{at: -1}, value: -1})
	l.emit(ins{op: opRunDefers, imm: int64(len(l.ends) - 1)})
}

// runDefers lowers the end of a function that defers calls.
func (l *lowering) runDefers(in *ssa.RunDefers) {
	l.ends = append(l.ends, call{escape: l.record(in), value: -1})
	l.emit(ins{op: opRunDefers, imm: int64(len(l.ends) - 1), uses: slices.Clone(l.held)})
}
