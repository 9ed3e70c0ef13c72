package engine

import (
	"fmt"
	"reflect"
	"sync"

	"warpbook/kernel/engine/failure"
)

// Package fmt follows slices, maps and interfaces. A value that contains itself overflows the
// stack, which ends the process, and the engine's check of the stack sees no call of a cell.

// mostNested is how deep a value may be that package fmt prints, and mostLooked how many values
// are looked at.
const mostNested, mostLooked = 100_000, 1_000_000

var errNested = failure.RuntimeError(fmt.Sprintf("stack overflow: fmt prints a value that contains itself, or is nested %d deep", mostNested))

// registerFormats replaces functions of fmt that return a text by ones that look at their
// arguments first.
func (e *host) registerFormats() {
	for name, f := range map[string]any{
		"fmt.Sprint": sprint, "fmt.Sprintln": sprintln, "fmt.Sprintf": sprintf,
		"fmt.Errorf":   func(format string, a ...any) error { return fmt.Errorf(format, shallow(a)...) },
		"fmt.Append":   func(b []byte, a ...any) []byte { return fmt.Append(b, shallow(a)...) },
		"fmt.Appendln": func(b []byte, a ...any) []byte { return fmt.Appendln(b, shallow(a)...) },
		"fmt.Appendf":  func(b []byte, format string, a ...any) []byte { return fmt.Appendf(b, format, shallow(a)...) },
	} {
		e.external(name, f)
	}
}

func sprint(a ...any) string { return fmt.Sprint(shallow(a)...) }

func sprintln(a ...any) string { return fmt.Sprintln(shallow(a)...) }

func sprintf(format string, a ...any) string { return fmt.Sprintf(format, shallow(a)...) }

// shallow returns the arguments of a function of fmt. It panics if one of them is nested too
// deep.
func shallow(a []any) []any {
	for _, v := range a {
		switch v.(type) {
		case nil, bool, string, int, int64, float64, error, fmt.Stringer:
			continue
		}
		x := reflect.ValueOf(v)
		if x.Kind() == reflect.Pointer && !x.IsNil() && x.CanInterface() {
			x = x.Elem() // the only pointer that fmt follows
		}
		n := nesting{left: mostLooked}
		n.value(x, 0)
	}
	return a
}

// nesting looks into a value as package fmt does.
type nesting struct{ left int }

func (n *nesting) value(x reflect.Value, depth int) {
	if depth > mostNested {
		panic(errNested)
	}
	if n.left--; n.left < 0 || !x.IsValid() || !nests(x.Type()) || depth > 0 && prints(x) {
		return
	}
	switch x.Kind() {
	case reflect.Interface:
		n.value(x.Elem(), depth+1)
	case reflect.Struct:
		for i := range x.NumField() {
			n.value(x.Field(i), depth+1)
		}
	case reflect.Slice, reflect.Array:
		for i := range x.Len() {
			n.value(x.Index(i), depth+1)
		}
	case reflect.Map:
		for it := x.MapRange(); it.Next(); {
			n.value(it.Key(), depth+1)
			n.value(it.Value(), depth+1)
		}
	}
}

// prints reports whether package fmt calls a method of a value.
func prints(x reflect.Value) bool {
	if !x.CanInterface() || x.Kind() == reflect.Interface {
		return false
	}
	switch x.Interface().(type) {
	case error, fmt.Stringer, fmt.Formatter:
		return true
	}
	return false
}

// nesters are the types whose values may contain themselves, or not.
var nesters sync.Map

// nests reports whether a value of a type may contain itself, in slices, maps and interfaces.
func nests(t reflect.Type) bool {
	if known, ok := nesters.Load(t); ok {
		return known.(bool)
	}
	found := mayNest(t, map[reflect.Type]bool{})
	nesters.Store(t, found)
	return found
}

func mayNest(t reflect.Type, inside map[reflect.Type]bool) bool {
	if inside[t] {
		return true
	}
	inside[t] = true
	defer delete(inside, t)
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Slice, reflect.Array:
		return mayNest(t.Elem(), inside)
	case reflect.Map:
		return mayNest(t.Key(), inside) || mayNest(t.Elem(), inside)
	case reflect.Struct:
		for i := range t.NumField() {
			if mayNest(t.Field(i).Type, inside) {
				return true
			}
		}
	}
	return false
}
