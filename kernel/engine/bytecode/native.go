package bytecode

import (
	"reflect"
	"sync"
	"unsafe"
)

// A compiled function whose arguments and results all fit the registers of Go's calling
// convention is called as package reflect calls it, but without a list of values and a
// box for each argument, which takes four times as long.

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

// native is a call of a compiled function.
type native struct {
	fn            unsafe.Pointer
	args, results []conveyed
	isPtr         [(intRegs + 7) / 8]uint8
	atOnce        func(at unsafe.Pointer) bool                     // does what the function does with its argument, and reports false if that may wait or fail; else nil
	direct        func(r *registers, p *pointers, from, to []slot) // calls a function of a frequent type without reflectcall; else nil
	ints          int                                              // registers of arguments
	most          int                                              // integer registers of arguments or results
}

// conveyed is an argument or a result.
type conveyed struct {
	class   class
	kind    reflect.Kind
	typ     unsafe.Pointer // of an interface with methods, else nil
	methods bool
}

// madeByReflect is the code of functions that reflect.MakeFunc makes.
var madeByReflect = reflect.MakeFunc(reflect.TypeFor[func()](), func([]reflect.Value) []reflect.Value { return nil }).Pointer()

// nativesWork reports whether functions can be called in this way: the convention is that
// of the Go which this package knows.
var nativesWork = sync.OnceValue(func() bool {
	if intRegs == 0 {
		return false
	}
	v := any(sample)
	n := native{fn: (*eface)(unsafe.Pointer(&v)).data}
	t := reflect.TypeOf(v)
	for i := range t.NumIn() {
		n.args = append(n.args, conveyedAs(t.In(i)))
	}
	for i := range t.NumOut() {
		n.results = append(n.results, conveyedAs(t.Out(i)))
	}
	if !n.fits() {
		return false
	}
	var numbers [32]uint64
	var others [32]unsafe.Pointer
	r, p := small(&numbers, &others)
	k := int8(-3)
	numbers[0], numbers[1], others[2], numbers[3] = uint64(int64(k)), b32(1.5), unsafe.Pointer(&k), b64(2.5)
	others[4], numbers[4] = unsafe.Pointer(unsafe.StringData("text")), 4
	x := eface{typeWord(reflect.TypeFor[int8]()), unsafe.Pointer(&k)}
	others[6], others[7] = x.typ, x.data
	n.invoke(&regArgs{}, r, p, []slot{{reg: 0}, {reg: 1}, {reg: 2}, {reg: 3}, {reg: 4}, {reg: 6}}, []slot{{reg: 10}, {reg: 11}, {reg: 12}, {reg: 14}, {reg: 16}})
	return int64(numbers[10]) == -4 && f64(numbers[11]) == 4 && others[12] == x.typ && others[13] == x.data &&
		text(r, p, 14) == "ext" && others[16] == unsafe.Pointer(&k)
})

//go:nocheckptr
func small(numbers *[32]uint64, others *[32]unsafe.Pointer) (*registers, *pointers) {
	return (*registers)(unsafe.Pointer(numbers)), (*pointers)(unsafe.Pointer(others))
}

// sample is called to try.
func sample(a int8, b float32, p *int8, c float64, s string, x any) (int8, float64, any, string, *int8) {
	return a - 1, float64(b) + c, x, s[1:], p
}

// conveyedAs is how values of a type are passed; class boxed if they cannot be passed.
func conveyedAs(t reflect.Type) conveyed {
	x := conveyed{kind: t.Kind()}
	switch k := t.Kind(); {
	case isNumber(k):
		x.class = number
	case k == reflect.Pointer || k == reflect.Map || k == reflect.Chan:
		x.class = pointer
	case k == reflect.String || k == reflect.Slice:
		x.class = header
	case k == reflect.Interface:
		x.class, x.typ, x.methods = dynamic, typeWord(t), t.NumMethod() > 0
	}
	return x
}

// fits reports whether arguments and results fit the registers.
func (n *native) fits() bool {
	var used [2]struct{ ints, floats int }
	for i, list := range [][]conveyed{n.args, n.results} {
		u := &used[i]
		for _, x := range list {
			switch {
			case x.class == boxed:
				return false
			case isFloat(x.kind):
				u.floats++
			default:
				u.ints += x.words()
			}
			if u.ints > intRegs || u.floats > floatRegs {
				return false
			}
			if at := u.ints - x.words(); i == 1 && x.class != number {
				n.pointerAt(at)
				if x.class == dynamic {
					n.pointerAt(at + 1)
				}
			}
		}
	}
	n.ints, n.most = used[0].ints+used[0].floats, max(used[0].ints, used[1].ints)
	return true
}

// pointerAt notes that an integer register returns a pointer.
func (n *native) pointerAt(i int) { n.isPtr[i/8] |= 1 << (i % 8) }

// words is the number of registers of a value that is no float.
func (x *conveyed) words() int {
	switch {
	case x.kind == reflect.Slice:
		return 3
	case x.class == header || x.class == dynamic:
		return 2
	}
	return 1
}

// directly is a call of a function of a type that many functions of the library have.
func directly(f any) func(r *registers, p *pointers, from, to []slot) {
	switch f := f.(type) {
	case func(int) string:
		return func(r *registers, p *pointers, from, to []slot) { setText(r, p, to[0].reg, f(int(r[from[0].reg]))) }
	case func(string) string:
		return func(r *registers, p *pointers, from, to []slot) {
			setText(r, p, to[0].reg, f(text(r, p, uint16(from[0].reg))))
		}
	case func(*sync.Mutex):
		return ofPointer(f)
	case func(*sync.WaitGroup):
		return ofPointer(f)
	case func(any) any:
		return func(_ *registers, p *pointers, from, to []slot) {
			x := f(*(*any)(unsafe.Pointer(&eface{p[from[0].reg], p[from[0].reg+1]})))
			e := (*eface)(unsafe.Pointer(&x))
			p[to[0].reg], p[to[0].reg+1] = e.typ, e.data
		}
	case func(string, string) bool:
		return func(r *registers, p *pointers, from, to []slot) {
			r[to[0].reg] = truth(f(text(r, p, uint16(from[0].reg)), text(r, p, uint16(from[1].reg))))
		}
	}
	return nil
}

func ofPointer[T any](f func(*T)) func(r *registers, p *pointers, from, to []slot) {
	return func(_ *registers, p *pointers, from, _ []slot) { f((*T)(p[from[0].reg])) }
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
func (n *native) invoke(g *regArgs, r *registers, p *pointers, from, to []slot) {
	if n.direct != nil {
		n.direct(r, p, from, to)
		return
	}
	g.isPtr = n.isPtr
	i, f := 0, 0
	for a := range n.args {
		x, k := &n.args[a], uint16(from[a].reg)
		switch {
		case isFloat(x.kind):
			g.floats[f] = r[k]
			f++
		case x.class == number:
			g.ints[i] = uintptr(r[k])
			i++
		case x.class == dynamic:
			e := eface{p[k], p[k+1]}
			if x.methods {
				storeInterface(x.typ, unsafe.Pointer(&e), e)
			}
			g.pointer(i, e.typ)
			g.pointer(i+1, e.data)
			i += 2
		default:
			g.pointer(i, p[k])
			i++
			if x.class == header {
				g.ints[i] = uintptr(r[k])
				i++
			}
			if x.kind == reflect.Slice {
				g.ints[i] = uintptr(r[k+1])
				i++
			}
		}
	}
	reflectcall(nil, n.fn, nil, 0, 0, uint32(8*n.ints), g)
	i, f = 0, 0
	for a := range n.results {
		x, k := &n.results[a], uint16(to[a].reg)
		switch {
		case x.kind == reflect.Float32:
			r[k] = uint64(uint32(g.floats[f]))
			f++
		case x.kind == reflect.Float64:
			r[k] = g.floats[f]
			f++
		case x.class == number:
			r[k] = load(x.kind, unsafe.Pointer(&g.ints[i]))
			i++
		case x.class == dynamic:
			e := eface{g.ptrs[i], g.ptrs[i+1]}
			p[k], p[k+1] = loadInterface(unsafe.Pointer(&e), x.methods)
			i += 2
		case x.class == header:
			p[k], r[k], r[k+1] = g.ptrs[i], uint64(g.ints[i+1]), uint64(g.ints[i+1])
			if i += 2; x.kind == reflect.Slice {
				r[k+1] = uint64(g.ints[i])
				i++
			}
		default:
			p[k] = g.ptrs[i]
			i++
		}
	}
	clear(g.ptrs[:n.most])
}

// pointer passes a pointer, where collections see it too.
func (g *regArgs) pointer(i int, p unsafe.Pointer) { g.ints[i], g.ptrs[i] = uintptr(p), p }
