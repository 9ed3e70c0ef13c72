//go:build ignore

package ixgo

import (
	"reflect"

	"golang.org/x/tools/go/ssa"
)

// Hooks let the user of a Context stop interpreted functions that were not
// written to be stopped, and start their goroutines.
type Hooks struct {
	// Applies reports whether a function is subject to the hooks.
	Applies func(fn *ssa.Function) bool

	// Stop is called where a function or a turn of a loop begins while Flag is not 0,
	// which is read without synchronisation.
	Flag *int32
	Stop func()

	// Kill closes when a channel operation must not wait any longer; Killed is
	// called then and does not return.
	Kill   func() <-chan struct{}
	Killed func()

	// Go starts the goroutine of a go statement, which calls run.
	Go func(run func())

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
	_, v, ok = h.choose([]reflect.SelectCase{{Dir: reflect.SelectRecv, Chan: c}}, true)
	return v, ok
}

// send is c.Send.
func (h *Hooks) send(c, v reflect.Value) {
	if h == nil {
		c.Send(v)
	} else if !c.TrySend(v) {
		h.choose([]reflect.SelectCase{{Dir: reflect.SelectSend, Chan: c, Send: v}}, true)
	}
}

// choose is reflect.Select.
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
