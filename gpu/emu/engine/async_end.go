package engine

import (
	"maps"
	"slices"

	"warpbook/gpu"
)

// This file checks that a block outlives the copies that use its shared memory.

// checksAsync reports whether the rules are checked: as races are.
func (b *block) checksAsync() bool { return b.races != nil }

// raceWith adds the earlier access to a race.
func (b *block) raceWith(first *instr, by *warp, lane int) {
	b.fault.Other = &gpu.Site{Instruction: first.src.Name(), Line: first.src.Pos.Line, Source: b.prog.sourceOrCall(first), Thread: by.block.thread(by.index*32 + lane)}
}

// outlives is a fault if a block ends while the copy engine still uses its shared memory.
func (b *block) outlives() {
	if !b.checksAsync() || b.fault != nil {
		return
	}
	if b.filled > 0 {
		for _, at := range slices.Sorted(maps.Keys(b.mbarriers)) {
			if m := b.mbarriers[at]; len(m.bulk) > 0 {
				c := &m.bulk[0]
				by := b.issuer(c)
				by.fail(&b.prog.code[c.PC], c.Lane, gpu.ErrRace, "the block ends before this copy into its shared memory has ended: wait for its mbarrier")
				b.fault = by.block.fault
				return
			}
		}
	}
	for _, w := range b.warps {
		r, committed := w.bulk.First()
		if r == nil {
			continue
		}
		remedy := "run cp.async.bulk.commit_group after it, and cp.async.bulk.wait_group.read before the end"
		if committed {
			remedy = "run cp.async.bulk.wait_group.read first"
		}
		w.fail(&b.prog.code[r.PC], r.Lane, gpu.ErrRace, "the block ends before this copy has read its shared memory: %s", remedy)
		return
	}
}
