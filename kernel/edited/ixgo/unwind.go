//go:build ignore

package ixgo

import "sync/atomic"

// mostFrames is the number of frames that the description of a panic holds. A recursion
// may have hundreds of thousands.
const mostFrames = 256

// unwinding is the run of a frame. Deferred calls run, and a panic goes on, after the
// runtime has unwound the stack to this frame: a panic from a deferred function of Go
// would leave the stack as it is, and each further one would search all of it.
func (fr *frame) unwinding() {
	if fr.pfn.Recover == nil {
		fr.step()
	} else if v := fr.stepped(); v != nil {
		fr.endPanic(v)
	}
}

// step executes instructions until the function returns.
func (fr *frame) step() {
	for fr.ipc != -1 && atomic.LoadInt32(&fr.interp.exited) == 0 {
		fn := fr.pfn.Instrs[fr.ipc]
		fr.ipc++
		fn(fr)
	}
}

// stepped is step. It returns a panic that deferred calls of the frame may recover.
func (fr *frame) stepped() (v any) {
	defer func() {
		if fr.ipc == -1 || fr._defer == nil {
			return
		}
		if v = recover(); v == nil { // runtime.Goexit, which unwinds the stack itself
			fr.endPanic(nil)
		} else {
			v = fr.Unwinding(v)
		}
	}()
	fr.step()
	return nil
}

// endPanic runs the deferred calls of a frame that panics, or that runtime.Goexit ends if v
// is nil. It panics unless one of them recovers.
func (fr *frame) endPanic(v any) {
	if fr._panic = nil; v != nil {
		fr.Panics(v)
	}
	fr.runDefers()
	for _, fn := range fr.pfn.Recover {
		fn(fr)
	}
}

// Panic is what the panic statement that a frame has come to panics with, for a value.
func (fr *frame) Panic(v any) any {
	ctx := fr.interp.ctx
	if ctx.panicFunc == nil {
		return PanicError{stack: debugStack(fr), Value: v}
	}
	return ctx.handlePanic(fr, fr.pfn.InstrForPC(fr.ipc-1), PanicError{Value: v})
}

// Unwinding is called with a panic that has come to a frame with deferred calls, before
// the stack is unwound to it. The panic goes on with the value that it returns.
func (fr *frame) Unwinding(v any) any {
	if h := fr.interp.ctx.Hooks; h != nil {
		return h.Unwinds(fr, v)
	}
	return v
}

// Panics notes that a frame panics, or that it does so again while it runs deferred calls.
func (fr *frame) Panics(v any) {
	earlier, p := fr._panic, &_panic{arg: v}
	fr._panic = p
	for callee := fr.callee; callee.aborted() && len(p.pcs) < mostFrames; callee = callee.callee {
		if p.met(callee) {
			break
		}
	}
	if earlier != nil {
		earlier.aborted, p.link = true, earlier
	}
	p.link = fr.passing(p.link)
}

// Panicking is the value with which a frame panics.
func (fr *frame) Panicking() (v any, panics bool) {
	if fr._panic.isNil() {
		return nil, false
	}
	return fr._panic.arg, true
}

// RunDeferred makes the deferred calls of a frame. It returns, whatever they do.
func (fr *frame) RunDeferred() { fr.runDeferred() }

// met adds a frame that the panic has ended, before those of its callers. It reports
// whether this frame has panicked: then the frames below are known too.
func (p *_panic) met(callee *frame) (panicked bool) {
	q := callee._panic
	if !q.isNil() && len(q.pcs) >= mostFrames {
		p.pcs, p.link = q.pcs, q.link
		return true
	}
	if panicked = !q.isNil(); panicked && !q.link.isNil() {
		p.link = q.link
		last := q.link
		for last.link != nil {
			last = last.link
		}
		last.pcs = append(last.pcs, callee.pc())
	} else {
		p.pcs = append([]uintptr{callee.pc()}, p.pcs...)
	}
	if panicked {
		p.pcs = append(append([]uintptr{}, q.pcs...), p.pcs...)
		p.pcs = p.pcs[:min(len(p.pcs), mostFrames)]
	}
	return panicked
}
