//go:build ignore && !llgo

package reflectx

import "reflect"

// throughPointer is the code of a method of values that is called with a pointer. It
// calls the method itself: package reflect numbers only exported methods, and a method
// that is added later would shift the numbers.
func throughPointer(ctyp, typ reflect.Type, m Method) textOff {
	f := withPointer(ctyp, typ, m)
	return resolveReflectText(tovalue(&f).ptr)
}

// ofPointer is the function of a method with a pointer as receiver. mfn has the receiver
// that the method declares.
func ofPointer(mfn reflect.Value, typ reflect.Type, m Method) reflect.Value {
	if m.Pointer {
		return mfn
	}
	t := mfn.Type()
	var in, out []reflect.Type
	for i := 0; i < t.NumIn(); i++ {
		in = append(in, t.In(i))
	}
	for i := 0; i < t.NumOut(); i++ {
		out = append(out, t.Out(i))
	}
	in[0] = PtrTo(typ)
	return withPointer(reflect.FuncOf(in, out, t.IsVariadic()), typ, m)
}

// withPointer is a method of values as a function of type ctyp, whose first parameter is a
// pointer.
func withPointer(ctyp, typ reflect.Type, m Method) reflect.Value {
	return reflect.MakeFunc(ctyp, func(args []reflect.Value) []reflect.Value {
		if args[0].IsNil() && m.Promoted { // its code reads the embedded field
			return []reflect.Value{reflect.ValueOf(*(*byte)(args[0].UnsafePointer()))}
		}
		if args[0].IsNil() {
			panic(nilReceiver("value method " + typ.String() + "." + m.Name + " called using nil *" + typ.Name() + " pointer"))
		}
		return m.Func(append([]reflect.Value{args[0].Elem()}, args[1:]...))
	})
}

// nilReceiver is the runtime error of a method of values that is called with nil.
type nilReceiver string

func (e nilReceiver) Error() string { return string(e) }
func (nilReceiver) RuntimeError()   {}
