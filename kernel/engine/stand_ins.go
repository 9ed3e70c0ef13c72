//go:build edited

package engine

import (
	"io"
	"reflect"
)

// The parameters of compiled functions that cells may give something that waits.
var (
	readerType = reflect.TypeFor[io.Reader]()
	writerType = reflect.TypeFor[io.Writer]()
)

// compiled is a compiled function, or one that stands for it if it reads from or writes to
// its arguments: these may wait, which a stop ends.
func (e *host) compiled(f reflect.Value) reflect.Value {
	t := f.Type()
	var waits []int
	for i := range t.NumIn() {
		in := t.In(i)
		if t.IsVariadic() && i == t.NumIn()-1 {
			in = in.Elem()
		}
		if in == readerType || in == writerType {
			waits = append(waits, i)
		}
	}
	if len(waits) == 0 {
		return f
	}
	return reflect.MakeFunc(t, func(args []reflect.Value) []reflect.Value {
		for _, i := range waits {
			args[i] = e.standIn(args[i])
		}
		if t.IsVariadic() {
			return f.CallSlice(args)
		}
		return f.Call(args)
	})
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
