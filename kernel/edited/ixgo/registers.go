//go:build ignore

package ixgo

import "golang.org/x/tools/go/ssa"

// made is a register of a function, and the instruction for which it was made.
type made struct {
	by       ssa.Instruction
	register uint32
}

// madeBy are the registers that were made for each instruction. Only runtime.GC in a cell
// asks for them.
func (p *function) madeBy() map[ssa.Instruction][]uint32 {
	registers := map[ssa.Instruction][]uint32{}
	for _, m := range p.made {
		registers[m.by] = append(registers[m.by], m.register)
	}
	return registers
}

// reserve makes room for the registers of a function, and for its instructions.
func (p *function) reserve() {
	n := p.narg + p.nenv
	for _, b := range p.Fn.Blocks {
		n += len(b.Instrs)
	}
	p.index = make(map[ssa.Value]uint32, n)
	p.made = make([]made, 0, n)
	p.stack = make([]value, p.nres, p.nres+n)
}

// calledRegister is the register of the function value that a call calls, none for a
// function of cells: its code is called without a value, which would be made by reflection.
func (p *function) calledRegister(call *ssa.CallCommon) (r register) {
	if fn, ok := call.Value.(*ssa.Function); ok && fn.Blocks != nil {
		return r
	}
	return p.regIndex(call.Value)
}
