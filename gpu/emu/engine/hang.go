package engine

import (
	"warpbook/gpu/emu/analysis"
	"warpbook/gpu/emu/hang"
)

// This file shows blocks to package hang, as a hang.Block.

func (b *block) Warps() int             { return len(b.warps) }
func (b *block) Carry(warp int) uint32  { return b.warps[warp].carry }
func (b *block) Fragments(warp int) int { return len(b.warps[warp].frags) }

func (b *block) Fragment(warp, i int) hang.Fragment {
	f := &b.warps[warp].frags[i]
	return hang.Fragment{PC: f.pc, Mask: f.mask, State: uint8(f.state), Bar: f.bar}
}

func (b *block) Decisive(warp, i int, visit func(v uint32) bool) {
	w, more := b.warps[warp], true
	f := &w.frags[i]
	b.prog.decisive().Each(int(f.pc), func(p analysis.Place) {
		if p.Predicate {
			more = more && visit(w.preds[p.At]&f.mask)
			return
		}
		part := lanes[uint32](w, uint32(p.At*slotPart))
		for m := f.mask; m != 0 && more; m &= m - 1 {
			more = visit(part[lowest(m)])
		}
	})
}

func (b *block) CanRun(warp, i int) bool {
	w := b.warps[warp]
	f := &w.frags[i]
	return f.state != atBarrier && !(f.state == atSync && !w.together(f)) && !(f.state == atGroup && !w.groupMet(f))
}

func (b *block) Yield(warp, i int) { b.warps[warp].frags[i].waits += spinAfter }

func (b *block) Changes() uint64 { return b.changes }

func (b *block) Ticks() uint64 {
	if !b.prog.decisive().Clock {
		return 0
	}
	return b.clock.reads
}

func (b *block) SetCareful(careful bool) { b.careful = careful || b.hurried }
func (b *block) Activity() uint64        { return b.launch.activity.Load() }
func (b *block) Stir()                   { b.launch.activity.Add(1) }
