//go:build ignore

package ixgo

import (
	"strings"

	"golang.org/x/tools/go/ssa"
)

// deferring returns the frame that panics and that has deferred the function of a
// frame, nil if there is none. Functions that the SSA builder makes to call a method
// may lie between them.
func deferring(fr *frame) *frame {
	for ; fr != nil; fr = fr.caller {
		by := fr.caller
		if fr.outside {
			by = fr.by
		}
		if by == nil || !by._panic.isNil() {
			return by
		}
		if fr.outside || by.pfn == nil || !wraps(by.pfn.Fn.Synthetic) { // compiled code called the function
			return nil
		}
	}
	return nil
}

// recovers ends the panic of a frame for a function that it has deferred and that calls
// recover. It returns the value of the panic, nil if the panic goes on. A panic that has
// taken the place of one that goes on through recover gives way to it.
func (fr *frame) recovers(fn *ssa.Function) (v any) {
	h := fr.interp.ctx.Hooks
	for p := fr._panic; h != nil && p != nil; p = p.link {
		if h.Passes(fn, p.arg) {
			if p != fr._panic {
				v = fr._panic.arg
				fr._panic.recovered = true
				fr._panic = &_panic{arg: p.arg, link: p.link, pcs: p.pcs}
			}
			return v
		}
	}
	fr._panic.recovered = true
	return fr._panic.arg
}

// Recover is the result of recover in a function that the frame has deferred.
func (fr *frame) Recover(fn *ssa.Function) any {
	if fr._panic.isNil() {
		return nil
	}
	v := fr.recovers(fn)
	if p, ok := v.(PanicError); ok {
		return p.Value
	}
	return v
}

// passing is a panic that goes on through recover and that a frame below has met, before
// earlier panics of this one.
func (fr *frame) passing(earlier *_panic) *_panic {
	h, callee := fr.interp.ctx.Hooks, fr.callee
	for n := 0; n < mostFrames && callee.aborted() && callee._panic == nil; n++ {
		callee = callee.callee
	}
	if h == nil || !callee.aborted() {
		return earlier
	}
	for p := callee._panic; p != nil; p = p.link { // it has those of the frames below
		if h.Passes(nil, p.arg) {
			return &_panic{arg: p.arg, link: earlier}
		}
	}
	return earlier
}

// wraps reports whether a function was made to call a method.
func wraps(synthetic string) bool {
	return strings.HasPrefix(synthetic, "bound method wrapper for ") || strings.HasPrefix(synthetic, "thunk for ") || strings.HasPrefix(synthetic, "wrapper for ")
}

// deferredRecover is the recover of defer recover().
func deferredRecover(fr *frame) {
	v := doRecover(fr)
	if h := fr.interp.ctx.Hooks; h != nil && v != nil {
		h.Recovered(v)
	}
}
