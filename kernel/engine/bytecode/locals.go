package bytecode

import (
	"go/types"
	"reflect"
	"unsafe"

	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/ssa"
)

// Local is a variable of a call.
type Local struct {
	Value any
	Type  types.Type    // nil if it is not known
	At    reflect.Value // the variable, if it is in memory
	Known bool
}

// Locals are the variables of a call that has not returned, in the statement that it
// executes: those that its probe passes, in that order. ok is false if it has none. The
// goroutine of the call is stopped.
func Locals(of *ixgo.Frame) (point int, list []Local, ok bool) {
	fr := asFrame(of)
	k, m, a := owner(fr)
	if k == nil || fr.ipc < 1 || fr.ipc > len(fr.pfn.ssaInstrs) {
		return 0, nil, false
	}
	b := fr.pfn.ssaInstrs[fr.ipc-1].Block()
	s, ok := k.scopes[b]
	if begin, in := k.within(b); in { // the check itself
		s, ok = begin, true
	}
	for _, v := range s.vars {
		l := Local{Type: v.of()}
		if l.Value, l.Known = read(v.value, fr, m, a); l.Known && v.memory {
			if l.At = reflect.ValueOf(l.Value); l.At.Kind() != reflect.Pointer || l.At.IsNil() {
				l = Local{Type: l.Type}
			} else {
				l.At = l.At.Elem()
				l.Value = l.At.Interface()
			}
		}
		list = append(list, l)
	}
	return s.point, list, ok
}

// Caller is the frame of a function of cells that has called the compiled code that calls
// a frame, nil if it is not known.
func Caller(of *ixgo.Frame) *ixgo.Frame {
	if _, m, a := owner(asFrame(of)); m != nil && m.by != nil && a == &m.stack[0] {
		return (*ixgo.Frame)(unsafe.Pointer(m.by))
	}
	return nil
}

// owner finds the probes of the function of a frame, and the call of the machine that
// executes it, nil if the engine does.
func owner(fr *frame) (*probed, *machine, *activation) {
	if m, ok := fr.recorder.(*machine); ok {
		for i := range m.stack {
			if a := &m.stack[i]; a.fr == fr {
				return a.c.probed, m, a
			}
		}
		return nil, nil, nil
	}
	if n := len(fr.stack); n > 0 {
		k, _ := fr.stack[n-1].(*probed)
		return k, nil, nil
	}
	return nil, nil, nil
}

// owns notes in a frame that the machine executes it, where others look at that.
func (m *machine) owns(fr *frame, c *code) {
	if c.probed != nil || len(c.deferrals) > 0 {
		fr.recorder = m
	}
}

// read is the value of a variable, or its address.
func read(v ssa.Value, fr *frame, m *machine, a *activation) (any, bool) {
	if v == nil {
		return nil, false
	}
	if m != nil && !isStatic(v) && classOf(v.Type()) != boxed {
		s, ok := a.c.held[v]
		if !ok {
			return nil, false
		}
		var to [1]any
		s.at = 0
		r, p := m.registersAt(a.base)
		s.box(r, p, to[:])
		return to[0], true
	}
	at, ok := fr.pfn.at(v)
	if ok && isStatic(v) {
		return fr.pfn.stack[at], true
	}
	if !ok || at >= len(fr.stack) {
		return nil, false
	}
	return fr.stack[at], true
}
