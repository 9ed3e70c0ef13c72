package bytecode

import (
	"reflect"
	"sort"
	"unsafe"
)

// Package slices is generic, so the machine executes its source. A sort that only compares
// elements, or the same part of them, is executed by package sort, which makes the same
// comparisons and swaps in the same order.

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
