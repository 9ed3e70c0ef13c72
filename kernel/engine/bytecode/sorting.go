package bytecode

import (
	"reflect"
	"sort"
	"unsafe"

	"golang.org/x/tools/go/ssa"
)

// Package slices is generic, so the machine executes its source. A sort that only compares
// elements, or the same part of them, is executed by package sort, which makes the same
// comparisons and swaps in the same order.

// sorting is a call of a function of package slices that sorts.
type sorting struct {
	at       escape
	slice    int            // registers
	less     int            // of the function that compares, -1 if there is none
	compares *compared      // in their natural order, nil if there is a function
	typ      reflect.Type   // of the slice
	word     unsafe.Pointer // the type of the function, as the word of an interface
	stable   bool
}

// isSort reports whether a function is one that the machine executes if it only compares.
func isSort(fn *ssa.Function) bool {
	if fn == nil {
		return false
	}
	switch origin(fn) {
	case "slices.Sort", "slices.SortFunc", "slices.SortStableFunc":
		return true
	}
	return false
}

// sorts lowers a call of a function that sorts, and reports whether it is one. The function
// is called if the machine cannot sort.
func (l *lowering) sorts(in *ssa.Call, fn *ssa.Function) bool {
	if !isSort(fn) {
		return false
	}
	args := in.Call.Args
	rt := l.types[args[0].Type()]
	if _, _, ok := l.callee(&in.Call); !ok || rt == nil || rt.Kind() != reflect.Slice || isStatic(args[0]) {
		return false
	}
	s := sorting{at: escape{at: l.indexes[in], block: in.Block()}, slice: l.reg(args[0]), less: -1, typ: rt}
	if len(args) == 1 {
		s.compares = (&ordering{terms: []term{{path: []step{whole}, less: lessThan(rt.Elem().Kind(), true)}}}).compared()
	} else {
		t := l.types[args[1].Type()]
		if t == nil {
			return false
		}
		s.less, s.word, s.stable = l.reg(args[1]), typeWord(t), fn.Origin().Name() == "SortStableFunc"
	}
	uses := append([]int{s.slice}, l.held...)
	if s.less >= 0 {
		uses = append(uses, s.less)
	}
	l.sortings = append(l.sortings, s)
	sorted, rest, called := l.fresh(number), &block{}, &block{}
	l.order = append(l.order, rest, called)
	l.emit(ins{op: opSort, a: sorted, imm: int64(len(l.sortings) - 1), uses: uses})
	l.emit(ins{op: opBranch, a: sorted, yes: rest, no: called})
	l.now = called
	l.direct(in, fn, nil)
	l.resume(rest)
	return true
}

// sort sorts a slice, and returns false if the function has to be called.
func (m *machine) sort(c *code, s *sorting) bool {
	r, p := m.registers()
	k := s.compares
	if k == nil {
		k = c.comparesWith(eface{s.word, p[uint16(s.less)]})
	}
	h := headerAt(r, p, uint16(s.slice))
	size := uint64(s.typ.Elem().Size())
	if k == nil || k.slice != nil || !k.reaches(h, size) {
		return false
	}
	m.at(&s.at)
	sorts := sort.Slice
	if s.stable {
		sorts = sort.SliceStable
	}
	sorts(reflect.NewAt(s.typ, unsafe.Pointer(&h)).Elem().Interface(), func(i, j int) bool {
		if raised(c.flag) {
			c.stop()
		}
		before, _ := k.before(unsafe.Add(h.data, uint64(i)*size), unsafe.Add(h.data, uint64(j)*size))
		return before
	})
	return true
}

// comparesWith is what a function value compares, nil if it does anything else.
func (c *code) comparesWith(f eface) *compared {
	if f.data == nil {
		return nil
	}
	from := c.made(*(*any)(unsafe.Pointer(&f)))
	if from == nil || c.functions[from.pfn.Fn] == nil {
		return nil
	}
	return c.functions[from.pfn.Fn].ordering().of(from.pfn, from.env, nil)
}
