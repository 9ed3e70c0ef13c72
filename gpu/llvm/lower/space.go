package lower

import (
	"slices"

	"warpbook/gpu/llvm/ir"
)

// Address spaces of LLVM's NVPTX, and those that only this package knows.
const (
	generic  = 0
	global   = 1
	shared   = 3
	constant = 4
	local    = 5
	param    = 101 // a parameter passed by value
	unknown  = -1
)

var spaceNames = map[int]string{generic: "", global: ".global", shared: ".shared", constant: ".const", local: ".local", param: ".param"}

// inferSpaces finds the address space of each pointer: that of all it may be made of, or
// generic.
func (f *fn) inferSpaces(order []*ir.Block) {
	f.spaces = map[*ir.Value]int{}
	for _, p := range f.ir.Params {
		f.spaces[p] = f.spaceOfParam(p)
	}
	var pointers []*ir.Value
	for _, b := range order {
		for _, v := range b.Values {
			if v.Type != nil && v.Type.Kind == ir.Pointer && v.Kind == ir.Instruction {
				pointers = append(pointers, v)
				f.spaces[v] = unknown
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, v := range pointers {
			if space := f.infer(v); space != f.spaces[v] {
				f.spaces[v], changed = space, true
			}
		}
	}
	for _, v := range pointers {
		if f.spaces[v] == unknown { // made of undefined ones
			f.spaces[v] = generic
		}
	}
}

func (f *fn) spaceOfParam(p *ir.Value) int {
	switch {
	case p.Type.Kind != ir.Pointer:
		return generic
	case p.Elem != nil && slices.Contains(p.Words, "byval"):
		if f.inParam(p) {
			return param
		}
		if slices.Contains(p.Words, "nvvm.grid_constant") {
			return generic
		}
		return local
	case p.Type.Space != 0:
		return p.Type.Space
	case f.ir.Kernel:
		return global
	}
	return generic
}

// inParam reports whether a parameter passed by value is only read at constant offsets.
func (f *fn) inParam(p *ir.Value) bool {
	made := map[*ir.Value]bool{p: true}
	for _, b := range f.ir.Blocks {
		for _, v := range b.Values {
			for i, o := range v.Operands {
				if o.Kind == ir.Expression && o.Op == "byval" && made[o.Operands[0]] {
					return false
				}
				if !made[o] {
					continue
				}
				switch {
				case v.Op == "load" && v.Order == "" && !v.Has(ir.Volatile):
				case v.Op == "getelementptr" && i == 0 && constantIndices(v):
					made[v] = true
				default:
					return false
				}
			}
		}
	}
	return true
}

func constantIndices(v *ir.Value) bool {
	for _, o := range v.Operands[1:] {
		if _, ok := o.Int(); !ok {
			return false
		}
	}
	return true
}

// infer is the address space of a pointer by those of its operands.
func (f *fn) infer(v *ir.Value) int {
	if v.Type.Space != 0 {
		return v.Type.Space
	}
	switch v.Op {
	case "getelementptr", "freeze", "addrspacecast", "bitcast":
		return f.space(v.Operands[0])
	case "phi":
		return f.joined(v.Operands)
	case "select":
		return f.joined(v.Operands[1:])
	case "alloca":
		return local
	case "load":
		if f.ir.Kernel && f.fromParam(v.Operands[0]) {
			return global
		}
	}
	return generic
}

// fromParam reports whether a pointer points into a parameter of a kernel.
func (f *fn) fromParam(v *ir.Value) bool {
	for v.Kind == ir.Instruction && (v.Op == "getelementptr" || v.Op == "addrspacecast") {
		v = v.Operands[0]
	}
	return v.Kind == ir.Argument && v.Elem != nil
}

// spaceOf is the address space in which a variable is declared.
func spaceOf(g *ir.Global) int {
	if g.Space == generic {
		return global
	}
	return g.Space
}

// joined is the address space of several pointers.
func (f *fn) joined(list []*ir.Value) int {
	space := unknown
	for _, o := range list {
		s := f.space(o)
		if o.Kind == ir.Zero {
			s = global // generic and global addresses are equal
		}
		switch {
		case s == unknown || o.Kind == ir.Undef:
		case space == unknown:
			space = s
		case space != s:
			return generic
		}
	}
	return space
}

// space is the address space in which the register of a pointer holds its address.
func (f *fn) space(v *ir.Value) int {
	if s, ok := f.spaces[v]; ok {
		return s
	}
	if v.Type.Kind == ir.Pointer && v.Type.Space != 0 {
		return v.Type.Space
	}
	switch v.Kind {
	case ir.Symbol:
		if g := f.Vars[v.Name]; g != nil {
			return spaceOf(g)
		}
	case ir.Expression:
		if v.Op == "getelementptr" || v.Op == "addrspacecast" || v.Op == "bitcast" {
			return f.space(v.Operands[0])
		}
	}
	return generic
}
