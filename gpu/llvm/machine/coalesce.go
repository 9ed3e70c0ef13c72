package machine

import (
	"cmp"
	"slices"
)

// coalesce gives the two sides of moves and copies one register where their lifetimes do
// not overlap, and replaces registers everywhere.
func (f *Func) coalesce() {
	c := &classesOf{lives: newLives(f), parent: make([]Reg, len(f.classes)), members: make([][]Reg, len(f.classes))}
	for r := range c.parent {
		c.parent[r], c.members[r] = Reg(r), []Reg{Reg(r)}
	}
	for _, pair := range f.pairs() {
		c.join(pair[0], pair[1])
	}
	for _, b := range f.Blocks {
		b.rename(c.find)
	}
	f.hoist(c)
}

// pairs are the two sides of copies and moves, those of the innermost loops first.
func (f *Func) pairs() (list [][2]Reg) {
	blocks := slices.Clone(f.Blocks)
	slices.SortStableFunc(blocks, func(a, b *Block) int { return cmp.Compare(b.Depth, a.Depth) })
	for _, b := range blocks {
		for _, in := range b.Instrs {
			if in.Copy && in.Args[1].Reg != 0 {
				list = append(list, [2]Reg{in.Args[0].Reg, in.Args[1].Reg})
			}
		}
		for _, e := range b.Exits {
			for _, m := range e.Moves {
				if m.From.Reg != 0 {
					list = append(list, [2]Reg{m.To, m.From.Reg})
				}
			}
		}
	}
	return list
}

// classesOf joins registers. Members of a class never interfere.
type classesOf struct {
	*lives
	parent  []Reg
	members [][]Reg // of roots
}

func (c *classesOf) find(r Reg) Reg {
	for c.parent[r] != r {
		c.parent[r] = c.parent[c.parent[r]]
		r = c.parent[r]
	}
	return r
}

// join makes two registers one unless members of their classes interfere.
func (c *classesOf) join(a, b Reg) {
	a, b = c.find(a), c.find(b)
	if a == b || c.f.classes[a] != c.f.classes[b] {
		return
	}
	for _, x := range c.members[a] {
		for _, y := range c.members[b] {
			if c.interfere(x, y) {
				return
			}
		}
	}
	c.parent[b] = a
	c.members[a] = append(c.members[a], c.members[b]...)
	c.members[b] = nil
}

// rename replaces registers, and drops copies and moves of a register to itself.
func (b *Block) rename(to func(Reg) Reg) {
	kept := b.Instrs[:0]
	for _, in := range b.Instrs {
		args := make([]Operand, len(in.Args))
		for i, a := range in.Args {
			if a.Reg != 0 {
				a.Reg = to(a.Reg)
			}
			args[i] = a
		}
		in.Args = args
		if !in.Copy || args[0] != args[1] {
			kept = append(kept, in)
		}
	}
	b.Instrs = kept
	for i := range b.Phis {
		b.Phis[i] = to(b.Phis[i])
	}
	for i := range b.Exits {
		e := &b.Exits[i]
		if e.When != 0 {
			e.When = to(e.When)
		}
		moves := e.Moves[:0]
		for _, m := range e.Moves {
			m.To = to(m.To)
			if m.From.Reg != 0 {
				m.From.Reg = to(m.From.Reg)
			}
			if m.From.Reg != m.To {
				moves = append(moves, m)
			}
		}
		e.Moves = moves
	}
}

// sequence orders parallel moves so that none reads a register that another has written.
// A register of a cycle is kept in a new one.
func (f *Func) sequence(moves []Move) (list []Move) {
	left := append([]Move(nil), moves...)
	for len(left) > 0 {
		ready := -1
		for i, m := range left {
			if !reads(left, m.To, i) {
				ready = i
				break
			}
		}
		if ready < 0 {
			spare := f.NewReg(f.classes[left[0].To])
			list = append(list, Move{spare, Operand{Reg: left[0].To}})
			for i := range left {
				if left[i].From.Reg == left[0].To {
					left[i].From.Reg = spare
				}
			}
			continue
		}
		list = append(list, left[ready])
		left = append(left[:ready], left[ready+1:]...)
	}
	return list
}

// reads reports whether a move other than the i-th reads a register.
func reads(moves []Move, r Reg, i int) bool {
	for k, m := range moves {
		if k != i && m.From.Reg == r {
			return true
		}
	}
	return false
}
