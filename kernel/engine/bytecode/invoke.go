package bytecode

import (
	"reflect"
	"sync/atomic"
	"unsafe"
)

// invoking is the method that a call through an interface calls.
type invoking struct {
	at   int // place of the interface in the frame
	name string
	last atomic.Pointer[implementation]
}

// implementation is the method of a type.
type implementation struct {
	typ unsafe.Pointer
	f   *Function // nil if the engine has to call it
}

// method is the method of the value in an interface, nil if the engine has to call it.
// Most calls meet the type of the call before.
func (v *invoking) method(c *code, receiver any) *Function {
	typ := (*eface)(unsafe.Pointer(&receiver)).typ
	if x := v.last.Load(); x != nil && x.typ == typ {
		return x.f
	}
	if receiver == nil {
		return nil
	}
	f := c.functions[methodsOf(c.pfn.Interp, reflect.TypeOf(receiver))[v.name]]
	if f != nil && (len(f.fn.Params) == 0 || !f.callable()) {
		f = nil
	}
	v.last.Store(&implementation{typ, f})
	return f
}
