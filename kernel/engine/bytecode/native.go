package bytecode

import (
	"reflect"
	"sync"
	"unsafe"
)

// A compiled function whose arguments and results all fit the registers of Go's calling
// convention is called as package reflect calls it, but without a list of values and a
// box for each argument, which takes four times as long. Most functions have no floats and
// few results: they are called as functions of seven integers, without reflectcall, which
// takes 45 of the 55 ns of a call.

//go:linkname reflectcall runtime.reflectcall
//go:noescape
func reflectcall(argsType, fn, args unsafe.Pointer, argsSize, retOffset, frameSize uint32, regs *regArgs)

// regArgs is RegArgs of package internal/abi.
type regArgs struct {
	ints   [intRegs]uintptr
	floats [floatRegs]uint64
	ptrs   [intRegs]unsafe.Pointer
	isPtr  [(intRegs + 7) / 8]uint8 // which integer registers return pointers
}

// take is a pointer that a function has returned. The machine does not keep it.
func (g *regArgs) take(i int) unsafe.Pointer {
	p := g.ptrs[i]
	g.ptrs[i] = nil
	return p
}

// native is a call of a compiled function.
type native struct {
	fn            unsafe.Pointer // a function value; nil for a method, which is looked up
	args, results []conveyed
	isPtr         [(intRegs + 7) / 8]uint8
	atOnce        func(at unsafe.Pointer) bool                                 // does what the function does with its argument, and reports false if that may wait or fail; else nil
	call          func(fn unsafe.Pointer, args *[intRegs]uintptr, to *regArgs) // nil if reflectcall is needed
	size          uint32                                                       // of the arguments
}

// conveyed is an argument or a result.
type conveyed struct {
	class   class
	kind    reflect.Kind
	typ     unsafe.Pointer // of an interface with methods or of a record, else nil
	methods bool
	words   []word // as in memory
}

// word is what one register passes.
type word struct {
	kind   reflect.Kind // of a number, or a pointer
	offset uintptr
}

// shapes call functions of seven integers, by the registers of their results: i is an
// integer, p a pointer and f a float. Functions with fewer arguments ignore the others, and
// the machine's registers keep the pointers among them alive.
var shapes = map[string]func(fn unsafe.Pointer, x *[intRegs]uintptr, to *regArgs){
	"": func(fn unsafe.Pointer, x *[intRegs]uintptr, _ *regArgs) {
		(*(*func(_, _, _, _, _, _, _ uintptr))(unsafe.Pointer(&fn)))(x[0], x[1], x[2], x[3], x[4], x[5], x[6])
	},
	"i": func(fn unsafe.Pointer, x *[intRegs]uintptr, to *regArgs) {
		to.ints[0] = (*(*func(_, _, _, _, _, _, _ uintptr) uintptr)(unsafe.Pointer(&fn)))(x[0], x[1], x[2], x[3], x[4], x[5], x[6])
	},
	"f": func(fn unsafe.Pointer, x *[intRegs]uintptr, to *regArgs) {
		to.floats[0] = b64((*(*func(_, _, _, _, _, _, _ uintptr) float64)(unsafe.Pointer(&fn)))(x[0], x[1], x[2], x[3], x[4], x[5], x[6]))
	},
	"p": func(fn unsafe.Pointer, x *[intRegs]uintptr, to *regArgs) {
		to.ptrs[0] = (*(*func(_, _, _, _, _, _, _ uintptr) unsafe.Pointer)(unsafe.Pointer(&fn)))(x[0], x[1], x[2], x[3], x[4], x[5], x[6])
	},
	"ii": func(fn unsafe.Pointer, x *[intRegs]uintptr, to *regArgs) {
		to.ints[0], to.ints[1] = (*(*func(_, _, _, _, _, _, _ uintptr) (_, _ uintptr))(unsafe.Pointer(&fn)))(x[0], x[1], x[2], x[3], x[4], x[5], x[6])
	},
	"pi": func(fn unsafe.Pointer, x *[intRegs]uintptr, to *regArgs) {
		to.ptrs[0], to.ints[1] = (*(*func(_, _, _, _, _, _, _ uintptr) (unsafe.Pointer, uintptr))(unsafe.Pointer(&fn)))(x[0], x[1], x[2], x[3], x[4], x[5], x[6])
	},
	"pp": func(fn unsafe.Pointer, x *[intRegs]uintptr, to *regArgs) {
		to.ptrs[0], to.ptrs[1] = (*(*func(_, _, _, _, _, _, _ uintptr) (_, _ unsafe.Pointer))(unsafe.Pointer(&fn)))(x[0], x[1], x[2], x[3], x[4], x[5], x[6])
	},
	"iip": func(fn unsafe.Pointer, x *[intRegs]uintptr, to *regArgs) {
		to.ints[0], to.ints[1], to.ptrs[2] = (*(*func(_, _, _, _, _, _, _ uintptr) (_, _ uintptr, _ unsafe.Pointer))(unsafe.Pointer(&fn)))(x[0], x[1], x[2], x[3], x[4], x[5], x[6])
	},
	"ipp": func(fn unsafe.Pointer, x *[intRegs]uintptr, to *regArgs) {
		to.ints[0], to.ptrs[1], to.ptrs[2] = (*(*func(_, _, _, _, _, _, _ uintptr) (_ uintptr, _, _ unsafe.Pointer))(unsafe.Pointer(&fn)))(x[0], x[1], x[2], x[3], x[4], x[5], x[6])
	},
	"pii": func(fn unsafe.Pointer, x *[intRegs]uintptr, to *regArgs) {
		to.ptrs[0], to.ints[1], to.ints[2] = (*(*func(_, _, _, _, _, _, _ uintptr) (_ unsafe.Pointer, _, _ uintptr))(unsafe.Pointer(&fn)))(x[0], x[1], x[2], x[3], x[4], x[5], x[6])
	},
	"ppi": func(fn unsafe.Pointer, x *[intRegs]uintptr, to *regArgs) {
		to.ptrs[0], to.ptrs[1], to.ints[2] = (*(*func(_, _, _, _, _, _, _ uintptr) (_, _ unsafe.Pointer, _ uintptr))(unsafe.Pointer(&fn)))(x[0], x[1], x[2], x[3], x[4], x[5], x[6])
	},
	"ppp": func(fn unsafe.Pointer, x *[intRegs]uintptr, to *regArgs) {
		to.ptrs[0], to.ptrs[1], to.ptrs[2] = (*(*func(_, _, _, _, _, _, _ uintptr) (_, _, _ unsafe.Pointer))(unsafe.Pointer(&fn)))(x[0], x[1], x[2], x[3], x[4], x[5], x[6])
	},
	"ppf": func(fn unsafe.Pointer, x *[intRegs]uintptr, to *regArgs) {
		var f float64
		f, to.ptrs[0], to.ptrs[1] = (*(*func(_, _, _, _, _, _, _ uintptr) (_ float64, _, _ unsafe.Pointer))(unsafe.Pointer(&fn)))(x[0], x[1], x[2], x[3], x[4], x[5], x[6])
		to.floats[0] = b64(f)
	},
	"iipp": func(fn unsafe.Pointer, x *[intRegs]uintptr, to *regArgs) {
		to.ints[0], to.ints[1], to.ptrs[2], to.ptrs[3] = (*(*func(_, _, _, _, _, _, _ uintptr) (_, _ uintptr, _, _ unsafe.Pointer))(unsafe.Pointer(&fn)))(x[0], x[1], x[2], x[3], x[4], x[5], x[6])
	},
	"pipp": func(fn unsafe.Pointer, x *[intRegs]uintptr, to *regArgs) {
		to.ptrs[0], to.ints[1], to.ptrs[2], to.ptrs[3] = (*(*func(_, _, _, _, _, _, _ uintptr) (_ unsafe.Pointer, _ uintptr, _, _ unsafe.Pointer))(unsafe.Pointer(&fn)))(x[0], x[1], x[2], x[3], x[4], x[5], x[6])
	},
	"pipii": func(fn unsafe.Pointer, x *[intRegs]uintptr, to *regArgs) {
		to.ptrs[0], to.ints[1], to.ptrs[2], to.ints[3], to.ints[4] = (*(*func(_, _, _, _, _, _, _ uintptr) (_ unsafe.Pointer, _ uintptr, _ unsafe.Pointer, _, _ uintptr))(unsafe.Pointer(&fn)))(x[0], x[1], x[2], x[3], x[4], x[5], x[6])
	},
	"piipp": func(fn unsafe.Pointer, x *[intRegs]uintptr, to *regArgs) {
		to.ptrs[0], to.ints[1], to.ints[2], to.ptrs[3], to.ptrs[4] = (*(*func(_, _, _, _, _, _, _ uintptr) (_ unsafe.Pointer, _, _ uintptr, _, _ unsafe.Pointer))(unsafe.Pointer(&fn)))(x[0], x[1], x[2], x[3], x[4], x[5], x[6])
	},
}

// most is how many integers these functions have.
const most = 7

// madeByReflect is the code of all functions that package reflect makes: some of the
// engine's look at the frame that calls them.
var madeByReflect = reflect.MakeFunc(reflect.TypeFor[func()](), func([]reflect.Value) []reflect.Value { return nil }).Pointer()

// nativesWork reports whether functions can be called in these ways: the convention is that
// of the Go which this package knows.
var nativesWork = sync.OnceValue(func() bool {
	if !hasRegisters {
		return false
	}
	var numbers [32]uint64
	var others [32]unsafe.Pointer
	r, p := small(&numbers, &others)
	k := int8(-3)
	numbers[0], numbers[1], others[2], numbers[3] = uint64(int64(k)), b32(1.5), unsafe.Pointer(&k), b64(2.5)
	others[4], numbers[4] = unsafe.Pointer(unsafe.StringData("text")), 4
	x := eface{typeWord(reflect.TypeFor[int8]()), unsafe.Pointer(&k)}
	others[6], others[7], others[8] = x.typ, x.data, unsafe.Pointer(&sampled{3, 4.5, &k, "abc"})
	n := nativeOf(sample)
	n.invoke(n.fn, &regArgs{}, r, p, []slot{{reg: 0}, {reg: 1}, {reg: 2}, {reg: 3}, {reg: 4}, {reg: 6}}, []slot{{reg: 10}, {reg: 11}, {reg: 12}, {reg: 14}, {reg: 16}})
	works := n.call == nil && int64(numbers[10]) == -4 && f64(numbers[11]) == 4 && others[12] == x.typ && others[13] == x.data &&
		text(r, p, 14) == "ext" && others[16] == unsafe.Pointer(&k)
	n = nativeOf(sampleOfIntegers)
	n.invoke(n.fn, &regArgs{}, r, p, []slot{{reg: 0}, {reg: 4}, {reg: 6}}, []slot{{reg: 10}, {reg: 11}, {reg: 13}})
	works = works && n.call != nil && text(r, p, 10) == "ext" && numbers[11] == 1<<64-4 && others[13] == x.typ && others[14] == x.data
	n = nativeOf(sampleOfStruct)
	n.invoke(n.fn, &regArgs{}, r, p, []slot{{reg: 8}}, []slot{{reg: 10}})
	works = works && *(*sampled)(others[10]) == sampled{4, 9, &k, "bc"}
	x.data = unsafe.Pointer(&sampled{s: "ab"})
	method := eface{data: x.data}
	storeInterface(typeWord(reflect.TypeFor[sampler]()), unsafe.Pointer(&method), eface{typeWord(reflect.TypeFor[*sampled]()), x.data})
	n, others[8] = nativeMethod(reflect.TypeFor[sampler]().Method(1).Type), x.data
	n.invoke(methodAt(method.typ, 1), &regArgs{}, r, p, []slot{{reg: 8}, {reg: 4}}, []slot{{reg: 10}})
	return works && text(r, p, 10) == "ab"+sampleOfMethod.second("text")
})

//go:nocheckptr
func small(numbers *[32]uint64, others *[32]unsafe.Pointer) (*registers, *pointers) {
	return (*registers)(unsafe.Pointer(numbers)), (*pointers)(unsafe.Pointer(others))
}

// These functions are called to try.

func sample(a int8, b float32, p *int8, c float64, s string, x any) (int8, float64, any, string, *int8) {
	return a - 1, float64(b) + c, x, s[1:], p
}

func sampleOfIntegers(a int8, s string, x any) (string, int8, any) { return s[1:], a - 1, x }

type sampled struct {
	a int16
	f float32
	p *int8
	s string
}

type sampler interface {
	first() int
	second(string) string
}

// sampleOfMethod is called, so that the linker keeps the method.
var sampleOfMethod sampler = &sampled{}

func (x *sampled) first() int { return int(x.a) }

func (x *sampled) second(s string) string { return x.s + s }

func sampleOfStruct(x sampled) sampled { return sampled{x.a + 1, 2 * x.f, x.p, x.s[1:]} }

// nativeOf is the call of a compiled function, nil if its arguments and results do not fit
// the registers.
func nativeOf(f any) *native {
	return (&native{fn: (*eface)(unsafe.Pointer(&f)).data}).of(reflect.TypeOf(f))
}

// nativeMethod is likewise the call of a method through an interface, with the data of the
// interface as its first argument.
func nativeMethod(t reflect.Type) *native {
	return (&native{args: []conveyed{conveyedAs(reflect.TypeFor[*byte]())}}).of(t)
}

// of plans the call of a function of a type.
func (n *native) of(t reflect.Type) *native {
	for i := range t.NumIn() {
		n.args = append(n.args, conveyedAs(t.In(i)))
	}
	for i := range t.NumOut() {
		n.results = append(n.results, conveyedAs(t.Out(i)))
	}
	if !n.fits() {
		return nil
	}
	return n
}

// conveyedAs is how values of a type are passed; class boxed if they cannot be passed.
func conveyedAs(t reflect.Type) conveyed {
	x := conveyed{kind: t.Kind()}
	switch k := t.Kind(); {
	case isNumber(k):
		x.class = number
	case isPointer(k):
		x.class = pointer
	case k == reflect.String || k == reflect.Slice:
		x.class = header
	case k == reflect.Interface:
		x.class, x.typ, x.methods = dynamic, typeWord(t), t.NumMethod() > 0
	case isRecord(t):
		x.class, x.typ = record, typeWord(t)
	default:
		return x
	}
	var ok bool
	if x.words, ok = wordsOf(t, 0, nil); !ok {
		x.class = boxed
	}
	return x
}

// wordsOf appends the words of a value; ok is false if it is passed in memory.
func wordsOf(t reflect.Type, at uintptr, list []word) (_ []word, ok bool) {
	switch k := t.Kind(); {
	case isNumber(k):
		return append(list, word{k, at}), true
	case isPointer(k) || k == reflect.UnsafePointer:
		return append(list, word{reflect.Pointer, at}), true
	case k == reflect.Interface:
		return append(list, word{reflect.Pointer, at}, word{reflect.Pointer, at + 8}), true
	case k == reflect.String:
		return append(list, word{reflect.Pointer, at}, word{reflect.Int, at + 8}), true
	case k == reflect.Slice:
		return append(list, word{reflect.Pointer, at}, word{reflect.Int, at + 8}, word{reflect.Int, at + 16}), true
	case k == reflect.Array && t.Len() == 0:
		return list, true
	case k == reflect.Array && t.Len() == 1:
		return wordsOf(t.Elem(), at, list)
	case k == reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if list, ok = wordsOf(f.Type, at+f.Offset, list); !ok {
				return nil, false
			}
		}
		return list, true
	}
	return nil, false
}

// fits reports whether arguments and results fit the registers, and plans the call.
func (n *native) fits() bool {
	ints, floats, ok := registersOf(n.args)
	_, more, ok2 := registersOf(n.results)
	if !ok || !ok2 {
		return false
	}
	n.size = uint32(8 * (ints + floats))
	shape, at := "", 0
	for _, x := range n.results {
		for _, w := range x.words {
			switch {
			case isFloat(w.kind):
				continue
			case w.kind == reflect.Pointer:
				n.isPtr[at/8] |= 1 << (at % 8)
				shape += "p"
			default:
				shape += "i"
			}
			at++
		}
	}
	for range more {
		shape += "f"
	}
	if floats == 0 && ints <= most && !n.narrow() {
		n.call = shapes[shape]
	}
	return true
}

// narrow reports whether a result is a float of 32 bits.
func (n *native) narrow() bool {
	for _, x := range n.results {
		for _, w := range x.words {
			if w.kind == reflect.Float32 {
				return true
			}
		}
	}
	return false
}

// registersOf counts the registers of arguments or of results; ok is false if there are not
// enough.
func registersOf(list []conveyed) (ints, floats int, ok bool) {
	for _, x := range list {
		if x.class == boxed {
			return 0, 0, false
		}
		for _, w := range x.words {
			if isFloat(w.kind) {
				floats++
			} else {
				ints++
			}
		}
	}
	return ints, floats, ints <= intRegs && floats <= floatRegs
}

// methodAt is a function value: a place in the table of an interface.
func methodAt(table unsafe.Pointer, i int) unsafe.Pointer {
	return unsafe.Add(table, methodsOfTable+8*i)
}

// methodsOfTable is the offset of the methods in ITab of package internal/abi.
const methodsOfTable = 24

// method is the method of a value of a type, nil if the engine has to call it.
func (v *invoking) method(c *code, typ unsafe.Pointer) *Function {
	if f, ok := v.met.find(typ); ok {
		return f
	}
	if typ == nil {
		return nil
	}
	f := c.functions[methodsOf(c.pfn.Interp, typeOf(typ))[v.name]]
	if f != nil && (len(f.fn.Params) == 0 || !f.callable()) {
		f = nil
	}
	v.met.add(typ, f)
	return f
}

// atOnce are functions that mostly take no time. They need no frame then, which takes longer
// than the call.
var atOnce = map[string]func(at unsafe.Pointer) bool{
	"(*sync.Mutex).Lock":      onLock(func(m *sync.Mutex) bool { return m.TryLock() }),
	"(*sync.RWMutex).Lock":    onLock(func(m *sync.RWMutex) bool { return m.TryLock() }),
	"(*sync.RWMutex).RLock":   onLock(func(m *sync.RWMutex) bool { return m.TryRLock() }),
	"(*sync.Mutex).Unlock":    onLock(func(m *sync.Mutex) bool { return unlock(m, m) }),
	"(*sync.RWMutex).Unlock":  onLock(func(m *sync.RWMutex) bool { return unlock(m, reading{m}) }),
	"(*sync.RWMutex).RUnlock": onLock(func(m *sync.RWMutex) bool { return unlock(reading{m}, m) }),
}

// onLock is a function of a lock. It reports false if there is none.
func onLock[T any](f func(*T) bool) func(at unsafe.Pointer) bool {
	return func(at unsafe.Pointer) bool { return at != nil && f((*T)(at)) }
}

// locker is a lock that can be tried.
type locker interface {
	sync.Locker
	TryLock() bool
}

// reading is the lock of readers.
type reading struct{ *sync.RWMutex }

func (r reading) TryLock() bool { return r.TryRLock() }
func (r reading) Unlock()       { r.RUnlock() }

// unlock unlocks a lock, and reports false if other is free, which it excludes: then it is
// not locked.
func unlock(m, other locker) bool {
	if other.TryLock() {
		other.Unlock()
		return false
	}
	m.Unlock()
	return true
}

// invoke calls the function with arguments in registers of the machine.
func (n *native) invoke(fn unsafe.Pointer, g *regArgs, r *registers, p *pointers, from, to []slot) {
	i, f := 0, 0
	for a := range n.args {
		x, k := &n.args[a], uint16(from[a].reg)
		switch x.class {
		case number:
			if isFloat(x.kind) {
				g.floats[f] = r[k]
				f++
			} else {
				g.ints[i] = uintptr(r[k])
				i++
			}
		case pointer:
			g.ints[i] = uintptr(p[k])
			i++
		case header:
			g.ints[i], g.ints[i+1] = uintptr(p[k]), uintptr(r[k])
			if i += 2; x.kind == reflect.Slice {
				g.ints[i] = uintptr(r[k+1])
				i++
			}
		case dynamic:
			e := eface{p[k], p[k+1]}
			if x.methods {
				storeInterface(x.typ, unsafe.Pointer(&e), e)
			}
			g.ints[i], g.ints[i+1] = uintptr(e.typ), uintptr(e.data)
			i += 2
		case record:
			for _, w := range x.words {
				if v := load(w.kind, unsafe.Add(p[k], w.offset)); isFloat(w.kind) {
					g.floats[f] = v
					f++
				} else {
					g.ints[i] = uintptr(v)
					i++
				}
			}
		}
	}
	if n.call != nil {
		n.call(fn, &g.ints, g)
	} else {
		g.isPtr = n.isPtr
		reflectcall(nil, fn, nil, 0, 0, n.size, g)
	}
	i, f = 0, 0
	for a := range n.results {
		x, k := &n.results[a], uint16(to[a].reg)
		switch x.class {
		case number:
			switch x.kind {
			case reflect.Float32:
				r[k] = uint64(uint32(g.floats[f]))
				f++
			case reflect.Float64:
				r[k] = g.floats[f]
				f++
			default:
				r[k] = load(x.kind, unsafe.Pointer(&g.ints[i]))
				i++
			}
		case pointer:
			p[k] = g.take(i)
			i++
		case header:
			p[k], r[k], r[k+1] = g.take(i), uint64(g.ints[i+1]), uint64(g.ints[i+1])
			if i += 2; x.kind == reflect.Slice {
				r[k+1] = uint64(g.ints[i])
				i++
			}
		case dynamic:
			e := eface{g.take(i), g.take(i + 1)}
			p[k], p[k+1] = loadInterface(unsafe.Pointer(&e), x.methods)
			i += 2
		case record:
			p[k] = unsafeNew(x.typ)
			for _, w := range x.words {
				switch at := unsafe.Add(p[k], w.offset); {
				case isFloat(w.kind):
					store(w.kind, at, g.floats[f])
					f++
				case w.kind == reflect.Pointer:
					*(*unsafe.Pointer)(at) = g.take(i)
					i++
				default:
					store(w.kind, at, uint64(g.ints[i]))
					i++
				}
			}
		}
	}
}
