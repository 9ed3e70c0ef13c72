package bytecode

import (
	"reflect"
	"unsafe"

	"github.com/visualfc/funcval"
)

// Package sort calls a function of a cell many times, before it returns and on the same
// goroutine. The engine makes such a function by reflection; here the call gets a
// compiled function that enters the machine.

// target is the function that a function value calls, with the values of its free
// variables; nil if the engine has to call it.
func (m *machine) target(c *code, cl *call) (f *Function, env []any) {
	_, p := m.registers()
	e := eface{typ: cl.typ, data: p[cl.value]}
	if e.data == nil {
		return nil, nil
	}
	v, made := funcval.Get(*(*any)(unsafe.Pointer(&e)))
	if made != 1 {
		return nil, nil
	}
	from := (*funcValue)(unsafe.Pointer(v))
	if from.interp != c.pfn.Interp {
		return nil, nil
	}
	if f = cl.last.Load(); f == nil || f.pfn != from.pfn {
		if f = c.functions[from.pfn.Fn]; f == nil || !f.callable() {
			return nil, nil
		}
		cl.last.Store(f)
	}
	return f, from.env
}

// funcValue is a function value made by the engine, as ixgo's makeFuncVal.
type funcValue struct {
	funcval.FuncVal
	interp unsafe.Pointer
	pfn    *function
	typ    reflect.Type
	env    []any
}

// callback is a function value that compiled code calls.
type callback struct {
	c    *code
	from *funcValue
	by   *frame // that makes the call of the compiled code
	fr   *frame
	m    *machine // nil while it runs
}

// callBack has the engine execute a call with its functions replaced.
func (m *machine) callBack(c *code, e *escape) {
	by := m.boxed(e)
	stack := by.stack
	for _, at := range e.callbacks {
		f := stack[at]
		if g := compiled(c, f, by); g != nil {
			stack[at] = g
			defer func() { stack[at] = f }()
		}
	}
	m.execute(c, e, by)
}

// compiled is a compiled function that behaves like a function value, nil if there is
// none.
func compiled(c *code, f any, by *frame) any {
	v, made := funcval.Get(f)
	if made != 1 {
		return nil
	}
	from := (*funcValue)(unsafe.Pointer(v))
	if from.interp != c.pfn.Interp {
		return nil
	}
	target := c.functions[from.pfn.Fn]
	if target == nil {
		return nil
	}
	code := target.now()
	if code == nil || !code.plain {
		return nil
	}
	b := &callback{c: code, from: from, by: by}
	switch f.(type) {
	case func(int, int) bool:
		return func(i, j int) bool { return b.call(uint64(i), uint64(j)) }
	case func(int) bool:
		return func(i int) bool { return b.call(uint64(i), 0) }
	}
	return nil
}

// call enters the function with one or two numbers, and returns a boolean.
func (b *callback) call(i, j uint64) bool {
	m, fr := b.m, b.fr
	b.m = nil
	if m == nil { // the first call, or one while another runs
		c := b.c
		c.deep()
		m = &machine{numbers: make([]uint64, c.size+1), pointers: make([]unsafe.Pointer, c.size+1), by: b.by}
		fr = &frame{interp: b.from.interp, caller: &frame{}, pfn: c.pfn, block: c.pfn.Main, stack: append([]any(nil), c.pfn.stack...)}
		copy(fr.stack[c.pfn.nres+c.pfn.narg:], b.from.env)
		m.owns(fr, c.probed)
		fr.caller.callee = fr
	}
	m.base, m.stack, fr.ipc, fr.callee = 0, m.stack[:0], 0, nil
	m.push(activation{c: b.c, fr: fr})
	r, p := m.registers()
	values := [2]uint64{i, j}
	for k := range b.c.entry {
		s := &b.c.entry[k]
		if n := s.at - b.c.pfn.nres; n < b.c.pfn.narg {
			r[s.reg] = values[n]
		} else {
			s.unbox(r, p, fr.stack[s.at])
		}
	}
	m.run(b.c)
	result, _ := fr.stack[0].(bool)
	b.m, b.fr = m, fr
	return result
}
