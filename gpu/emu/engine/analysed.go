package engine

import (
	"slices"

	"warpbook/gpu/emu/analysis"
	"warpbook/gpu/emu/special"
	"warpbook/gpu/ptx"
)

// This file tells package analysis what it asks about the code of a program.

const slotPart = 128 // bytes of 32 lanes of 32 bits

// analysed is the code as package analysis sees it.
func (p *Program) analysed() analysis.Code {
	code := make(analysis.Code, len(p.code))
	for pc := range p.code {
		in := &p.code[pc]
		code[pc] = analysis.Instruction{
			Guarded: in.guard != always, Guard: int(in.guard), Target: int(in.target), Operands: analysedOperands(in, p.operands[pc]),
			Silent: silent(in), Decides: decides(in), Clock: readsClock(in), Memory: in.mem != nil,
			Differs: in.mem != nil && in.mem.kind != store && in.mem.space != ptx.Parameter && in.mem.space != ptx.Const,
			Barrier: in.flow == blockSync && in.sub != barrierArrive && !in.x.hasD2,
			Acts:    in.mem != nil && in.mem.kind != load && (in.mem.space == ptx.Global || in.mem.space == ptx.Shared || in.mem.space == ptx.Generic),
		}
		switch to := &code[pc]; in.flow {
		case branch:
			to.Flow = analysis.Branch
		case jump:
			to.Flow = analysis.Jump
		case leave:
			to.Flow = analysis.Leave
		case indexed:
			to.Flow = analysis.Indexed
			for _, target := range in.x.targets {
				to.Targets = append(to.Targets, int(target))
			}
		}
	}
	return code
}

// analysedOperands are the operands of an instruction, with their places as parts of slots.
func analysedOperands(in *instr, operands []operand) (to []analysis.Operand) {
	for _, o := range operands {
		data := in.mem != nil && in.mem.kind == store && slices.Contains(in.mem.regs[:in.mem.count], o.at) && !o.predicate && o.at != in.a
		to = append(to, analysis.Operand{Place: analysedPlace(o.at, o.predicate), Double: o.double, Def: o.def, Data: data})
	}
	return to
}

func analysedPlace(at uint32, predicate bool) analysis.Place {
	if predicate {
		return analysis.Place{Predicate: true, At: int(at)}
	}
	return analysis.Place{At: int(at / slotPart)}
}

// decisive are the registers that decide how threads go on.
func (p *Program) decisive() *analysis.Decisive {
	p.decides.Do(func() { p.decisiveOnes = p.analysed().FindDecisive(p.slotBytes/slotPart, p.preds) })
	return p.decisiveOnes
}

// findLeaving finds where threads still have something to do, and the branches by which some
// threads of a block go past its barriers and do something else.
func (p *Program) findLeaving() {
	var differs []analysis.Place
	for _, s := range p.presets {
		if s.value.kind == threadValue || s.value.kind == specialValue && special.Lane[s.value.name] != nil {
			differs = append(differs, analysedPlace(s.offset, s.value.width == predicate))
		}
	}
	past, acts := p.analysed().Leaving(differs)
	p.acts, p.analyse = acts, p.analysed
	for _, b := range past {
		p.code[b.PC].leaves = takenGoes
		if b.Others {
			p.code[b.PC].leaves = othersGo
		}
	}
}

// decides reports whether the operands of an instruction decide how its thread or others
// go on. A shuffle or a vote only passes values on.
func decides(in *instr) bool {
	if in.flow == warpSync && in.src != nil && !slices.Contains([]string{"bar", "mma", "wmma"}, in.src.Opcode) {
		return false
	}
	return in.mem != nil || in.flow != next && in.flow != checked || in.src != nil && notFollowed[in.src.Opcode]
}

func readsClock(in *instr) bool {
	return in.src != nil && slices.ContainsFunc(in.src.Operands, func(o ptx.Operand) bool {
		return o.Kind == ptx.SpecialOperand && special.Clocks[o.Symbol]
	})
}

// silent reports whether an instruction has an effect on its own thread's registers alone. A
// parameter of a call is read in the call's braces only.
func silent(in *instr) bool {
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

// changesOther are the opcodes that may change memory in another way than by an access, or
// that others see.
var changesOther = map[string]bool{"mbarrier": true, "barrier": true, "st": true, "red": true, "cp": true, "sust": true, "sured": true, "wgmma": true,
	"stmatrix": true, "wmma": true, "tensormap": true, "call vprintf": true, "call malloc": true, "call free": true}

// changesMore makes an instruction that changes memory in another way than by an access,
// or that others see, count as a change.
func changesMore(in *instr) {
	if !changesOther[in.src.Opcode] {
		return
	}
	switch has := func(word string) bool { return slices.Contains(in.src.Modifiers, word) }; in.src.Opcode {
	case "mbarrier":
		if has("test_wait") || has("try_wait") {
			return
		}
	case "barrier":
		if !has("cluster") {
			return
		}
	case "st", "red":
		if !has("async") {
			return
		}
	}
	if exec := in.exec; exec != nil {
		in.exec = func(w *warp, in *instr, m uint32) {
			w.block.changes++
			exec(w, in, m)
		}
	}
}
