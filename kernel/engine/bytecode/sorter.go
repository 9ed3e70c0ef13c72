package bytecode

import (
	"go/token"
	"reflect"
	"sort"
	"unsafe"

	"golang.org/x/tools/go/ssa"
)

// sorter has the methods of a value of cells that is sorted, or that is a heap.
type sorter struct {
	typ                        unsafe.Pointer // of the value
	len, less, swap, push, pop callback

	order    *ordering // what Less does, nil if it does more
	compares *compared // likewise, of the value

	elem      unsafe.Pointer // the type of elements that Swap swaps, nil if it does more
	size      uint64         // of an element
	of, spare unsafe.Pointer // the slice, and memory for an element
}

func (s *sorter) Len() int   { s.len.call(0, 0, nil); return int(s.len.number) }
func (s *sorter) Push(x any) { s.push.call(0, 0, x) }
func (s *sorter) Pop() any   { s.pop.call(0, 0, nil); return s.pop.fr.stack[0] }

// Less compares elements itself where the method does only that.
func (s *sorter) Less(i, j int) bool {
	if s.compares != nil && s.compares.slice != nil {
		if before, ok := s.compares.beforeAt(i, j, s.less.c.flag); ok {
			return before
		}
	}
	s.less.call(uint64(i), uint64(j), nil)
	return s.less.number != 0
}

// Swap swaps elements itself where the method does only that.
func (s *sorter) Swap(i, j int) {
	if s.elem == nil {
		s.swap.call(uint64(i), uint64(j), nil)
		return
	}
	h := (*sliceHeader)(s.of)
	if uint64(i) >= h.len || uint64(j) >= h.len { // it panics
		s.swap.call(uint64(i), uint64(j), nil)
		return
	}
	if s.spare == nil {
		s.spare = unsafeNew(s.elem)
	}
	x, y := unsafe.Add(h.data, uint64(i)*s.size), unsafe.Add(h.data, uint64(j)*s.size)
	typedmemmove(s.elem, s.spare, x)
	typedmemmove(s.elem, x, y)
	typedmemmove(s.elem, y, s.spare)
}

// reversed is what sort.Reverse returns.
var reversed = typeWord(reflect.TypeOf(sort.Reverse(nil)))

// sorted is a value with the methods that package sort or heap calls, nil if the methods of
// x are not of cells.
func (c *code) sorted(e *escape, x any, by *frame) (sort.Interface, func()) {
	v := (*eface)(unsafe.Pointer(&x))
	if v.typ == reversed {
		s, put := c.sorted(e, (*struct{ sort.Interface })(v.data).Interface, by)
		if s == nil {
			return nil, nil
		}
		return sort.Reverse(s), put
	}
	if v.typ == nil || len(methodsOf(c.pfn.Interp, reflect.TypeOf(x))) == 0 {
		return nil, nil
	}
	s, _ := e.lends.Get().(*sorter)
	if s == nil || s.typ != v.typ {
		if s = c.newSorter(reflect.TypeOf(x)); s == nil {
			return nil, nil
		}
	}
	for _, b := range s.methods() {
		if b.loads && v.data == nil { // the engine's panic names the method
			return nil, nil
		}
	}
	for _, b := range s.methods() {
		b.prepare(by, nil)
		b.receive(x)
	}
	if s.of = v.data; s.order != nil {
		s.compares = s.order.of(s.less.c.pfn, nil, s.of)
	}
	return s, func() {
		for _, b := range s.methods() {
			b.drop()
		}
		s.of, s.spare, s.compares = nil, nil, nil
		e.lends.Put(s)
	}
}

func (s *sorter) methods() []*callback {
	if s.push.c == nil {
		return []*callback{&s.len, &s.less, &s.swap}
	}
	return []*callback{&s.len, &s.less, &s.swap, &s.push, &s.pop}
}

// newSorter finds the methods of a type, nil if the machine cannot execute one of them.
func (c *code) newSorter(t reflect.Type) *sorter {
	s := &sorter{typ: typeWord(t)}
	slice := t
	if t.Kind() == reflect.Pointer {
		slice = t.Elem()
	}
	if fn := methodsOf(c.pfn.Interp, slice)["Swap"]; fn != nil && slice.Kind() == reflect.Slice && c.functions[fn] != nil && swapsElements(fn, &c.functions[fn].program.host) {
		s.elem, s.size = typeWord(slice.Elem()), uint64(slice.Elem().Size())
	}
	if !c.method(&s.len, t, "Len") || !c.method(&s.less, t, "Less") || !c.method(&s.swap, t, "Swap") {
		return nil
	}
	s.order = c.functions[s.less.c.pfn.Fn].ordering()
	_, pushes := t.MethodByName("Push")
	_, pops := t.MethodByName("Pop")
	if pushes && pops && !(c.method(&s.push, t, "Push") && c.method(&s.pop, t, "Pop")) {
		return nil
	}
	return s
}

// swapsElements reports whether a method does nothing but swap two elements of the slice
// that is its receiver.
func swapsElements(fn *ssa.Function, host *Host) bool {
	// element is the parameter that numbers an element at an address, nil for other addresses.
	element := func(at ssa.Value) ssa.Value {
		if a, ok := at.(*ssa.IndexAddr); ok && len(fn.Params) == 3 && a.X == fn.Params[0] && (a.Index == fn.Params[1] || a.Index == fn.Params[2]) {
			return a.Index
		}
		return nil
	}
	loaded := func(v ssa.Value) ssa.Value {
		if load, ok := v.(*ssa.UnOp); ok && load.Op == token.MUL {
			return element(load.X)
		}
		return nil
	}
	var stores []*ssa.Store
	for _, in := range straight(fn, host) {
		fits := false
		switch in := in.(type) {
		case *ssa.Store:
			stores = append(stores, in)
			fits = true
		case *ssa.IndexAddr:
			fits = element(in) != nil
		case *ssa.UnOp:
			fits = loaded(in) != nil && len(stores) == 0
		case *ssa.Return:
			fits = true
		}
		if !fits {
			return false
		}
	}
	if len(stores) != 2 {
		return false
	}
	x, y := element(stores[0].Addr), element(stores[1].Addr)
	return x != nil && y != nil && x != y && loaded(stores[0].Val) == y && loaded(stores[1].Val) == x
}

// method finds the code of a method, and reports whether there is some.
func (c *code) method(b *callback, t reflect.Type, name string) bool {
	of := func(t reflect.Type) (*ssa.Function, *code) {
		fn := methodsOf(c.pfn.Interp, t)[name]
		return fn, c.functions[fn].forCallback()
	}
	b.method = true
	fn, code := of(t)
	if fn != nil && fn.Synthetic != "" && t.Kind() == reflect.Pointer { // it calls the method of values
		if _, direct := of(t.Elem()); direct != nil && direct.entry[0].loadable() {
			code, b.loads = direct, true
		}
	}
	b.c = code
	return code != nil && len(code.entry) > 0
}

// loadable reports whether a value is loaded from memory without a copy.
func (s *slot) loadable() bool { return s.class == number || s.class == pointer || s.class == header }

// loadFrom loads a value from memory.
func (s *slot) loadFrom(r *registers, p *pointers, at unsafe.Pointer) {
	switch s.class {
	case number:
		r[s.reg] = load(s.kind, at)
	case pointer:
		p[s.reg] = *(*unsafe.Pointer)(at)
	case header:
		h := (*sliceHeader)(at)
		if p[s.reg], r[s.reg], r[s.reg+1] = h.data, h.len, h.len; s.kind == reflect.Slice {
			r[s.reg+1] = h.cap
		}
	}
}
