package compile

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// orderPhis corrects a program for the engine, which assigns the phis of a block one
// after the other instead of at once: for a, b = b, a in a loop, b would become the new
// a. A phi that reads an earlier phi of its block reads a copy instead, which is taken
// first.
func (p *Program) orderPhis() {
	for f := range p.functions() {
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

// functions are the functions that the interpreter will run.
func (p *Program) functions() map[*ssa.Function]bool {
	seen, mine := map[*ssa.Function]bool{}, map[*types.Package]bool{p.Main.Pkg: true}
	p.visitPackage(p.Main, seen)
	for q := range p.others {
		mine[q.Pkg] = true
		p.visitPackage(q, seen)
	}
	for _, t := range p.SSA.RuntimeTypes() { // compiled code calls their methods
		for m := range p.SSA.MethodSets.MethodSet(t).Methods() {
			if mine[m.Obj().Pkg()] && !types.IsInterface(t) {
				visit(p.SSA.MethodValue(m), seen)
			}
		}
	}
	return seen
}

func (p *Program) visitPackage(q *ssa.Package, seen map[*ssa.Function]bool) {
	for _, m := range q.Members {
		switch m := m.(type) {
		case *ssa.Function:
			visit(m, seen)
		case *ssa.Type:
			if n, ok := m.Type().(*types.Named); ok && n.TypeParams().Len() == 0 {
				for fn := range n.Methods() {
					visit(p.SSA.FuncValue(fn), seen)
				}
			}
		}
	}
}

func visit(f *ssa.Function, seen map[*ssa.Function]bool) {
	if f == nil || seen[f] {
		return
	}
	seen[f] = true
	var operands [16]*ssa.Value
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			for _, v := range in.Operands(operands[:0]) {
				if g, ok := (*v).(*ssa.Function); ok {
					visit(g, seen)
				}
			}
		}
	}
}
