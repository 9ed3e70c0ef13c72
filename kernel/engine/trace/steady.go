//go:build edited

package trace

import (
	"reflect"
	"unsafe"
)

// mapHeader is the runtime's description of a map (internal/runtime/maps.Map).
type mapHeader struct {
	used    uint64
	_       uintptr
	_       unsafe.Pointer // its groups or tables
	_       int
	_, _    uint8
	writing uint8
	_       bool
	_       uint64
}

// steady is a map that can be read while goroutines write v: the runtime ends a process
// that reads a map whose header says that it is written. This one has a copy of the
// header, in which nothing is written, and shares the entries. An entry may be half
// written, so the reader expects faults.
func steady(v reflect.Value) reflect.Value {
	if v.IsNil() {
		return v
	}
	header := *(*mapHeader)(v.UnsafePointer())
	header.writing = 0
	to := reflect.New(v.Type())
	*(*unsafe.Pointer)(to.UnsafePointer()) = unsafe.Pointer(&header)
	return to.Elem()
}
