//go:build ignore && !llgo

package reflectx

import (
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/goplus/reflectx/internal/abi"
)

// The runtime remembers that a type does not implement an interface: in its table of
// pairs, and at each place of compiled code that asks. A type that gets methods must be
// asked again.

//go:linkname itabTable runtime.itabTable
var itabTable *itabTableType

// itabTableType is the runtime's table of pairs of an interface and a type.
type itabTableType struct {
	size, count uintptr
	entries     [1 << 20]unsafe.Pointer // size of them
}

// itab is the runtime's description of a pair; the first method is 0 if the type does not
// implement the interface.
type itab struct {
	Inter *interfaceType
	Type  *rtype
	Hash  uint32
	Fun   [1]uintptr
}

//go:linkname itabInit runtime.itabInit
func itabInit(m *itab, firstTime bool) string

// ForgetFailures makes the runtime ask again whether types implement interfaces.
//
//go:nocheckptr
func ForgetFailures(list []reflect.Type) {
	types := map[*rtype]bool{}
	for _, t := range list {
		types[totype(t)], types[totype(PtrTo(t))] = true, true
	}
	t := (*itabTableType)(atomic.LoadPointer((*unsafe.Pointer)(unsafe.Pointer(&itabTable))))
	for i := uintptr(0); i < t.size; i++ {
		m := (*itab)(atomic.LoadPointer(&t.entries[i]))
		if m != nil && types[m.Type] && m.Fun[0] == 0 {
			itabInit(m, true)
		}
	}
	forgetAtPlaces(types)
}

// The compiler keeps a cache for each type assertion and each switch of interfaces. The
// caches lie in the heap, and the data of the program points to them.

//go:linkname firstmoduledata runtime.firstmoduledata
var firstmoduledata [64]uintptr

//go:linkname inheap runtime.inheap
func inheap(p uintptr) bool

// anchor is a variable in the data of the program that has pointers.
var anchor = &firstmoduledata

// section is the range of a section of the program that contains an address: the
// narrowest pair of neighbours in the description of the module.
func section(at uintptr) (from, to uintptr) {
	for i := 0; i < len(firstmoduledata)-1; i++ {
		if lo, hi := firstmoduledata[i], firstmoduledata[i+1]; lo <= at && at < hi && (to == 0 || hi-lo < to-from) {
			from, to = lo, hi
		}
	}
	return from, to
}

// forgetAtPlaces drops the entries of types from the caches of compiled code. Such a
// place is a pointer to its cache, and an interface, or a count and the interfaces.
func forgetAtPlaces(types map[*rtype]bool) {
	const ptrSize = unsafe.Sizeof(uintptr(0))
	firstType, lastType := section(uintptr(unsafe.Pointer(totype(reflect.TypeOf((*error)(nil)).Elem()))))
	isInterface := func(p uintptr) bool {
		return firstType <= p && p < lastType && p%ptrSize == 0 && (*rtype)(pointer(p)).Kind() == abi.Interface
	}
	from, to := section(uintptr(unsafe.Pointer(&anchor)))
	for at := from; at+3*ptrSize <= to; at += ptrSize {
		cache, next := word(at), word(at+ptrSize)
		switch {
		case cache%ptrSize != 0 || !inheap(cache):
		case isInterface(next):
			forget(cache, 2, types)
		case 0 < next && next < 1<<10 && isInterface(word(at+2*ptrSize)):
			forget(cache, 3, types)
		}
	}
}

// forget drops the entries of types from a cache: a mask, and entries of some words, the
// first of which is the type. The next question about a type that is not there is asked.
func forget(cache, words uintptr, types map[*rtype]bool) {
	const ptrSize = unsafe.Sizeof(uintptr(0))
	mask := word(cache)
	if mask == 0 || mask&(mask+1) != 0 || mask >= 1<<16 || !inheap(cache+(mask+1)*words*ptrSize) {
		return
	}
	for i := uintptr(0); i <= mask; i++ {
		at := cache + ptrSize + i*words*ptrSize
		if t := word(at); t != 0 && types[(*rtype)(pointer(t))] {
			atomic.StoreUintptr((*uintptr)(pointer(at)), 0)
		}
	}
}

// word reads a word of the program's data. Another goroutine may write words that belong to no
// cache; their values do not matter.
//
//go:nocheckptr
//go:norace
func word(p uintptr) uintptr { return *(*uintptr)(pointer(p)) }

//go:nocheckptr
func pointer(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }
