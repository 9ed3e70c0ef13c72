package compile

import "golang.org/x/tools/go/ssa"

// orderPhis corrects functions for the engine, which assigns the phis of a block one
// after the other instead of at once: for a, b = b, a in a loop, b would become the new
// a. A phi that reads an earlier phi of its block reads a copy instead, which is taken
// first.
func orderPhis(functions map[*ssa.Function]bool) {
	for f := range functions {
		for _, b := range f.Blocks {
			orderBlock(b)
		}
	}
}

func orderBlock(b *ssa.BasicBlock) {
	assigned, copies := map[ssa.Value]bool{}, map[ssa.Value]*ssa.Phi{}
	var first []ssa.Instruction
	for _, in := range b.Instrs {
		phi, ok := in.(*ssa.Phi)
		if !ok {
			break
		}
		for i, v := range phi.Edges {
			if !assigned[v] {
				continue
			}
			if copies[v] == nil {
				copies[v] = copyOf(v.(*ssa.Phi))
				first = append(first, copies[v])
			}
			phi.Edges[i] = copies[v]
		}
		assigned[phi] = true
	}
	if len(first) > 0 {
		b.Instrs = append(first, b.Instrs...)
	}
}

// copyOf is a phi that holds the previous value of another phi, for each edge into its
// block.
func copyOf(phi *ssa.Phi) *ssa.Phi {
	c := *phi
	c.Edges = make([]ssa.Value, len(phi.Edges))
	for i := range c.Edges {
		c.Edges[i] = phi
	}
	return &c
}
