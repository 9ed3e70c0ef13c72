package engine

import (
	"iter"
	"math/bits"
	"slices"
	"strings"
)

// bitset is a set of registers.
type bitset []uint64

func newBitset(n int) bitset         { return make(bitset, (n+63)/64) }
func (s bitset) has(i int) bool      { return s[i>>6]>>(i&63)&1 != 0 }
func (s bitset) add(i int)           { s[i>>6] |= 1 << (i & 63) }
func (s bitset) remove(i int)        { s[i>>6] &^= 1 << (i & 63) }
func (s bitset) equal(t bitset) bool { return slices.Equal(s, t) }

// members are the registers of the set.
func (s bitset) members() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range s {
			for ; word != 0; word &= word - 1 {
				if !yield(64*i + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

func (s bitset) fill() {
	for i := range s {
		s[i] = 1<<64 - 1
	}
}

// code is the input of register allocation: ops in their final order, in blocks.
type code struct {
	ops    []*op
	blocks []span // in the order of the program
	regs   int
}

// span is a block: ops [from, to), followed by the blocks with these indices.
type span struct {
	from, to int
	next     []int
}

// unguarded reports whether an op runs in every lane that reaches it.
func (o *op) unguarded() bool { return o.guard == nil }

// maybeUnset finds the registers that some path reads before all lanes have written
// them. Only these are checked while the program runs. A copy of such a register may be
// unset, too. Of the registers in halved, a half may be unset.
func (c *code) maybeUnset() (unset, halved bitset) {
	unset, halved = newBitset(c.regs), newBitset(c.regs)
	assigned := c.assigned()
	for i, b := range c.blocks {
		have := slices.Clone(assigned[i])
		for _, o := range c.ops[b.from:b.to] {
			for _, u := range o.binds {
				if u.value.kind == registerValue && !u.def && !have.has(u.value.reg) {
					unset.add(u.value.reg)
				}
			}
			o.assign(have)
		}
	}
	for again := true; again; {
		again = false
		for _, o := range c.ops {
			if !o.passes(unset, halved) {
				continue
			}
			for _, d := range o.binds {
				if !d.def {
					continue
				}
				half := d.value.width == word && d.part == whole && o.hasHalf(unset, halved)
				if !unset.has(d.value.reg) || half && !halved.has(d.value.reg) {
					unset.add(d.value.reg)
					if again = true; half {
						halved.add(d.value.reg)
					}
				}
			}
		}
	}
	return unset, halved
}

// passes reports whether the op makes unset results of unset sources, which is no fault.
func (o *op) passes(unset, halved bitset) bool {
	return o.pass && o.reads(unset) || o.halfwise() && o.reads(halved)
}

// hasHalf reports whether a source of the op is a half, or has one, that may be unset.
func (o *op) hasHalf(unset, halved bitset) bool {
	for _, u := range o.binds {
		if u.value.kind == registerValue && !u.def && (halved.has(u.value.reg) || u.part != whole && unset.has(u.value.reg)) {
			return true
		}
	}
	return false
}

// halfwise reports whether each half of the op's results depends on the same half of its
// sources alone, or the result on one half of its source.
func (o *op) halfwise() bool {
	if o.in.src == nil {
		return false
	}
	switch o.in.src.Opcode {
	case "and", "or", "xor", "not":
		return true // of registers that have halves, all have 32 bits
	case "cvt":
		return o.binds[0].part != whole
	case "add", "sub", "mul", "fma", "neg", "abs", "min", "max", "ex2", "tanh":
		n := len(o.in.src.Modifiers)
		return n > 0 && strings.HasSuffix(o.in.src.Modifiers[n-1], "16x2")
	}
	return false
}

func (o *op) assign(have bitset) {
	if !o.unguarded() {
		return
	}
	for _, d := range o.binds {
		if d.def {
			have.add(d.value.reg)
		}
	}
}

// reads reports whether the op has a source in the set.
func (o *op) reads(set bitset) bool {
	for _, u := range o.binds {
		if u.value.kind == registerValue && !u.def && set.has(u.value.reg) {
			return true
		}
	}
	return false
}

// assigned is, for each block, the registers that every path to it has written.
func (c *code) assigned() []bitset {
	in := make([]bitset, len(c.blocks))
	for i := range in {
		in[i] = newBitset(c.regs)
		if i > 0 {
			in[i].fill()
		}
	}
	for again := true; again; {
		again = false
		for i, b := range c.blocks {
			out := slices.Clone(in[i])
			for _, o := range c.ops[b.from:b.to] {
				o.assign(out)
			}
			for _, s := range b.next {
				for j := range out {
					if v := in[s][j] & out[j]; v != in[s][j] {
						in[s][j] = v
						again = true
					}
				}
			}
		}
	}
	return in
}

// propagate replaces registers that only ever hold a preset or a copy of another
// register by that value, and drops the moves.
func (c *code) propagate(unset bitset) {
	defs := c.definitions()
	same := map[int]value{}
	for _, o := range c.ops {
		if !o.move || !o.unguarded() {
			continue
		}
		d, s := o.binds[0].value, o.binds[1].value
		if defs[d.reg] != 1 || unset.has(d.reg) {
			continue
		}
		if s.kind == registerValue && (defs[s.reg] != 1 || unset.has(s.reg)) {
			continue
		}
		same[d.reg] = s
		o.dropped = true
	}
	for _, o := range c.ops {
		for _, b := range o.binds {
			for !b.def && b.value.kind == registerValue {
				v, ok := same[b.value.reg]
				if !ok {
					break
				}
				b.value = v
			}
		}
	}
}

// live is, for each block, the registers that are read after its end before they are
// written. A guarded write ends no life: lanes without the guard keep the old value.
func (c *code) live() (in, out []bitset) {
	in, out = make([]bitset, len(c.blocks)), make([]bitset, len(c.blocks))
	for i := range c.blocks {
		in[i], out[i] = newBitset(c.regs), newBitset(c.regs)
	}
	for again := true; again; {
		again = false
		for i := len(c.blocks) - 1; i >= 0; i-- {
			b := c.blocks[i]
			for _, s := range b.next {
				for j, v := range in[s] {
					out[i][j] |= v
				}
			}
			now := slices.Clone(out[i])
			for k := b.to - 1; k >= b.from; k-- {
				c.ops[k].step(now)
			}
			if !now.equal(in[i]) {
				in[i] = now
				again = true
			}
		}
	}
	return in, out
}

// step moves a live set backwards over an op.
func (o *op) step(live bitset) {
	if o.dropped {
		return
	}
	for _, b := range o.binds {
		if b.def && o.unguarded() {
			live.remove(b.value.reg)
		}
	}
	for _, b := range o.binds {
		if b.value.kind == registerValue && (!b.def || !o.unguarded()) {
			live.add(b.value.reg)
		}
	}
}

// interval is the life of a register, as op numbers times two; a destination's life
// begins one later than the end of the sources that it may replace.
type interval struct{ reg, from, to int }

// intervals are the lives of all registers, by their start.
func (c *code) intervals() []interval {
	lives := make([]interval, c.regs)
	for r := range lives {
		lives[r] = interval{r, 1 << 60, -1}
	}
	touch := func(r, at int) {
		lives[r].from = min(lives[r].from, at)
		lives[r].to = max(lives[r].to, at)
	}
	in, out := c.live()
	for i, b := range c.blocks {
		for r := range in[i].members() {
			touch(r, 2*b.from)
		}
		for r := range out[i].members() {
			touch(r, 2*b.to)
		}
		for k := b.from; k < b.to; k++ {
			c.ops[k].touch(k, touch)
		}
	}
	lives = slices.DeleteFunc(lives, func(l interval) bool { return l.to < 0 })
	slices.SortStableFunc(lives, func(a, b interval) int { return a.from - b.from })
	return lives
}

// touch reports each register of an op. If there are several destinations, none may take
// the slot of a source, which is read after the first one is written.
func (o *op) touch(k int, touch func(r, at int)) {
	if o.dropped {
		return
	}
	defs := 0
	for _, b := range o.binds {
		if b.def {
			defs++
		}
	}
	for _, b := range o.binds {
		if b.value.kind != registerValue {
			continue
		}
		at := 2 * k
		if b.def && defs == 1 {
			at++
		}
		touch(b.value.reg, at)
		if b.def {
			touch(b.value.reg, 2*k+1)
		}
	}
}

// slots assigns a place to each register: an index to each predicate, and an offset to
// each other register, shared by registers whose lives do not overlap. next is the first
// free offset; the new one is returned.
func (c *code) slots(widths []width, next int) (place []uint32, end, preds int) {
	place = make([]uint32, c.regs)
	preds = always + 1
	free := map[int][]uint32{}
	var active []interval
	for _, l := range c.intervals() {
		w := widths[l.reg]
		if w == predicate {
			place[l.reg] = uint32(preds)
			preds++
			continue
		}
		active = slices.DeleteFunc(active, func(a interval) bool {
			if a.to >= l.from {
				return false
			}
			size := widths[a.reg].slot()
			free[size] = append(free[size], place[a.reg])
			return true
		})
		size := w.slot()
		if f := free[size]; len(f) > 0 {
			place[l.reg] = f[len(f)-1]
			free[size] = f[:len(f)-1]
		} else {
			place[l.reg] = uint32(next)
			next += size
		}
		active = append(active, l)
	}
	return place, next, preds
}
