package lower

import "warpbook/gpu/llvm/ir"

// layout is the order in which the blocks of a function are printed: each one after all
// that come before it on paths without loops, and a loop's blocks before those after it.
// Blocks that are never reached are left out.
func layout(f *ir.Func, depth []int) []*ir.Block {
	seen := make([]bool, len(f.Blocks))
	return postorder(f.Blocks[0], seen, func(b *ir.Block) []*ir.Block {
		next := b.Next()
		if len(next) == 2 && depth[next[0].Number] > depth[next[1].Number] {
			return []*ir.Block{next[1], next[0]} // the exit is visited first and printed last
		}
		return next
	})
}

// postorder is the reverse postorder of a walk.
func postorder(first *ir.Block, seen []bool, next func(*ir.Block) []*ir.Block) []*ir.Block {
	type step struct {
		b    *ir.Block
		left []*ir.Block
	}
	var list []*ir.Block
	seen[first.Number] = true
	for stack := []step{{first, next(first)}}; len(stack) > 0; {
		top := &stack[len(stack)-1]
		if len(top.left) == 0 {
			list = append(list, top.b)
			stack = stack[:len(stack)-1]
			continue
		}
		b := top.left[0]
		top.left = top.left[1:]
		if !seen[b.Number] {
			seen[b.Number] = true
			stack = append(stack, step{b, next(b)})
		}
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// loopDepths are the numbers of loops around the blocks.
func loopDepths(f *ir.Func) []int {
	depth := make([]int, len(f.Blocks))
	order := postorder(f.Blocks[0], make([]bool, len(f.Blocks)), (*ir.Block).Next)
	dom := dominators(f, order)
	before := predecessors(order)
	for _, head := range order {
		loop := map[*ir.Block]bool{head: true}
		var work []*ir.Block
		for _, b := range before[head.Number] {
			if dominates(dom, head, b) && !loop[b] {
				loop[b] = true
				work = append(work, b)
			}
		}
		if len(work) == 0 && !contains(before[head.Number], head) {
			continue
		}
		for len(work) > 0 {
			b := work[len(work)-1]
			work = work[:len(work)-1]
			for _, p := range before[b.Number] {
				if !loop[p] {
					loop[p] = true
					work = append(work, p)
				}
			}
		}
		for b := range loop {
			depth[b.Number]++
		}
	}
	return depth
}

func contains(list []*ir.Block, b *ir.Block) bool {
	for _, x := range list {
		if x == b {
			return true
		}
	}
	return false
}

// predecessors are the blocks that jump to each block, by number.
func predecessors(order []*ir.Block) map[int][]*ir.Block {
	before := map[int][]*ir.Block{}
	for _, b := range order {
		for _, n := range b.Next() {
			before[n.Number] = append(before[n.Number], b)
		}
	}
	return before
}

// dominators are the immediate dominators of blocks in reverse postorder, by number.
func dominators(f *ir.Func, order []*ir.Block) []*ir.Block {
	index := make([]int, len(f.Blocks))
	for i, b := range order {
		index[b.Number] = i
	}
	before := predecessors(order)
	dom := make([]*ir.Block, len(f.Blocks))
	dom[order[0].Number] = order[0]
	for changed := true; changed; {
		changed = false
		for _, b := range order[1:] {
			var common *ir.Block
			for _, p := range before[b.Number] {
				switch {
				case dom[p.Number] == nil:
				case common == nil:
					common = p
				default:
					for x := p; common != x; {
						for index[x.Number] > index[common.Number] {
							x = dom[x.Number]
						}
						for index[common.Number] > index[x.Number] {
							common = dom[common.Number]
						}
					}
				}
			}
			if dom[b.Number] != common {
				dom[b.Number], changed = common, true
			}
		}
	}
	return dom
}

// dominates reports whether every path to b passes a.
func dominates(dom []*ir.Block, a, b *ir.Block) bool {
	for {
		if a == b {
			return true
		}
		up := dom[b.Number]
		if up == nil || up == b {
			return false
		}
		b = up
	}
}

func (f *fn) dominates(a, b *ir.Block) bool { return dominates(f.dom, a, b) }
