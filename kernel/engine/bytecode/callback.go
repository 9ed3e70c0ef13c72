package bytecode

import (
	"reflect"
	"slices"
	"unsafe"

	"github.com/visualfc/funcval"
)

// Some compiled functions call functions or methods of cells many times, before they return
// and on the same goroutine. The engine makes such a function by reflection; here the call
// gets a compiled function, or a value with compiled methods, that enters the machine.

// target is the function that a function value calls, with the values of its free
// variables; nil if the engine has to call it.
func (m *machine) target(c *code, cl *call) (f *Function, env []any) {
	_, p := m.registers()
	e := eface{typ: cl.typ, data: p[cl.value]}
	if e.data == nil {
		return nil, nil
	}
	from := c.made(*(*any)(unsafe.Pointer(&e)))
	if from == nil {
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

// made is a function value of this interpreter; nil if x is another one.
func (c *code) made(x any) *funcValue {
	v, made := funcval.Get(x)
	if made != 1 {
		return nil
	}
	if f := (*funcValue)(unsafe.Pointer(v)); f.interp == c.pfn.Interp {
		return f
	}
	return nil
}

// funcValue is a function value made by the engine, as ixgo's makeFuncVal.
type funcValue struct {
	funcval.FuncVal
	interp unsafe.Pointer
	pfn    *function
	typ    reflect.Type
	env    []any
}

// callback is a function or a method of cells that compiled code calls.
type callback struct {
	c      *code
	env    []any          // free variables
	method bool           // it has a receiver
	recv   registers2     // the receiver
	at     unsafe.Pointer // of the receiver, if it is loaded for each call
	by     *frame         // that makes the call of the compiled code
	fr     *frame
	m      *machine // nil while it runs
	number uint64   // the result of a call, if it is a number
	loads  bool     // the receiver is loaded
}

// callBack has the engine execute a call with its functions replaced.
func (m *machine) callBack(c *code, e *escape) {
	by := m.boxed(e)
	at := e.calledBack
	was := by.stack[at]
	x, put := c.compiled(e, was, by)
	if x == nil {
		m.execute(c, e, by)
		return
	}
	by.stack[at] = x
	ended := false
	defer func() {
		if by.stack[at] = was; ended {
			by.callee = nil // a call of another goroutine may use its memory
			put()
		}
	}()
	m.execute(c, e, by)
	ended = true
}

// compiled is a compiled value that behaves like a function value, or like a value with
// methods; nil if there is none. Put allows to use its parts again.
func (c *code) compiled(e *escape, x any, by *frame) (value any, put func()) {
	if s, put := c.sorted(e, x, by); s != nil {
		return s, put
	}
	if f := reflect.ValueOf(x); f.Kind() != reflect.Func || f.IsNil() {
		return nil, nil
	}
	from := c.made(x)
	if from == nil {
		return nil, nil
	}
	code := c.functions[from.pfn.Fn].forCallback()
	if code == nil {
		return nil, nil
	}
	b, _ := e.lends.Get().(*callback)
	if b == nil || b.c != code {
		b = &callback{c: code}
	}
	b.prepare(by, from.env)
	put = func() { b.drop(); e.lends.Put(b) }
	switch x.(type) {
	case func(int, int) bool:
		less := func(i, j int) bool { b.call(uint64(i), uint64(j), nil); return b.number != 0 }
		k := c.functions[from.pfn.Fn].ordering().of(code.pfn, from.env, nil)
		if k == nil || k.slice == nil {
			return less, put
		}
		return func(i, j int) bool {
			before, ok := k.beforeAt(i, j, code.flag)
			return ok && before || !ok && less(i, j)
		}, put
	case func(int) bool:
		return func(i int) bool { b.call(uint64(i), 0, nil); return b.number != 0 }, put
	case func(int) int:
		return func(i int) int { b.call(uint64(i), 0, nil); return int(b.number) }, put
	case func(rune) bool:
		return func(r rune) bool { b.call(uint64(r), 0, nil); return b.number != 0 }, put
	case func(rune) rune:
		return func(r rune) rune { b.call(uint64(r), 0, nil); return rune(b.number) }, put
	}
	return nil, nil
}

// forCallback is the code of a function that compiled code calls, nil if the engine has to
// execute it.
func (f *Function) forCallback() *code {
	if f == nil || !f.callable() {
		return nil
	}
	return f.now()
}

// call enters the function. The numbers, or else x, are its arguments.
func (b *callback) call(i, j uint64, x any) {
	m, fr := b.m, b.fr
	b.m = nil
	if m == nil { // the first call, or one while another runs
		m, fr = b.begin()
	}
	if len(m.stack) == 0 {
		m.push(b.c, 0, nil, nil).fr = fr
	}
	m.base, m.stack, m.returned, fr.ipc, fr.callee = 0, m.stack[:1], false, 0, nil
	if fr._panic != nil { // of an earlier call
		fr._panic = nil
	}
	if b.by.callee != fr {
		b.by.callee = fr
	}
	r, p := m.registers()
	b.arguments(r, p, i, j, x)
	m.finish(b.c)
	if m.returned {
		b.number = m.word
		fr.ipc = -1
	} else if len(fr.stack) > 0 {
		if v := fr.stack[0]; b.c.pfn.nres > 0 && v != nil && isNumber(reflect.TypeOf(v).Kind()) {
			b.number = load(reflect.TypeOf(v).Kind(), (*eface)(unsafe.Pointer(&v)).data)
		}
	}
	b.m, b.fr = m, fr
}

// arguments puts the receiver, the arguments and the free variables into registers.
func (b *callback) arguments(r *registers, p *pointers, i, j uint64, x any) {
	entry := b.c.entry
	if b.method {
		s := &entry[0]
		if b.loads {
			s.loadFrom(b.recv.numbers(), b.recv.pointers(), b.at)
		}
		switch p[s.reg] = b.recv.p[0]; s.class {
		case number:
			r[s.reg] = b.recv.n[0]
		case header:
			r[s.reg], r[s.reg+1] = b.recv.n[0], b.recv.n[1]
		}
		entry = entry[1:]
	}
	for k := range entry {
		switch s := &entry[k]; {
		case s.class == number && s.at < b.c.pfn.nres+b.c.pfn.narg:
			r[s.reg] = i
			i = j
		case s.at < b.c.pfn.nres+b.c.pfn.narg:
			s.unbox(r, p, x)
		default:
			s.unbox(r, p, b.env[s.at-b.c.pfn.nres-b.c.pfn.narg])
		}
	}
}

// receive sets the receiver of a method.
func (b *callback) receive(x any) {
	if b.loads {
		b.at = (*eface)(unsafe.Pointer(&x)).data
		return
	}
	s := b.c.entry[0]
	s.reg = 0
	s.unbox(b.recv.numbers(), b.recv.pointers(), x)
}

// prepare makes calls below a frame.
func (b *callback) prepare(by *frame, env []any) {
	b.by, b.env = by, env
	if b.m != nil {
		b.m.by = by
		b.below(b.fr)
	}
}

// begin makes what a call needs.
func (b *callback) begin() (*machine, *frame) {
	c := b.c
	c.deep()
	m := &machine{numbers: make([]uint64, c.size+1), pointers: make([]unsafe.Pointer, c.size+1), by: b.by, called: true}
	fr := &frame{interp: c.pfn.Interp, pfn: c.pfn, block: c.pfn.Main, stack: slices.Clone(c.pfn.stack)}
	m.owns(fr, c)
	b.below(fr)
	return m, fr
}

// below makes the frame of the function one below that of the caller.
func (b *callback) below(fr *frame) {
	fr.caller, fr.deferid, fr.outside = b.by, b.by.deferid, true
	copy(fr.stack[b.c.pfn.nres+b.c.pfn.narg:], b.env)
}

// drop forgets the values of the calls, whose memory the next calls use.
func (b *callback) drop() {
	b.env, b.recv, b.at, b.by = nil, registers2{}, nil, nil
	if b.m == nil {
		return
	}
	b.m.clean()
	clear(b.m.pointers[:b.m.high])
	b.m.high, b.m.by, b.m.stack, b.m.maps = 0, nil, b.m.stack[:0], mapSpace{}
	copy(b.fr.stack, b.c.pfn.stack)
	b.fr.caller, b.fr.callee = nil, nil
}
