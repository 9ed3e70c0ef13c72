package engine

import (
	"slices"

	"warpbook/gpu/ptx"
)

// This file finds the ways of a branch that meet again without a change that others see.

// mostOnWay bounds the instructions between a branch and the place where its ways meet.
const mostOnWay = 200

// waysOf are the instructions between a branch and the first place that both its ways come
// to, nil if there is none, or if a way has a loop or changes what others see.
func (p *Program) waysOf(from int) []int {
	for _, meet := range p.after(from) {
		way, ok := []int{}, true
		state := map[int]int{from: onPath}
		p.goesTo(from, func(to int) { ok = ok && p.comesTo(meet, to, state, &way) })
		if ok {
			return way
		}
	}
	return nil
}

// after are instructions that may follow one, the nearest first.
func (p *Program) after(from int) (order []int) {
	seen := map[int]bool{}
	queue := []int{from}
	for ; len(queue) > 0 && len(order) < mostOnWay; queue = queue[1:] {
		p.goesTo(queue[0], func(to int) {
			if !seen[to] && to < len(p.code) {
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
func (p *Program) comesTo(meet, at int, state map[int]int, way *[]int) bool {
	if at == meet || state[at] == comesOn {
		return true
	}
	if at >= len(p.code) || state[at] == onPath || !p.code[at].silent() {
		return false
	}
	state[at] = onPath
	*way = append(*way, at)
	ok := true
	p.goesTo(at, func(to int) { ok = ok && p.comesTo(meet, to, state, way) })
	state[at] = comesOn
	return ok
}

// silent reports whether an instruction has an effect on its own thread's registers alone. A
// parameter of a call is read in the call's braces only.
func (in *instr) silent() bool {
	switch in.flow {
	case branch, jump:
		return true
	case next, checked:
	default:
		return false
	}
	if in.mem != nil {
		return in.mem.kind == load || in.mem.uncounted && in.mem.space == ptx.Local
	}
	return in.src == nil || in.src.Opcode != "trap" && !changesOther[in.src.Opcode]
}

// loopsAlone reports whether an instruction is in a loop that reads no memory and meets no
// other thread.
func (p *Program) loopsAlone(of *instr) bool {
	back := p.reaches(func(in *instr) bool { return in == of })
	start := 0
	for &p.code[start] != of {
		start++
	}
	loop := slices.DeleteFunc(p.after(start), func(pc int) bool { return !back[pc] })
	return slices.Contains(loop, start) && !slices.ContainsFunc(loop, func(pc int) bool { return p.code[pc].mem != nil || !p.code[pc].silent() })
}
