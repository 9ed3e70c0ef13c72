//go:build ignore

package ixgo

import "strings"

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
