package engine

import (
	"fmt"

	"warpbook/gpu/ptx"
)

// This file finds threads that go past a barrier of the block: they take a branch behind
// which no barrier comes, do something else, and exit, while others wait. Threads that only
// return are excused: a bounds check before a barrier is correct on a GPU.

// leaving is the way of a branch behind which no barrier of the block comes.
type leaving uint8

const (
	stays      leaving = iota
	takenGoes          // the lanes that take the branch
	othersGo           // the others
	mostPasses = 64    // of the analysis through the code, for loops in loops
)

// findLeaving finds where threads still have something to do, and the branches by which some threads of a block, but not all, may go past
// its barriers and do something else.
func (p *Program) findLeaving() {
	comes := p.reaches(func(in *instr) bool {
		return in.flow == blockSync && in.sub != barrierArrive && !in.x.hasD2
	})
	p.acts = p.reaches(func(in *instr) bool {
		return in.mem != nil && in.mem.kind != load && (in.mem.space == ptx.Global || in.mem.space == ptx.Shared || in.mem.space == ptx.Generic)
	})
	var varies map[operand]bool
	for i := range p.code[:max(0, len(p.code)-1)] {
		in := &p.code[i]
		if in.flow != branch || comes[in.target] == comes[i+1] {
			continue
		}
		way, to := takenGoes, in.target
		if comes[to] {
			way, to = othersGo, int32(i+1)
		}
		if varies == nil {
			varies = p.varying()
		}
		if p.acts[to] && varies[operand{at: in.guard, predicate: true}] {
			in.leaves = way
		}
	}
}

// reaches marks the instructions that are of a kind, or from which one may be reached.
func (p *Program) reaches(kind func(in *instr) bool) []bool {
	found := make([]bool, len(p.code)+1)
	for again, pass := true, 0; again && pass < mostPasses; pass++ {
		again = false
		for i := len(p.code) - 1; i >= 0; i-- {
			now := kind(&p.code[i])
			p.goesTo(i, func(to int) { now = now || found[to] })
			if now != found[i] {
				found[i], again = now, true
			}
		}
	}
	return found
}

// goesTo visits the instructions that may follow one.
func (p *Program) goesTo(i int, visit func(to int)) {
	switch in := &p.code[i]; in.flow {
	case jump:
		visit(int(in.target))
	case branch:
		visit(int(in.target))
		if in.guard != always {
			visit(i + 1)
		}
	case indexed:
		for _, to := range in.x.targets {
			visit(int(to))
		}
	case leave:
		if in.guard != always {
			visit(i + 1)
		}
	default:
		visit(i + 1)
	}
}

// varying are the registers that may differ from thread to thread of a block.
func (p *Program) varying() map[operand]bool {
	varies := map[operand]bool{}
	for _, s := range p.presets {
		if s.value.kind == threadValue || s.value.kind == specialValue && laneSpecials[s.value.name] != nil {
			varies[operand{at: s.offset, predicate: s.value.width == predicate}] = true
		}
	}
	for again := true; again; {
		again = false
		for pc, operands := range p.operands {
			in := &p.code[pc]
			from := in.mem != nil && in.mem.kind != store && in.mem.space != ptx.Parameter && in.mem.space != ptx.Const
			for _, o := range operands {
				from = from || !o.def && varies[operand{at: o.at, predicate: o.predicate}]
			}
			for _, o := range operands {
				if to := (operand{at: o.at, predicate: o.predicate}); from && o.def && !varies[to] {
					varies[to], again = true, true
				}
			}
		}
	}
	return varies
}

// goesPast notes the lanes of a branch that go past the barriers of the block.
func (w *warp) goesPast(in *instr, taken, mask uint32) {
	if in.leaves == othersGo {
		taken = mask &^ taken
	}
	if taken != 0 {
		w.past |= taken
		w.block.pastBy = in
	}
}

// wentPast describes the threads that have gone past a barrier and exited; "" for none.
func (b *block) wentPast() string {
	var set ranges
	for _, w := range b.warps {
		set.add(w.index*32, w.past&^w.alive)
	}
	if len(set) == 0 {
		return ""
	}
	return fmt.Sprintf("%v have gone past it, by the branch at %s, and exited", set, b.prog.placeOf(b.pastBy))
}
