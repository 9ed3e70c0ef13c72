package machine

import "slices"

// point is a position in a block: an instruction, -1 for the phis at its start, the number
// of instructions for its exits.
type point struct{ block, at int }

// lives knows where registers are alive. Each register is written at one point: by an
// instruction, by a phi, or by a Copy, whose later changes do not count.
type lives struct {
	f    *Func
	def  []point
	uses [][]point // by register, in the order of blocks and instructions
	in   [][]uint64
	out  [][]uint64
}

func newLives(f *Func) *lives {
	l := &lives{f: f, def: make([]point, len(f.classes)), uses: make([][]point, len(f.classes))}
	for i := range l.def {
		l.def[i].block = -1
	}
	words := (len(f.classes) + 63) / 64
	for i, b := range f.Blocks {
		b.index = i
		l.in, l.out = append(l.in, make([]uint64, words)), append(l.out, make([]uint64, words))
		l.scan(i, b)
	}
	before := make([][]int, len(f.Blocks))
	for i, b := range f.Blocks {
		for _, e := range b.Exits {
			before[e.To.index] = append(before[e.To.index], i)
		}
	}
	for r := range l.uses {
		for _, use := range l.uses[r] {
			l.spread(Reg(r), use, before)
		}
	}
	return l
}

// scan notes the definitions and uses of a block.
func (l *lives) scan(i int, b *Block) {
	for _, r := range b.Phis {
		l.def[r] = point{i, -1}
	}
	for at, in := range b.Instrs {
		for k, a := range in.Args {
			if a.Reg == 0 {
				continue
			}
			result := slices.Contains(in.Args[:in.Defs], a)
			if k < in.Defs && l.def[a.Reg].block < 0 {
				l.def[a.Reg] = point{i, at}
			}
			switch {
			case in.Early && !result || in.Defs > 1 && result: // its register is that of no other result
				l.uses[a.Reg] = append(l.uses[a.Reg], point{i, at + 1})
			case k >= in.Defs:
				l.uses[a.Reg] = append(l.uses[a.Reg], point{i, at})
			}
		}
	}
	for _, e := range b.Exits {
		if e.When != 0 {
			l.uses[e.When] = append(l.uses[e.When], point{i, len(b.Instrs)})
		}
		for _, m := range e.Moves {
			if m.From.Reg != 0 {
				l.uses[m.From.Reg] = append(l.uses[m.From.Reg], point{i, len(b.Instrs)})
			}
		}
	}
}

func has(set []uint64, r Reg) bool { return set[r>>6]>>(r&63)&1 != 0 }
func add(set []uint64, r Reg)      { set[r>>6] |= 1 << (r & 63) }

// spread marks the blocks between the definition of a register and a use. Moves of an exit
// read it at the end of their block.
func (l *lives) spread(r Reg, use point, before [][]int) {
	if use.at == len(l.f.Blocks[use.block].Instrs) {
		add(l.out[use.block], r)
	}
	if l.def[r].block == use.block && l.def[r].at < use.at {
		return
	}
	work := []int{use.block}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if has(l.in[b], r) {
			continue
		}
		add(l.in[b], r)
		for _, p := range before[b] {
			add(l.out[p], r)
			if l.def[r].block != p {
				work = append(work, p)
			}
		}
	}
}

// alive reports whether a register holds a value that is read after a point.
func (l *lives) alive(r Reg, p point) bool {
	here := l.def[r].block == p.block
	if here && l.def[r].at > p.at && !has(l.in[p.block], r) {
		return false
	}
	if !here && !has(l.in[p.block], r) {
		return false
	}
	if has(l.out[p.block], r) {
		return true
	}
	for _, use := range l.uses[r] {
		if use.block == p.block && use.at > p.at {
			return true
		}
	}
	return false
}

// interfere reports whether two registers hold values at the same time.
func (l *lives) interfere(a, b Reg) bool {
	return l.alive(a, l.def[b]) || l.alive(b, l.def[a])
}
