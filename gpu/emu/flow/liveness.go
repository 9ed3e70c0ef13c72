//go:build !js

package flow

import (
	"slices"

	"warpbook/gpu/ptx"
)

// set is a set of registers.
type set []uint64

func (s set) has(r int) bool { return s[r/64]>>(r%64)&1 != 0 }
func (s set) add(r int)      { s[r/64] |= 1 << (r % 64) }
func (s set) remove(r int)   { s[r/64] &^= 1 << (r % 64) }

// live are the registers that recursive functions use after each label. A call returns to the
// instruction after it, and none is used after the function has returned.
func (i *inliner) live() map[string]set {
	g := NewGraph(i.flat)
	at := map[int]int{}
	for b := range g.Blocks {
		at[g.Blocks[b].From] = b
	}
	words := len(i.flat.Registers)/64 + 1
	in := make([]set, len(g.Blocks))
	for b := range in {
		in[b] = make(set, words)
	}
	for again := true; again; {
		again = false
		for b := len(g.Blocks) - 1; b >= 0; b-- {
			n := &g.Blocks[b]
			next := n.Next
			if n.To > n.From {
				last := i.flat.Code[n.To-1]
				if s, ok := i.sites[n.To-1]; ok {
					next = []int{at[i.flat.Labels[s.after]]}
				} else if last.Opcode == "brx" && Returns(last.Operands[1].Symbol) {
					next = nil
				}
			}
			now := make(set, words)
			for _, x := range next {
				for w := range now {
					now[w] |= in[x][w]
				}
			}
			for k := n.To - 1; k >= n.From; k-- {
				now.before(&i.flat.Code[k])
			}
			if !slices.Equal(now, in[b]) {
				in[b], again = now, true
			}
		}
	}
	list := map[string]set{}
	for name, n := range i.flat.Labels {
		if b, ok := at[n]; ok {
			list[name] = in[b]
		}
	}
	return list
}

// withoutResult are the opcodes whose first operand is no result, or may be none.
var withoutResult = map[string]bool{"st": true, "red": true, "bra": true, "brx": true, "exit": true, "ret": true, "trap": true, "call": true, "bar": true,
	"barrier": true, "membar": true, "fence": true, "nanosleep": true, "prefetch": true, "prefetchu": true, "cp": true, "sust": true, "stmatrix": true,
	"griddepcontrol": true, "setmaxnreg": true, "applypriority": true, "discard": true, "mbarrier": true, "wgmma": true}

// before changes the registers that are used after an instruction to those that are used from it.
func (s set) before(in *ptx.Instruction) {
	list := in.Operands
	if len(list) > 0 && list[0].Kind != ptx.AddressOperand && !withoutResult[in.Opcode] {
		if in.Guard < 0 {
			registers(list[:1], s.remove)
		}
		list = list[1:]
	}
	registers(list, s.add)
	if in.Guard >= 0 {
		s.add(in.Guard)
	}
}

// registers calls do for each register of operands.
func registers(list []ptx.Operand, do func(int)) {
	for _, o := range list {
		registers(o.Elems, do)
		switch o.Kind {
		case ptx.RegisterOperand, ptx.AddressOperand:
			if o.Reg >= 0 {
				do(o.Reg)
			}
		case ptx.PairOperand:
			for _, r := range []int{o.Reg, o.Second} {
				if r >= 0 {
					do(r)
				}
			}
		}
	}
}
