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
		} else if h := fr.interp.ctx.Hooks; h != nil {
			v = h.Unwinds(fr, v)
		}
	}()
	fr.step()
	return nil
}

// endPanic runs the deferred calls of a frame that panics. It panics unless one of them
// recovers.
func (fr *frame) endPanic(v any) {
	p := &_panic{arg: v}
	fr._panic = p
	for callee := fr.callee; callee.aborted() && len(p.pcs) < mostFrames; callee = callee.callee {
		if p.met(callee) {
			break
		}
	}
	p.link = fr.passing(p.link)
	fr.runDefers()
	for _, fn := range fr.pfn.Recover {
		fn(fr)
	}
}

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
