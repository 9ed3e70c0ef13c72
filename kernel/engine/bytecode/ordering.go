package bytecode

import (
	"cmp"
	"reflect"
	"slices"
	"unsafe"

	"golang.org/x/tools/go/ssa"
)

// ordering is what a function does that only compares the same parts of two elements: a
// sort compares the parts itself, which takes a tenth of the time of a call. The elements
// are the function's arguments, or elements of a slice whose numbers are its arguments.
type ordering struct {
	terms  []term      // the first one that differs decides
	slice  ssa.Value   // that has the elements, nil if they are arguments
	size   uint64      // of an element
	tables []ssa.Value // slices outside of the elements
}

// term is the comparison of one part.
type term struct {
	path       []step // from an element to its part
	less       func(x, y unsafe.Pointer) bool
	descending bool
}

// step is an offset in memory: in an element, and from the second step of a path on, in
// the memory to which the pointer or the slice at the step before points, or in an element
// of a table, whose number is at the step before.
type step struct {
	offset uintptr
	length uint64 // that the slice must have, 0 for a pointer
	table  int    // -1 for none
	kind   reflect.Kind
	size   uint64 // of an element of the table
}

// whole is the first step to a whole element.
var whole = step{table: -1}

// compared are the elements that a sort compares.
type compared struct {
	*ordering
	slice  *sliceHeader
	tables []*sliceHeader
	only   *term // if the order is that of one part, which is in the elements
}

// before reports whether one element is before another one, by their addresses; ok is
// false if the function would panic.
func (c *compared) before(x, y unsafe.Pointer) (is, ok bool) {
	if t := c.only; t != nil {
		if t.descending {
			x, y = y, x
		}
		at := t.path[0].offset
		return t.less(unsafe.Add(x, at), unsafe.Add(y, at)), true
	}
	return c.byTerms(x, y)
}

// byTerms is before for any terms.
func (c *compared) byTerms(x, y unsafe.Pointer) (is, ok bool) {
	last := len(c.terms) - 1
	for i := range c.terms[:last] {
		t := &c.terms[i]
		a, b := c.parts(t, x, y)
		if a == nil || b == nil {
			return false, false
		}
		if t.less(a, b) {
			return true, true
		}
		if t.less(b, a) {
			return false, true
		}
	}
	t := &c.terms[last]
	a, b := c.parts(t, x, y)
	if a == nil || b == nil {
		return false, false
	}
	return t.less(a, b), true
}

// parts are the addresses of the parts of two elements, the one that has to be less first.
func (c *compared) parts(t *term, x, y unsafe.Pointer) (a, b unsafe.Pointer) {
	if t.descending {
		x, y = y, x
	}
	return c.part(t, x), c.part(t, y)
}

// part is the address of the part of an element, nil if a pointer on the way is nil, or a
// slice too short.
func (c *compared) part(t *term, x unsafe.Pointer) unsafe.Pointer {
	x = unsafe.Add(x, t.path[0].offset)
	for i := 1; i < len(t.path); i++ {
		switch s := &t.path[i]; {
		case s.table >= 0:
			h, k := c.tables[s.table], load(s.kind, x)
			if k >= h.len {
				return nil
			}
			x = unsafe.Add(h.data, uintptr(k*s.size)+s.offset)
		case s.length > 0 && (*sliceHeader)(x).len < s.length:
			return nil
		default:
			if x = *(*unsafe.Pointer)(x); x == nil {
				return nil
			}
			x = unsafe.Add(x, s.offset)
		}
	}
	return x
}

// beforeAt compares elements of the slice by their numbers; ok is false if the function
// would panic or stop.
func (c *compared) beforeAt(i, j int, flag *int32) (is, ok bool) {
	h := c.slice
	if uint64(i) >= h.len || uint64(j) >= h.len || raised(flag) {
		return false, false
	}
	return c.before(unsafe.Add(h.data, uint64(i)*c.size), unsafe.Add(h.data, uint64(j)*c.size))
}

// reaches reports whether all elements of a slice have the parts.
func (c *compared) reaches(h sliceHeader, size uint64) bool {
	for k := range c.terms {
		t := &c.terms[k]
		for i := uint64(0); len(t.path) > 1 && i < h.len; i++ {
			if c.part(t, unsafe.Add(h.data, i*size)) == nil {
				return false
			}
		}
	}
	return true
}

// of finds the slices of a function with these free variables and this receiver. It is nil
// if there is no order, or if the receiver is a nil pointer.
func (o *ordering) of(pfn *function, env []any, receiver unsafe.Pointer) *compared {
	if o == nil {
		return nil
	}
	c := o.compared()
	if o.slice != nil {
		if c.slice = headerOf(o.slice, pfn, env, receiver); c.slice == nil {
			return nil
		}
	}
	for _, v := range o.tables {
		h := headerOf(v, pfn, env, receiver)
		if h == nil {
			return nil
		}
		c.tables = append(c.tables, h)
	}
	return c
}

// compared is without the slices.
func (o *ordering) compared() *compared {
	c := &compared{ordering: o}
	if len(o.terms) == 1 && len(o.terms[0].path) == 1 {
		c.only = &o.terms[0]
	}
	return c
}

// headerOf is the memory of a slice: of the receiver, or of a variable outside of the
// function.
func headerOf(v ssa.Value, pfn *function, env []any, receiver unsafe.Pointer) *sliceHeader {
	if load, ok := v.(*ssa.UnOp); ok {
		var at any
		switch x := load.X.(type) {
		case *ssa.FreeVar:
			at = env[slices.Index(pfn.Fn.FreeVars, x)]
			return (*sliceHeader)((*eface)(unsafe.Pointer(&at)).data)
		case *ssa.Global:
			at = pfn.stack[pfn.index[x]&0xffffff]
			return (*sliceHeader)((*eface)(unsafe.Pointer(&at)).data)
		}
	}
	return (*sliceHeader)(receiver)
}

// lessThan compares two numbers or strings by their addresses, with NaN before all other
// numbers if there is a total order; nil for other kinds.
func lessThan(k reflect.Kind, total bool) func(x, y unsafe.Pointer) bool {
	switch k {
	case reflect.Int8:
		return less[int8]
	case reflect.Int16:
		return less[int16]
	case reflect.Int32:
		return less[int32]
	case reflect.Int, reflect.Int64:
		return less[int64]
	case reflect.Uint8:
		return less[uint8]
	case reflect.Uint16:
		return less[uint16]
	case reflect.Uint32:
		return less[uint32]
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		return less[uint64]
	case reflect.String:
		return less[string]
	case reflect.Float32:
		if total {
			return totalLess[float32]
		}
		return less[float32]
	case reflect.Float64:
		if total {
			return totalLess[float64]
		}
		return less[float64]
	}
	return nil
}

func less[T cmp.Ordered](x, y unsafe.Pointer) bool { return *(*T)(x) < *(*T)(y) }

func totalLess[T cmp.Ordered](x, y unsafe.Pointer) bool { return cmp.Less(*(*T)(x), *(*T)(y)) }
