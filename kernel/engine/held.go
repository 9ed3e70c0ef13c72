package engine

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// mostHeld is how many values heldTypes looks at.
const mostHeld = 100_000

// heldTypes are the types of cells, as %T prints them, of the values that a value of a
// variable holds inside: in interfaces, slices, maps, pointers, structs, the buffers of
// channels, and what closures capture. Maps and buffers are read only if nothing else runs,
// and those of compiled packages never: their goroutines may write them.
func (e *Engine) heldTypes(x reflect.Value) []string {
	h := held{quiet: e.stop.Live.Load() == 0, left: mostHeld, found: map[string]bool{}, seen: map[unsafe.Pointer]bool{}, holds: map[reflect.Type]bool{}}
	h.value(x, true)
	return slices.Sorted(maps.Keys(h.found))
}

// held is a search for types of cells.
type held struct {
	quiet bool // no goroutine of a cell runs
	left  int
	found map[string]bool
	seen  map[unsafe.Pointer]bool
	holds map[reflect.Type]bool // see mayHold
}

// value looks into a value; own means that no compiled package has declared what holds it.
func (h *held) value(x reflect.Value, own bool) {
	if h.left--; h.left < 0 || !h.mayHold(x.Type()) {
		return
	}
	switch x.Kind() {
	case reflect.Interface:
		if !x.IsNil() {
			h.typ(x.Elem().Type())
			h.described(x.Elem())
			h.value(x.Elem(), own)
		}
	case reflect.Pointer:
		if p := x.UnsafePointer(); p != nil && !h.seen[p] {
			h.seen[p] = true
			h.value(x.Elem(), own)
		}
	case reflect.Struct:
		if h.hidden(x, own) {
			return
		}
		own = own && (x.Type().PkgPath() == "" || ofCell(x.Type()))
		for i := range x.NumField() {
			h.value(x.Field(i), own)
		}
	case reflect.Slice, reflect.Array:
		for i := range min(x.Len(), mostHeld) {
			h.value(x.Index(i), own)
		}
	case reflect.Chan:
		if own && h.quiet {
			for _, v := range buffered(x) {
				h.value(v, own)
			}
		}
	case reflect.Func:
		for _, v := range captured(x) {
			h.captured(reflect.ValueOf(v), own)
		}
	case reflect.Map:
		for it := x.MapRange(); own && h.quiet && it.Next(); {
			h.value(it.Key(), own)
			h.value(it.Value(), own)
		}
	}
}

// described notes the type that a reflect.Type describes.
func (h *held) described(x reflect.Value) {
	if x.Type() == typeOfTypes && !x.IsNil() {
		h.typ(reflect.NewAt(typeOfTypes.Elem(), x.UnsafePointer()).Interface().(reflect.Type))
	}
}

var typeOfTypes = reflect.TypeOf(reflect.TypeFor[int]())

// hidden looks into a struct of package reflect, sync or sync/atomic that hides its values
// from package reflect, and reports whether it is one.
func (h *held) hidden(x reflect.Value, own bool) bool {
	switch t := x.Type(); {
	case !x.CanAddr():
		return false
	case t == reflect.TypeFor[reflect.Value]():
		h.captured(*(*reflect.Value)(x.Addr().UnsafePointer()), own)
		return true
	case t == reflect.TypeFor[sync.Map]():
		(*sync.Map)(x.Addr().UnsafePointer()).Range(func(k, v any) bool {
			h.captured(reflect.ValueOf(k), own)
			h.captured(reflect.ValueOf(v), own)
			return h.left > 0
		})
		return true
	case strings.HasPrefix(t.PkgPath(), "sync/atomic") && strings.HasPrefix(t.Name(), "Pointer["): // @patch: generic types are source
		p := atomic.LoadPointer((*unsafe.Pointer)(x.FieldByName("v").Addr().UnsafePointer()))
		h.value(reflect.NewAt(t.Field(0).Type.Elem().Elem(), p), own)
		return true
	}
	return false
}

// captured looks into a value that a closure captures, or the variable to which it points.
func (h *held) captured(x reflect.Value, own bool) {
	if x.IsValid() {
		h.typ(x.Type())
		h.value(x, own)
	}
}

// channel is the beginning of a channel in the runtime.
type channel struct {
	n, size uint
	buffer  unsafe.Pointer
}

// buffered are the values in the buffer of a channel; free places hold zero values.
func buffered(x reflect.Value) (list []reflect.Value) {
	c := (*channel)(x.UnsafePointer())
	if c == nil || c.n != uint(x.Len()) || c.size != uint(x.Cap()) { // nil, or a timer's
		return nil
	}
	elem := x.Type().Elem()
	for i := range min(x.Cap(), mostHeld) {
		list = append(list, reflect.NewAt(elem, unsafe.Add(c.buffer, uintptr(i)*elem.Size())).Elem())
	}
	return list
}

// typ notes the types of cells that a type is made of.
func (h *held) typ(t reflect.Type) {
	switch {
	case ofCell(t):
		h.found[t.String()] = true
	case t.PkgPath() != "":
	case t.Kind() == reflect.Map:
		h.typ(t.Key())
		fallthrough
	case t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Chan:
		h.typ(t.Elem())
	}
}

// ofCell reports whether a cell has declared a type.
func ofCell(t reflect.Type) bool { return strings.HasPrefix(t.String(), "main.") && t.Name() != "" }

// mayHold reports whether a value of a type may hold an interface.
func (h *held) mayHold(t reflect.Type) bool {
	may, known := h.holds[t]
	if !known {
		may = reachesInterface(t, map[reflect.Type]bool{})
		h.holds[t] = may
	}
	return may
}

// reachesInterface reports whether a type is made of an interface or a function. Types that
// were seen refer to themselves.
func reachesInterface(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface, reflect.Func:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		return reachesInterface(t.Elem(), seen)
	case reflect.Map:
		return reachesInterface(t.Key(), seen) || reachesInterface(t.Elem(), seen)
	case reflect.Struct:
		for f := range t.Fields() {
			if reachesInterface(f.Type, seen) {
				return true
			}
		}
	}
	return false
}
