package machine

import (
	"fmt"
)

// mergeEqualPhis replaces phis of a block that always hold the same value by one of them.
// It assumes that all phis of a block are equal, and separates those with different values
// until nothing changes.
func (f *Func) mergeEqualPhis() {
	same := make([]Reg, len(f.classes)) // a register that holds the same value
	for r := range same {
		same[r] = Reg(r)
	}
	moves := f.movesTo()
	for _, b := range f.Blocks {
		first := map[Class]Reg{}
		for _, phi := range b.Phis {
			if first[f.classes[phi]] == 0 {
				first[f.classes[phi]] = phi
			}
			same[phi] = first[f.classes[phi]]
		}
	}
	for changed := true; changed; {
		changed = false
		for _, b := range f.Blocks {
			next := make([]Reg, len(b.Phis))
			first := map[string]Reg{}
			for i, phi := range b.Phis {
				key := fmt.Sprint(same[phi])
				for _, from := range moves[phi] {
					if from.Reg != 0 {
						from.Reg = same[from.Reg]
					}
					key += fmt.Sprint("|", from.Reg, from.Text)
				}
				if first[key] == 0 {
					first[key] = phi
				}
				next[i] = first[key]
			}
			for i, phi := range b.Phis {
				changed = changed || same[phi] != next[i]
				same[phi] = next[i]
			}
		}
	}
	f.replaceEqual(same)
}

// movesTo are the operands of each phi, in the order of the edges that lead to it; those
// that are undefined are "".
func (f *Func) movesTo() [][]Operand {
	of := make([][]Operand, len(f.classes))
	for _, b := range f.Blocks {
		for _, e := range b.Exits {
			from := map[Reg]Operand{}
			for _, m := range e.Moves {
				from[m.To] = m.From
			}
			for _, phi := range e.To.Phis {
				of[phi] = append(of[phi], from[phi])
			}
		}
	}
	return of
}

func (f *Func) replaceEqual(same []Reg) {
	for _, b := range f.Blocks {
		b.rename(func(r Reg) Reg { return same[r] })
		phis := b.Phis[:0]
		seen := map[Reg]bool{}
		for _, phi := range b.Phis {
			if !seen[phi] {
				seen[phi] = true
				phis = append(phis, phi)
			}
		}
		b.Phis = phis
		for i := range b.Exits {
			moves := b.Exits[i].Moves[:0]
			set := map[Reg]bool{}
			for _, m := range b.Exits[i].Moves {
				if !set[m.To] {
					set[m.To] = true
					moves = append(moves, m)
				}
			}
			b.Exits[i].Moves = moves
		}
	}
}
