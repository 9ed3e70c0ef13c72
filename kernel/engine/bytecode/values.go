package bytecode

import (
	"fmt"
	"go/types"
	"reflect"
	"unsafe"

	"golang.org/x/tools/go/ssa"
)

// values are the values of a function that is being compiled: a vreg for each value
// that a register holds, and the place of each value in the engine's frame.
type values struct {
	pfn   *function
	types map[types.Type]reflect.Type
	vregs []vreg
	vreg  map[ssa.Value]int
	entry []slot // parameters and free variables
	first int    // the first register
}

// vreg is a value before registers are assigned.
type vreg struct {
	class  class
	reg    int  // -1 until assigned
	fixed  bool // a parameter, whose register is given
	own    bool // a variable, whose register has no other value
	static bool // a constant
	number uint64
	more   uint64 // capacity of a constant slice
	ptr    unsafe.Pointer
	data   unsafe.Pointer // of a constant interface
}

// parameter loads a value from the frame into the next register.
func (x *values) parameter(v ssa.Value, at int) {
	k := classOf(v.Type())
	if k == boxed {
		return
	}
	reg := x.first
	for _, w := range x.vregs {
		if !w.own {
			reg += width(w.class)
		}
	}
	x.vreg[v] = len(x.vregs)
	x.vregs = append(x.vregs, vreg{class: k, reg: reg, fixed: true})
	x.entry = append(x.entry, slot{reg: reg, at: at, class: k, kind: kindOf(v.Type())})
}

// width is the number of registers of a class.
func width(k class) int {
	if k == header || k == dynamic {
		return 2
	}
	return 1
}

// fresh makes a vreg without a value.
func (x *values) fresh(k class) int {
	x.vregs = append(x.vregs, vreg{class: k, reg: -1})
	return len(x.vregs) - 1
}

// reg is the vreg of a value.
func (x *values) reg(v ssa.Value) int {
	if i, ok := x.vreg[v]; ok {
		return i
	}
	k := classOf(v.Type())
	if k == boxed {
		panic(fmt.Sprintf("%v is in no register", v))
	}
	i := x.fresh(k)
	x.vreg[v] = i
	if isStatic(v) {
		at, ok := x.pfn.at(v)
		if !ok {
			panic(fmt.Sprintf("the engine does not know %v", v))
		}
		var r registers2
		s := slot{class: k, kind: kindOf(v.Type())}
		s.unbox(r.numbers(), r.pointers(), x.pfn.stack[at])
		x.vregs[i].static, x.vregs[i].number, x.vregs[i].more, x.vregs[i].ptr = true, r.n[0], r.n[1], r.p[0]
	}
	return i
}

// registers2 is the space for one value.
type registers2 struct {
	n [2]uint64
	p [2]unsafe.Pointer
}

//go:nocheckptr
func (r *registers2) numbers() *registers { return (*registers)(unsafe.Pointer(&r.n)) }

//go:nocheckptr
func (r *registers2) pointers() *pointers { return (*pointers)(unsafe.Pointer(&r.p)) }

// constant is the value of a constant number.
func (x *values) constant(v ssa.Value) (int64, bool) {
	c, ok := v.(*ssa.Const)
	if !ok || c.Value == nil || classOf(c.Type()) != number || isFloat(kindOf(c.Type())) {
		return 0, false
	}
	return int64(x.vregs[x.reg(c)].number), true
}

// slot is the place of a value for the engine.
func (x *values) slot(v ssa.Value) slot {
	at, ok := x.pfn.at(v)
	t := x.types[v.Type()]
	k := classOf(v.Type())
	if ok && k == dynamic {
		return slot{reg: x.reg(v), at: at, class: k, kind: reflect.Interface}
	}
	if !ok || t == nil {
		panic(fmt.Sprintf("the engine does not know %v", v))
	}
	if want := map[class]bool{number: isNumber(t.Kind()), pointer: isPointer(t.Kind()), record: isRecord(t), header: t.Kind() == reflect.Slice || t.Kind() == reflect.String}; !want[k] {
		panic(fmt.Sprintf("%v is a %v of the engine", v, t))
	}
	return slot{reg: x.reg(v), at: at, class: k, kind: kindOf(v.Type()), typ: typeWord(t)}
}
