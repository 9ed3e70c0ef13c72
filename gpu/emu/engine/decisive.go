package engine

import (
	"math/bits"
	"slices"

	"warpbook/gpu/ptx"
)

// This file finds the registers that decide how a thread goes on: those that reach a branch,
// an address or an operation that others see. Two states of a thread in which these are equal
// lead to the same steps while memory does not change.
//
// A branch decides nothing if its ways meet again without having changed anything that
// others see, or a register that decides. Such are the branches of the waits of libcu++, which
// read a clock to sleep longer and longer, and leave by memory alone.

// registers are parts of slots of 32 bits a lane, then predicates, one bit each.
type registers []uint64

func (r registers) add(i int)      { r[i/64] |= 1 << (i % 64) }
func (r registers) remove(i int)   { r[i/64] &^= 1 << (i % 64) }
func (r registers) has(i int) bool { return r[i/64]>>(i%64)&1 != 0 }

// each visits the registers in their order.
func (r registers) each(visit func(i int)) {
	for k, word := range r {
		for ; word != 0; word &= word - 1 {
			visit(64*k + bits.TrailingZeros64(word))
		}
	}
}

const slotPart = 128 // bytes of 32 lanes of 32 bits

// decisive are the registers that decide, before each instruction.
type decisive struct {
	prog  *Program
	parts int         // of slots
	at    []registers // by instruction
	clock bool        // a value of a clock decides
}

func (p *Program) decisive() *decisive {
	p.decides.Do(func() { p.decisiveOnes = p.findDecisive() })
	return p.decisiveOnes
}

func (p *Program) findDecisive() *decisive {
	d := &decisive{prog: p, parts: p.slotBytes / slotPart}
	idle := p.idleBranches(d)
	for again := true; again; {
		again = false
		d.find(idle)
		for pc, way := range idle {
			if slices.ContainsFunc(way, d.sets) {
				delete(idle, pc)
				again = true
			}
		}
	}
	for pc := range p.code {
		d.clock = d.clock || readsClock(&p.code[pc]) && d.sets(pc)
	}
	return d
}

// find goes through the code backwards until nothing changes.
func (d *decisive) find(idle map[int][]int) {
	p, words := d.prog, (d.parts+d.prog.preds+63)/64
	all := make([]uint64, (len(p.code)+1)*words)
	d.at = make([]registers, len(p.code)+1)
	for pc := range d.at {
		d.at[pc] = all[pc*words:][:words]
	}
	now := make(registers, words)
	for again := true; again; {
		again = false
		for pc := len(p.code) - 1; pc >= 0; pc-- {
			d.before(pc, now, idle[pc] == nil && decides(&p.code[pc]))
			if !slices.Equal(now, d.at[pc]) {
				copy(d.at[pc], now)
				again = true
			}
		}
	}
}

// before computes the registers that decide before an instruction.
func (d *decisive) before(pc int, now registers, decides bool) {
	in, operands := &d.prog.code[pc], d.prog.operands[pc]
	needed := decides || d.sets(pc)
	clear(now)
	d.prog.goesTo(pc, func(to int) {
		for i, word := range d.at[to] {
			now[i] |= word
		}
	})
	for _, o := range operands {
		if o.def && in.guard == always {
			d.eachPart(o, now.remove)
		}
	}
	for _, o := range operands {
		data := in.mem != nil && in.mem.kind == store && slices.Contains(in.mem.regs[:in.mem.count], o.at) && !o.predicate && o.at != in.a
		if needed && !o.def && !data {
			d.eachPart(o, now.add)
		}
	}
}

// sets reports whether an instruction sets a register that decides after it.
func (d *decisive) sets(pc int) (sets bool) {
	for _, o := range d.prog.operands[pc] {
		if o.def {
			d.prog.goesTo(pc, func(to int) {
				d.eachPart(o, func(i int) { sets = sets || d.at[to].has(i) })
			})
		}
	}
	return sets
}

// eachPart visits the registers of an operand.
func (d *decisive) eachPart(o operand, visit func(i int)) {
	if o.predicate {
		visit(d.parts + int(o.at))
		return
	}
	visit(int(o.at / slotPart))
	if o.double {
		visit(int(o.at/slotPart) + 1)
	}
}

// decides reports whether the operands of an instruction decide how its thread or others
// go on. A shuffle or a vote only passes values on.
func decides(in *instr) bool {
	if in.flow == warpSync && in.src != nil && !slices.Contains([]string{"bar", "mma", "wmma"}, in.src.Opcode) {
		return false
	}
	return in.mem != nil || in.flow != next && in.flow != checked || in.src != nil && notFollowed[in.src.Opcode]
}

// idleBranches are the branches on a clock whose ways meet again without a change that others
// see; for each the instructions on its ways.
func (p *Program) idleBranches(d *decisive) map[int][]int {
	ways := map[int][]int{}
	timed := make(registers, (d.parts+p.preds+63)/64) // registers that a clock reaches
	if !slices.ContainsFunc(p.code, func(in instr) bool { return readsClock(&in) }) {
		return ways
	}
	for again := true; again; {
		again = false
		for pc, operands := range p.operands {
			in := &p.code[pc]
			from := readsClock(in)
			for _, o := range operands {
				d.eachPart(o, func(i int) { from = from || !o.def && timed.has(i) })
			}
			if from {
				again = d.addDefs(timed, pc) || again
			}
			if in.flow != branch || !timed.has(d.parts+int(in.guard)) || ways[pc] != nil {
				continue
			}
			if way := p.waysOf(pc); way != nil {
				ways[pc], again = way, true
				for _, on := range way {
					d.addDefs(timed, on) // the branch sets it in time
				}
			}
		}
	}
	return ways
}

// addDefs adds what an instruction sets, and reports whether any of it is new.
func (d *decisive) addDefs(to registers, pc int) (more bool) {
	for _, o := range d.prog.operands[pc] {
		if o.def {
			d.eachPart(o, func(i int) { more = more || !to.has(i); to.add(i) })
		}
	}
	return more
}

func readsClock(in *instr) bool {
	return in.src != nil && slices.ContainsFunc(in.src.Operands, func(o ptx.Operand) bool {
		return o.Kind == ptx.SpecialOperand && clocks[o.Symbol]
	})
}
