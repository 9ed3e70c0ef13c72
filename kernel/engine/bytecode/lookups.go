package bytecode

import (
	"sync/atomic"
	"unsafe"
)

// lookups are what an instruction has found for the types of values that it met. Most
// meet few types.
type lookups[T any] struct {
	list atomic.Pointer[[]lookup[T]]
}

type lookup[T any] struct {
	typ   unsafe.Pointer
	found T
}

const maxLookups = 8

func (x *lookups[T]) find(typ unsafe.Pointer) (found T, ok bool) {
	if list := x.list.Load(); list != nil {
		for i := range *list {
			if e := &(*list)[i]; e.typ == typ {
				return e.found, true
			}
		}
	}
	return found, false
}

// add notes what was found. An entry that another goroutine adds at the same time may be
// lost.
func (x *lookups[T]) add(typ unsafe.Pointer, found T) {
	var list []lookup[T]
	if old := x.list.Load(); old != nil && len(*old) < maxLookups {
		list = append(list, *old...)
	}
	list = append(list, lookup[T]{typ, found})
	x.list.Store(&list)
}
