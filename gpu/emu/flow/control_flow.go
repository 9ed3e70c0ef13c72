package flow

import (
	"slices"

	"warpbook/gpu/ptx"
)

// Graph is the control flow of an entry. Blocks are sequences of instructions that are
// entered at the start and left at the end.
type Graph struct {
	Blocks []node
	Order  []int // reachable blocks in reverse postorder, loops contiguous
}

type node struct {
	From, To int // instructions [from, to)
	Next     []int
	loop     map[int]bool // blocks of the innermost loop that it is in, or nil
}

// Ends reports whether, and how, an instruction ends a block.
func Ends(in *ptx.Instruction) bool {
	switch in.Opcode {
	case "bra", "brx", "ret", "exit", "trap":
		return true
	}
	return in.Opcode == "call" && len(in.Operands) > 0 // one with a guard, see inline.go
}

// NewGraph finds the blocks of a function and their order.
func NewGraph(fn *ptx.Function) *Graph {
	n := len(fn.Code)
	leader := make([]bool, n+1)
	leader[0] = true
	for _, at := range fn.Labels {
		leader[at] = true
	}
	for i := range fn.Code {
		if Ends(&fn.Code[i]) {
			leader[i+1] = true
		}
	}
	g := &Graph{}
	blockAt := make([]int, n+1)
	for i := range n + 1 {
		if leader[i] {
			if i > 0 {
				g.Blocks[len(g.Blocks)-1].To = i
			}
			g.Blocks = append(g.Blocks, node{From: i, To: n})
		}
		blockAt[i] = len(g.Blocks) - 1
	}
	for b := range g.Blocks {
		g.Blocks[b].Next = successors(fn, &g.Blocks[b], blockAt, b+1 < len(g.Blocks))
	}
	g.findLoops()
	g.sort()
	return g
}

// successors are the blocks that follow a block. A block after the last instruction is
// where control leaves without a ret.
func successors(fn *ptx.Function, b *node, blockAt []int, more bool) []int {
	fall := []int{}
	if more {
		fall = append(fall, blockAt[b.To])
	}
	if b.From == b.To {
		return nil
	}
	last := &fn.Code[b.To-1]
	if !Ends(last) {
		return fall
	}
	var next []int
	switch last.Opcode {
	case "bra", "ret", "call": // ret and call have a label in inlined code
		if len(last.Operands) > 0 {
			next = append(next, blockAt[fn.Labels[last.Operands[0].Symbol]])
		}
	case "brx":
		for _, label := range fn.Tables[last.Operands[1].Symbol] {
			next = append(next, blockAt[fn.Labels[label]])
		}
	}
	if last.Guard >= 0 {
		next = append(next, fall...)
	}
	return next
}

// findLoops finds the innermost natural loop of each block: the blocks that reach a back
// edge's source without passing its target.
func (g *Graph) findLoops() {
	before := make([][]int, len(g.Blocks))
	for b := range g.Blocks {
		for _, s := range g.Blocks[b].Next {
			before[s] = append(before[s], b)
		}
	}
	loops := map[int]map[int]bool{} // by header
	for _, e := range g.backEdges() {
		header := e[1]
		body := loops[header]
		if body == nil {
			body = map[int]bool{header: true}
			loops[header] = body
		}
		for work := []int{e[0]}; len(work) > 0; {
			b := work[len(work)-1]
			work = work[:len(work)-1]
			if !body[b] {
				body[b] = true
				work = append(work, before[b]...)
			}
		}
	}
	for _, body := range loops {
		for b := range body {
			if old := g.Blocks[b].loop; old == nil || len(body) < len(old) {
				g.Blocks[b].loop = body
			}
		}
	}
}

// backEdges are the edges to a block that the depth-first search has not left.
func (g *Graph) backEdges() (edges [][2]int) {
	const (
		unseen = iota
		open
		done
	)
	state := make([]int, len(g.Blocks))
	var visit func(b int)
	visit = func(b int) {
		state[b] = open
		for _, s := range g.Blocks[b].Next {
			switch state[s] {
			case unseen:
				visit(s)
			case open:
				edges = append(edges, [2]int{b, s})
			}
		}
		state[b] = done
	}
	visit(0)
	return edges
}

// sort orders the blocks. Edges that leave a loop are followed first, so that the code
// after a loop stands after all of its blocks: lanes that have left wait there for those
// that are still inside.
func (g *Graph) sort() {
	seen := make([]bool, len(g.Blocks))
	var visit func(b int)
	visit = func(b int) {
		seen[b] = true
		next := slices.Clone(g.Blocks[b].Next)
		loop := g.Blocks[b].loop
		slices.SortStableFunc(next, func(x, y int) int {
			if inX, inY := loop[x], loop[y]; inX != inY {
				if inY {
					return -1
				}
				return 1
			}
			return y - x
		})
		for _, s := range next {
			if !seen[s] {
				visit(s)
			}
		}
		g.Order = append(g.Order, b)
	}
	visit(0)
	slices.Reverse(g.Order)
}
