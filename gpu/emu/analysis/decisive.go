package analysis

import (
	"math/bits"
	"slices"
)

// This file finds the registers that decide how a thread goes on: those that reach a branch,
// an address or an operation that others see. Two states of a thread in which these are equal
// lead to the same steps while memory does not change.
//
// A branch decides nothing if its ways meet again without having changed anything that
// others see, or a register that decides. Such are the branches of the waits of libcu++, which
// read a clock to sleep longer and longer, and leave by memory alone.

// registers are parts of the register file, then predicates, one bit each.
type registers []uint64

func (r registers) add(i int)      { r[i/64] |= 1 << (i % 64) }
func (r registers) remove(i int)   { r[i/64] &^= 1 << (i % 64) }
func (r registers) has(i int) bool { return r[i/64]>>(i%64)&1 != 0 }

// Decisive are the registers that decide, before each instruction.
type Decisive struct {
	Clock bool // a value of a clock decides

	code  Code
	parts int         // of the register file
	words int         // of a set
	at    []registers // by instruction
}

// FindDecisive finds them in code whose register file has so many parts and predicates.
func (c Code) FindDecisive(parts, predicates int) *Decisive {
	d := &Decisive{code: c, parts: parts, words: (parts + predicates + 63) / 64}
	idle := d.idleBranches()
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
	for pc := range c {
		d.Clock = d.Clock || c[pc].Clock && d.sets(pc)
	}
	return d
}

// Each visits the registers that decide before an instruction, in their order.
func (d *Decisive) Each(pc int, visit func(p Place)) {
	for k, word := range d.at[pc] {
		for ; word != 0; word &= word - 1 {
			if i := 64*k + bits.TrailingZeros64(word); i < d.parts {
				visit(Place{At: i})
			} else {
				visit(Place{Predicate: true, At: i - d.parts})
			}
		}
	}
}

// eachBit visits the registers of an operand by their places in a set.
func (d *Decisive) eachBit(o Operand, visit func(i int)) {
	o.each(func(p Place) {
		if p.Predicate {
			visit(d.parts + p.At)
		} else {
			visit(p.At)
		}
	})
}

// find goes through the code backwards until nothing changes.
func (d *Decisive) find(idle map[int][]int) {
	all := make([]uint64, (len(d.code)+1)*d.words)
	d.at = make([]registers, len(d.code)+1)
	for pc := range d.at {
		d.at[pc] = all[pc*d.words:][:d.words]
	}
	now := make(registers, d.words)
	for again := true; again; {
		again = false
		for pc := len(d.code) - 1; pc >= 0; pc-- {
			d.before(pc, now, idle[pc] == nil && d.code[pc].Decides)
			if !slices.Equal(now, d.at[pc]) {
				copy(d.at[pc], now)
				again = true
			}
		}
	}
}

// before computes the registers that decide before an instruction.
func (d *Decisive) before(pc int, now registers, decides bool) {
	in := &d.code[pc]
	needed := decides || d.sets(pc)
	clear(now)
	d.code.goesTo(pc, func(to int) {
		for i, word := range d.at[to] {
			now[i] |= word
		}
	})
	for _, o := range in.Operands {
		if o.Def && !in.Guarded {
			d.eachBit(o, now.remove)
		}
	}
	for _, o := range in.Operands {
		if needed && !o.Def && !o.Data {
			d.eachBit(o, now.add)
		}
	}
}

// sets reports whether an instruction sets a register that decides after it.
func (d *Decisive) sets(pc int) (sets bool) {
	for _, o := range d.code[pc].Operands {
		if o.Def {
			d.code.goesTo(pc, func(to int) {
				d.eachBit(o, func(i int) { sets = sets || d.at[to].has(i) })
			})
		}
	}
	return sets
}

// idleBranches are the branches on a clock whose ways meet again without a change that others
// see; for each the instructions on its ways.
func (d *Decisive) idleBranches() map[int][]int {
	ways := map[int][]int{}
	timed := make(registers, d.words) // registers that a clock reaches
	if !slices.ContainsFunc(d.code, func(in Instruction) bool { return in.Clock }) {
		return ways
	}
	for again := true; again; {
		again = false
		for pc := range d.code {
			in := &d.code[pc]
			from := in.Clock
			for _, o := range in.Operands {
				d.eachBit(o, func(i int) { from = from || !o.Def && timed.has(i) })
			}
			if from {
				again = d.addDefs(timed, pc) || again
			}
			if in.Flow != Branch || !in.Guarded || !timed.has(d.parts+in.Guard) || ways[pc] != nil {
				continue
			}
			if way := d.code.waysOf(pc); way != nil {
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
func (d *Decisive) addDefs(to registers, pc int) (more bool) {
	for _, o := range d.code[pc].Operands {
		if o.Def {
			d.eachBit(o, func(i int) { more = more || !to.has(i); to.add(i) })
		}
	}
	return more
}
