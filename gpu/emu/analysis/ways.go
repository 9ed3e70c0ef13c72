package analysis

import "slices"

// This file finds the ways of a branch that meet again without a change that others see, and
// loops that read no memory.

// mostOnWay bounds the instructions between a branch and the place where its ways meet.
const mostOnWay = 200

// waysOf are the instructions between a branch and the first place that both its ways come
// to, nil if there is none, or if a way has a loop or changes what others see.
func (c Code) waysOf(from int) []int {
	for _, meet := range c.after(from) {
		way, ok := []int{}, true
		state := map[int]int{from: onPath}
		c.goesTo(from, func(to int) { ok = ok && c.comesTo(meet, to, state, &way) })
		if ok {
			return way
		}
	}
	return nil
}

// after are instructions that may follow one, the nearest first.
func (c Code) after(from int) (order []int) {
	seen := map[int]bool{}
	queue := []int{from}
	for ; len(queue) > 0 && len(order) < mostOnWay; queue = queue[1:] {
		c.goesTo(queue[0], func(to int) {
			if !seen[to] && to < len(c) {
				seen[to] = true
				order, queue = append(order, to), append(queue, to)
			}
		})
	}
	return order
}

const (
	onPath = iota + 1
	comesOn
)

// comesTo reports whether all ways from an instruction come to another one without a loop
// and without a change that others see; it notes the instructions of the ways. An assertion
// counts as one that holds: a launch that could end only by it has failed either way.
func (c Code) comesTo(meet, at int, state map[int]int, way *[]int) bool {
	if at == meet || state[at] == comesOn {
		return true
	}
	if at >= len(c) || state[at] == onPath || !c[at].Silent {
		return false
	}
	state[at] = onPath
	*way = append(*way, at)
	ok := true
	c.goesTo(at, func(to int) { ok = ok && c.comesTo(meet, to, state, way) })
	state[at] = comesOn
	return ok
}

// LoopsAlone reports whether an instruction is in a loop that reads no memory and meets no
// other thread.
func (c Code) LoopsAlone(at int) bool {
	back := c.reaches(func(in *Instruction) bool { return in == &c[at] })
	loop := slices.DeleteFunc(c.after(at), func(pc int) bool { return !back[pc] })
	return slices.Contains(loop, at) && !slices.ContainsFunc(loop, func(pc int) bool { return c[pc].Memory || !c[pc].Silent })
}
