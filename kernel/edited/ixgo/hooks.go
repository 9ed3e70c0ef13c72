//go:build ignore

package ixgo

import (
	"go/types"
	"reflect"

	"golang.org/x/tools/go/ssa"
)

// Hooks let the user of a Context stop interpreted functions that were not
// written to be stopped, and start their goroutines.
type Hooks struct {
	// Applies reports whether a function is subject to the hooks.
	Applies func(fn *ssa.Function) bool

	// Stop is called where a function or an iteration of a loop begins while Flag is not 0,
	// which is read without synchronisation.
	Flag *int32
	Stop func()

	// Kill closes when a channel operation must not wait any longer; Killed is
	// called then and does not return.
	Kill   func() <-chan struct{}
	Killed func()

	// Go starts the goroutine of a go statement, which calls run. The frames of its calls
	// are below root.
	Go func(root *Frame, run func())

	// Methods are functions that are called in place of compiled methods, by the name of
	// the method and the type of the receiver: for calls through interfaces.
	Methods map[string]map[reflect.Type]reflect.Value

	// Begin is called with the frame above those of a call of RunFunc, and end after it.
	Begin func(fr *Frame) (end func())

	// Compiled returns the function to call in place of a compiled one.
	Compiled func(f reflect.Value) reflect.Value

	// Innermost is the frame of the innermost call of this goroutine, nil if there is none.
	Innermost func() *Frame

	// Call calls call(fr), the call of a function value that returns an error, on behalf of
	// a function that is subject to the hooks. If the call returns no results because it
	// has panicked, Call returns the error that the caller gets.
	Call func(fr *Frame, call func(*Frame)) error

	// Enter executes a function that code outside of its interpreter calls: compiled code,
	// or another interpreter. It calls fr.Execute.
	Enter func(fr *Frame)

	// Unwinds is called with a panic that has reached a frame with deferred calls, before
	// these run. The panic goes on with the value that it returns.
	Unwinds func(fr *Frame, v any) any

	// Passes reports whether a panic with a value goes on through the recover of a function,
	// which returns nil; nil is any function.
	Passes func(fn *ssa.Function, v any) bool

	// Recovered is called with what a deferred call of recover itself has recovered.
	Recovered func(v any)
}

// hooks are those that a function is subject to, nil if it is to none.
func (pfn *function) hooks() *Hooks {
	h := pfn.Interp.ctx.Hooks
	if h == nil || !h.Applies(pfn.Fn) {
		return nil
	}
	return h
}

// looking returns an instruction that looks at the flag before it does ifn, if ifn is
// the first of a function or of a loop.
func (h *Hooks) looking(b *ssa.BasicBlock, ifn func(*frame)) func(*frame) {
	if h == nil || !begins(b) {
		return ifn
	}
	flag, stop := h.Flag, h.Stop
	return func(fr *frame) {
		if *flag != 0 {
			stop()
		}
		ifn(fr)
	}
}

// begins reports whether a block begins a function or may be reached again from a
// block behind it.
func begins(b *ssa.BasicBlock) bool {
	for _, p := range b.Preds {
		if p.Index >= b.Index {
			return true
		}
	}
	return b.Index == 0
}

// recv is c.Recv.
func (h *Hooks) recv(c reflect.Value) (v reflect.Value, ok bool) {
	if h == nil {
		return c.Recv()
	}
	if v, ok = c.TryRecv(); ok || v.IsValid() {
		return v, ok
	}
	_, v, ok = h.choose(append(make([]reflect.SelectCase, 0, 2), reflect.SelectCase{Dir: reflect.SelectRecv, Chan: c}), true)
	return v, ok
}

// send is c.Send.
func (h *Hooks) send(c, v reflect.Value) {
	if h == nil {
		c.Send(v)
	} else if !c.TrySend(v) {
		h.choose(append(make([]reflect.SelectCase, 0, 2), reflect.SelectCase{Dir: reflect.SelectSend, Chan: c, Send: v}), true)
	}
}

// choose is reflect.Select. It may append a case.
func (h *Hooks) choose(cases []reflect.SelectCase, blocks bool) (chosen int, v reflect.Value, ok bool) {
	if h == nil || !blocks {
		return reflect.Select(cases)
	}
	kill := reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(h.Kill())}
	chosen, v, ok = reflect.Select(append(cases, kill))
	if chosen == len(cases) {
		h.Killed()
	}
	return chosen, v, ok
}

// guarded is a call of a function value for a function of the hooks.
func (h *Hooks) guarded(call func(*frame), interp *Interp, sig *types.Signature, ir register) func(*frame) {
	if h == nil || !returnsError(sig) {
		return call
	}
	last := sig.Results().Len() - 1
	zero := make(tuple, last)
	for i := range zero {
		zero[i] = reflect.Zero(interp.preToType(sig.Results().At(i).Type())).Interface()
	}
	return func(fr *frame) {
		if err := h.Call(fr, call); err == nil {
			return
		} else if last == 0 {
			fr.setReg(ir, err)
		} else {
			fr.setReg(ir, append(append(tuple{}, zero...), err))
		}
	}
}

// returnsError reports whether the last result of a function is an error.
func returnsError(sig *types.Signature) bool {
	n := sig.Results().Len()
	return n > 0 && types.Identical(sig.Results().At(n-1).Type(), types.Universe.Lookup("error").Type())
}

// root is the frame above those of a call of RunFunc.
func (i *Interp) root() (fr *frame, end func()) {
	fr = &frame{interp: i}
	if h := i.ctx.Hooks; h != nil {
		return fr, h.Begin(fr)
	}
	return fr, func() {}
}

// methodOf is findExternMethod, with the methods of the hooks.
func (i *Interp) methodOf(typ reflect.Type, name string) (reflect.Value, bool) {
	if h := i.ctx.Hooks; h != nil {
		if f, ok := h.Methods[name][typ]; ok {
			return f, true
		}
	}
	return findExternMethod(typ, name)
}
