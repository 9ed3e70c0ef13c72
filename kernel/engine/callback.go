package engine

import (
	"go/token"
	"go/types"
	"reflect"
	"warpbook/kernel/engine/failure"

	"github.com/visualfc/gid"
)

// wrap guards a function value that is handed to compiled code at a position.
func (e *host) wrap(f any, pos int) any {
	v := reflect.ValueOf(f)
	if v.Kind() != reflect.Func || v.IsNil() {
		return f
	}
	t, handed := v.Type(), e.placeOf(token.Pos(pos))
	return reflect.MakeFunc(t, func(args []reflect.Value) []reflect.Value {
		return e.guard(t, handed, func() []reflect.Value {
			if t.IsVariadic() {
				return v.CallSlice(args)
			}
			return v.Call(args)
		})
	}).Interface()
}

// guardMethod guards a method that compiled code calls.
func (e *host) guardMethod(t reflect.Type, fn *types.Func, f func() []reflect.Value) []reflect.Value {
	where := e.placeOf(fn.Pos())
	where.Fn = fn.Name()
	return e.guard(t, where, f)
}

// guard runs an interpreted function that compiled code calls. On a goroutine whose
// panics no caller recovers, it reports a panic and returns zero values. If the frames
// of the panic are unknown, the report names the place where the function was defined.
func (e *host) guard(t reflect.Type, from failure.Place, f func() []reflect.Value) (res []reflect.Value) {
	if _, ok := e.ours.Load(gid.Get()); ok {
		return f()
	}
	defer func() {
		v, frames, ok := thrown(nil, recover())
		if !ok {
			return
		}
		if len(frames) == 0 && from.Cell > 0 {
			frames = []failure.Place{from}
		}
		e.reportPanic("a function that compiled code called", v, frames)
		res = nil
		for i := range t.NumOut() {
			res = append(res, reflect.Zero(t.Out(i)))
		}
	}()
	return f()
}
