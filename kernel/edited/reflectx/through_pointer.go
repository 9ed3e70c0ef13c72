//go:build ignore && !llgo

package reflectx

import "reflect"

// throughPointer is the code of a method of values that is called with a pointer. It
// calls the method itself: package reflect numbers only exported methods, and a method
// that is added later would shift the numbers.
func throughPointer(ctyp, typ reflect.Type, m Method) textOff {
	f := reflect.MakeFunc(ctyp, func(args []reflect.Value) []reflect.Value {
		if args[0].IsNil() {
			panic(nilReceiver("value method " + typ.String() + "." + m.Name + " called using nil *" + typ.Name() + " pointer"))
		}
		return m.Func(append([]reflect.Value{args[0].Elem()}, args[1:]...))
	})
	return resolveReflectText(tovalue(&f).ptr)
}

// nilReceiver is the runtime error of a method of values that is called with nil.
type nilReceiver string

func (e nilReceiver) Error() string { return string(e) }
func (nilReceiver) RuntimeError()   {}
