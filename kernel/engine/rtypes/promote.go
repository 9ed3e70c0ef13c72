package rtypes

import (
	"go/types"
	"reflect"

	"github.com/goplus/reflectx"
)

// ixgo calls a method incorrectly if compiled code finds it in a struct that embeds a
// pointer to a struct that embeds the method's type as a value: it takes that value for
// a pointer. And it does not know functions that stand for methods of compiled types, such as
// log.Logger.Fatal, in structs that embed those. The methods of such structs are set again.

// promote sets the methods of a type again if one of them comes through a pointer
// to a value, or has a function in its place. The caller holds mu.
func (r *Registry) promote(n types.Type, rt reflect.Type) {
	if _, ok := n.Underlying().(*types.Struct); !ok {
		return
	}
	all, values := types.NewMethodSet(types.NewPointer(n)), types.NewMethodSet(n)
	wrong := false
	for s := range all.Methods() {
		wrong = wrong || throughPointer(n, s.Index()) || len(s.Index()) > 1 && r.replaced(s.Obj().(*types.Func)).IsValid()
	}
	if !wrong {
		return
	}
	var methods []reflectx.Method
	for s := range all.Methods() {
		fn := s.Obj().(*types.Func)
		t, _ := r.record.ToType(s.Type())
		call := r.promoted(fn, s.Index())
		if len(s.Index()) == 1 {
			call = r.FindMethod(t, fn)
		}
		path := ""
		if pkg := fn.Pkg(); pkg != nil { // error.Error has none
			path = pkg.Path()
		}
		methods = append(methods, reflectx.MakeMethod(fn.Name(), path, values.Lookup(fn.Pkg(), fn.Name()) == nil, t, call))
	}
	if err := r.shared.SetRawMethods(rt, methods); err != nil {
		panic(err)
	}
}

// replaced is the function in the place of a method, invalid for most methods.
func (r *Registry) replaced(fn *types.Func) reflect.Value {
	if r.Replaced[fn.Name()] == nil {
		return reflect.Value{}
	}
	recv, _ := r.record.ToType(fn.Signature().Recv().Type())
	return r.Replaced[fn.Name()][recv]
}

// throughPointer reports whether the path to a method ends in an embedded value and
// has a pointer before that.
func throughPointer(t types.Type, path []int) bool {
	pointer, before := false, false
	for _, i := range path[:len(path)-1] {
		before = before || pointer
		t = t.Underlying().(*types.Struct).Field(i).Type()
		p, ok := t.Underlying().(*types.Pointer)
		if pointer = ok; pointer {
			t = p.Elem()
		}
	}
	return before && !pointer && !types.IsInterface(t)
}

// promoted is a method of an embedded field, called with the struct or a pointer
// to it.
func (r *Registry) promoted(fn *types.Func, path []int) func([]reflect.Value) []reflect.Value {
	recv, _ := r.record.ToType(fn.Signature().Recv().Type())
	m, _ := reflectx.MethodByName(recv, fn.Name())
	if f := r.replaced(fn); f.IsValid() {
		m.Func = f
	}
	return func(args []reflect.Value) []reflect.Value {
		v := args[0]
		if v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		v = reflectx.FieldByIndexX(v, path[:len(path)-1])
		f := m.Func
		switch {
		case recv.Kind() == reflect.Interface && fn.Exported():
			f, args = v.MethodByName(fn.Name()), args[1:]
		case recv.Kind() == reflect.Interface:
			args[0] = v.Elem()
			inside, _ := reflectx.MethodByName(args[0].Type(), fn.Name())
			f = inside.Func
		case recv.Kind() == reflect.Pointer && v.Kind() != reflect.Pointer:
			args[0] = v.Addr()
		case recv.Kind() != reflect.Pointer && v.Kind() == reflect.Pointer:
			args[0] = v.Elem()
		default:
			args[0] = v
		}
		if f.Type().IsVariadic() {
			return f.CallSlice(args)
		}
		return f.Call(args)
	}
}
