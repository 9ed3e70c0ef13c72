package machine

// hoist makes the moves of an exit before the branch where the other ways do not read the
// registers: it saves a block of the edge's own, and a jump. Moves of an exit that leaves a
// loop stay on it.
func (f *Func) hoist(c *classesOf) {
	for _, b := range f.Blocks {
		if len(b.Exits) < 2 {
			continue
		}
		for i := range b.Exits {
			e := &b.Exits[i]
			if len(e.Moves) == 0 || e.To.Depth < b.Depth || !c.free(b, i) {
				continue
			}
			for _, m := range f.sequence(e.Moves) {
				b.Instrs = append(b.Instrs, Instr{Format: "mov." + f.classes[m.To].String() + " $0, $1", Args: []Operand{{Reg: m.To}, m.From}, Defs: 1, Pure: true})
			}
			e.Moves = nil
		}
	}
}

// free reports whether nothing but its own way reads the registers that an exit sets.
func (c *classesOf) free(b *Block, exit int) bool {
	for _, m := range b.Exits[exit].Moves {
		for i, other := range b.Exits {
			if other.When == m.To || i != exit && c.needs(other, m.To) {
				return false
			}
		}
	}
	return true
}

// needs reports whether an exit or what follows it reads a register as it is at the end of
// the block.
func (c *classesOf) needs(e Exit, r Reg) bool {
	set := false
	for _, m := range e.Moves {
		if m.From.Reg == r {
			return true
		}
		set = set || m.To == r
	}
	for _, phi := range e.To.Phis {
		if phi == r && !set { // a phi whose operand has its register
			return true
		}
	}
	for _, member := range c.members[c.find(r)] {
		if has(c.in[e.To.index], member) {
			return true
		}
	}
	return false
}
