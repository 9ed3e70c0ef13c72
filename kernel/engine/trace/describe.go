//go:build edited

package trace

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"warpbook/kernel/debug"
	"warpbook/kernel/engine/brief"
)

// pageOf is how many elements of a slice are shown in one list; longer ones are cut into
// ranges of that size, and ranges of ranges.
const pageOf = 100

// mostKeys is how many entries of a map are shown.
const mostKeys = 1000

// Describe is a value as clients see it. Its parts are read when a client asks for them,
// and no method of the value is called. Goroutines of cells that are not stopped may write
// it meanwhile.
func Describe(name string, v reflect.Value) debug.Variable { return describe(name, name, v) }

// describe is Describe for a value that path evaluates to.
func describe(name, path string, v reflect.Value) (d debug.Variable) {
	defer func() {
		if recover() != nil { // a slice got shorter, or an interface is half written
			d = debug.Variable{Name: name, Path: path, Value: "unknown: it changed while it was read"}
		}
	}()
	d = debug.Variable{Name: name, Path: path, Value: "nil", Type: "nil"}
	if !v.IsValid() {
		return d
	}
	d.Type, d.Value = typeName(v.Type()), brief.Value(v)
	if v.Kind() == reflect.Interface && !v.IsNil() {
		v = v.Elem()
		d.Type = typeName(v.Type())
	}
	d.True = v.Kind() == reflect.Bool && v.Bool()
	switch v.Kind() {
	case reflect.Struct:
		d.Children = func() []debug.Variable { return fields(path, v) }
	case reflect.Pointer:
		if !v.IsNil() {
			d.Children = func() []debug.Variable { return pointed(path, v) }
		}
	case reflect.Slice, reflect.Array:
		if n := v.Len(); n > 0 {
			d.Children = func() []debug.Variable { return elements(path, v, 0, v.Len()) }
			if n <= pageOf { // else its children are ranges
				d.Parts = n
			}
		}
	case reflect.Map:
		if v.Len() > 0 {
			d.Children = func() []debug.Variable { return entries(path, v) }
		}
	}
	return d
}

// typeName is a type without the package of cells.
func typeName(t reflect.Type) string { return strings.ReplaceAll(t.String(), "main.", "") }

// readable is a field that may be unexported, as a value that Interface accepts.
func readable(v reflect.Value) reflect.Value {
	if v.CanInterface() || !v.CanAddr() {
		return v
	}
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

// addressable is a value, or a copy of it, whose unexported fields are readable.
func addressable(v reflect.Value) reflect.Value {
	if v.CanAddr() || !v.CanInterface() {
		return v
	}
	to := reflect.New(v.Type()).Elem()
	to.Set(v)
	return to
}

func fields(path string, v reflect.Value) (list []debug.Variable) {
	v = addressable(v)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		list = append(list, describe(name, path+"."+name, readable(v.Field(i))))
	}
	return list
}

// pointed shows the fields of a struct behind a pointer, or the value.
func pointed(path string, v reflect.Value) []debug.Variable {
	if v.Elem().Kind() == reflect.Struct {
		return fields(path, v.Elem())
	}
	return []debug.Variable{describe("*", "(*"+path+")", v.Elem())}
}

// elements are those of a slice from lo to hi, or ranges of them.
func elements(path string, v reflect.Value, lo, hi int) (list []debug.Variable) {
	if hi > v.Len() { // it is another value by now
		hi = v.Len()
	}
	size := 1
	for (hi-lo+size-1)/size > pageOf {
		size *= pageOf
	}
	for at := lo; at < hi; at += size {
		end := min(at+size, hi)
		if size == 1 {
			name := fmt.Sprintf("[%d]", at)
			list = append(list, describe(name, path+name, readable(v.Index(at))))
			continue
		}
		list = append(list, debug.Variable{Name: fmt.Sprintf("[%d … %d]", at, end-1), Type: typeName(v.Type()), Value: fmt.Sprintf("%d elements", end-at),
			Children: func() []debug.Variable { return elements(path, v, at, end) }})
	}
	return list
}

// entries are those of a map, in the order of their keys as text.
func entries(path string, v reflect.Value) (list []debug.Variable) {
	for it := steady(v).MapRange(); it.Next() && len(list) < mostKeys; {
		list = append(list, describe("["+brief.Value(it.Key())+"]", entryPath(path, it.Key()), it.Value()))
	}
	slices.SortFunc(list, func(a, b debug.Variable) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// entryPath is the expression of an entry, "" if its key has no literal.
func entryPath(path string, key reflect.Value) string {
	switch {
	case key.Kind() == reflect.String:
		return path + "[" + strconv.Quote(key.String()) + "]"
	case key.CanInt() || key.CanUint() || key.Kind() == reflect.Bool:
		return fmt.Sprintf("%s[%v]", path, key)
	}
	return ""
}
