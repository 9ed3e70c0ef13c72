//go:build edited

package engine

import (
	"io"
	"reflect"
	"slices"
)

// The parameters of compiled functions that cells may give something that waits.
var (
	readerType = reflect.TypeFor[io.Reader]()
	writerType = reflect.TypeFor[io.Writer]()
)

// compiled is a compiled function, or one that stands for it if it reads from or writes to
// its arguments: these may wait, which a stop ends. A function that returns such an argument
// of an earlier call, as log.Writer does, returns what the cell has passed.
func (e *host) compiled(f reflect.Value) reflect.Value {
	t := f.Type()
	var waits []int
	for i := range t.NumIn() {
		in := t.In(i)
		if t.IsVariadic() && i == t.NumIn()-1 {
			in = in.Elem()
		}
		if passed(in) {
			waits = append(waits, i)
		}
	}
	returns := slices.ContainsFunc(slices.Collect(t.Outs()), passed)
	if len(waits) == 0 && !returns {
		return f
	}
	return reflect.MakeFunc(t, func(args []reflect.Value) []reflect.Value {
		for _, i := range waits {
			args[i] = e.standIn(args[i])
		}
		call := f.Call
		if t.IsVariadic() {
			call = f.CallSlice
		}
		results := call(args)
		for i, x := range results {
			if passed(x.Type()) {
				results[i] = original(x)
			}
		}
		return results
	})
}

// passed reports whether arguments of a type may have a stand-in.
func passed(t reflect.Type) bool { return t == readerType || t == writerType }

// original is what a result stands for.
func original(x reflect.Value) reflect.Value {
	to := reflect.New(x.Type()).Elem()
	switch s := x.Interface().(type) {
	case patient:
		to.Set(reflect.ValueOf(s.Reader))
	case patientWriter:
		to.Set(reflect.ValueOf(s.to))
	default:
		return x
	}
	return to
}

// standIn is an argument, or several, or what stands for them if they may wait.
func (e *host) standIn(arg reflect.Value) reflect.Value {
	if arg.Kind() == reflect.Slice {
		list := reflect.MakeSlice(arg.Type(), arg.Len(), arg.Len())
		for i := range arg.Len() {
			list.Index(i).Set(e.standIn(arg.Index(i)))
		}
		return list
	}
	switch {
	case arg.IsNil():
	case arg.Type() == readerType:
		return reflect.ValueOf(e.reader(arg.Interface().(io.Reader)))
	case arg.Type() == writerType:
		return reflect.ValueOf(e.patiently(arg.Interface().(io.Writer)))
	}
	return arg
}
