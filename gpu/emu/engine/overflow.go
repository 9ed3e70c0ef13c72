package engine

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"

	"warpbook/gpu/emu/mem"
	"warpbook/gpu/emu/special"
	"warpbook/gpu/ptx"
)

// This file finds whether arithmetic of 32 bits has overflowed on the way to an address
// that lies in no buffer, as row * columns does beyond 2^31, or whether an unsigned index went
// below 0. It computes the address of one lane again from the instructions that lead to it,
// with and without the limit of 32 bits. It says nothing unless the address that it finds is
// the one of the fault.

// overflowed describes the overflow that led to an address; "" if there is none.
func (explanations) overflowed(w *warp, in *instr, lane int, address uint64) string {
	e := evaluation{warp: w, lane: lane, defs: map[int][]*ptx.Instruction{}, left: mostEvaluated}
	for i := range w.block.prog.inlined.Code {
		def := &w.block.prog.inlined.Code[i]
		if len(def.Operands) > 0 && def.Operands[0].Kind == ptx.RegisterOperand {
			e.defs[def.Operands[0].Reg] = append(e.defs[def.Operands[0].Reg], def)
		}
	}
	at := slices.IndexFunc(in.src.Operands, func(o ptx.Operand) bool { return o.Kind == ptx.AddressOperand && o.Reg >= 0 })
	if at < 0 {
		return ""
	}
	o := in.src.Operands[at]
	v, ok := e.register(o.Reg, true)
	switch {
	case !ok || v.bits+uint64(o.Offset) != address:
		return ""
	case v.over == nil && v.below != 0:
		return fmt.Sprintf("; its index is %d, which is %d as an unsigned number of 32 bits: test for 0 before it is subtracted from, or compute it as int", v.below, int32(v.below))
	case v.over == nil:
		return ""
	}
	return fmt.Sprintf("; its index overflowed 32 bits at %s: %s: compute it in 64 bits, such as size_t", w.block.prog.placeOf(&instr{src: v.over.in}), v.over.sum)
}

// mostEvaluated bounds the instructions that are computed again.
const mostEvaluated = 1000

// evaluation computes registers of a lane again.
type evaluation struct {
	*warp
	lane int
	defs map[int][]*ptx.Instruction
	left int
}

// number is a value, what it would be in unlimited width, and where the two part.
type number struct {
	bits  uint64
	exact *big.Int
	over  *overflow
	below uint32 // a negative number that an index took for an unsigned one; 0 for none
}

// lowestBelow is the first unsigned number that counts as one that went below 0.
const lowestBelow = 1<<32 - 1<<20

// overflow is an instruction whose result does not fit.
type overflow struct {
	in  *ptx.Instruction
	sum string // "3 * 5 = 15"
}

// numberOf is a number without overflow: of 32 bits that are signed or not, or of 64.
func numberOf(bits uint64, wide, signed bool) number {
	switch {
	case wide:
		return number{bits: bits, exact: big.NewInt(int64(bits))}
	case signed:
		return number{bits: uint64(uint32(bits)), exact: big.NewInt(int64(int32(bits)))}
	}
	return number{bits: uint64(uint32(bits)), exact: big.NewInt(int64(uint32(bits)))}
}

// register is the value of a register; signed is how one of 32 bits is meant.
func (e *evaluation) register(reg int, signed bool) (number, bool) {
	width := widthOf(e.block.prog.inlined.Registers[reg].Type)
	if e.left--; e.left < 0 || width != word && width != double {
		return number{}, false
	}
	if len(e.defs[reg]) == 1 && e.defs[reg][0].Guard < 0 {
		if v, ok := e.result(e.defs[reg][0], signed); ok {
			return v, true
		}
	}
	at := e.block.prog.places[reg]
	if width == double {
		return numberOf(lanes[uint64](e.warp, at)[e.lane], true, false), true
	}
	return numberOf(uint64(lanes[uint32](e.warp, at)[e.lane]), false, signed), true
}

func (e *evaluation) operand(o ptx.Operand, wide, signed bool) (number, bool) {
	switch o.Kind {
	case ptx.RegisterOperand:
		return e.register(o.Reg, signed)
	case ptx.ImmediateOperand:
		return numberOf(o.Bits, wide, signed), true
	case ptx.SpecialOperand:
		bits, ok := e.special(o.Symbol)
		return numberOf(bits, wide, signed), ok
	}
	return number{}, false
}

func (e *evaluation) special(name string) (uint64, bool) {
	if f := special.Lane[name]; f != nil {
		return f(e.block.thread(e.index*32+e.lane), e.index, e.lane), true
	}
	if f := special.OfLaunch[name]; f != nil {
		return f(&e.block.launch.special), true
	}
	if f := special.OfBlock[name]; f != nil {
		return f(&special.Block{Launch: &e.block.launch.special, At: e.block.at, Rank: e.block.rank()}), true
	}
	return 0, false
}

// result is the value that an instruction gives.
func (e *evaluation) result(in *ptx.Instruction, signed bool) (number, bool) {
	if len(in.Modifiers) == 0 || len(in.Operands) < 2 {
		return number{}, false
	}
	t := ptx.Type(in.Modifiers[len(in.Modifiers)-1])
	wide := t.Bytes() == 8
	has := func(m string) bool { return slices.Contains(in.Modifiers, m) }
	switch {
	case in.Opcode == "ld":
		return e.loaded(in, t, signed)
	case in.Opcode == "cvta", in.Opcode == "mov":
		return e.operand(in.Operands[1], wide, signed)
	case in.Opcode == "cvt" && len(in.Modifiers) == 2 && ptx.Type(in.Modifiers[0]).Bytes() == 8:
		v, ok := e.operand(in.Operands[1], wide, t == "s32")
		return v.widened(t), ok
	case has("hi") && in.Opcode == "mul", slices.Contains([]string{"shr", "div", "rem", "and", "or", "xor"}, in.Opcode):
		return e.fitting(in, t)
	case has("hi") || has("sat"), !slices.Contains([]string{"add", "sub", "mul", "mad", "shl", "neg"}, in.Opcode):
		return number{}, false
	}
	double := has("wide")
	if double {
		signed = t == "s32"
	}
	var sources []number
	for i, o := range in.Operands[1:] {
		v, ok := e.operand(o, wide || double && i == 2, signed)
		if !ok {
			return number{}, false
		}
		if double && i < 2 {
			v = v.widened(t)
		}
		sources = append(sources, v)
	}
	return compute(in, sources, wide || double, signed), true
}

// fitting is the value of arithmetic whose result always fits its type.
func (e *evaluation) fitting(in *ptx.Instruction, t ptx.Type) (number, bool) {
	wide, signed := t.Bytes() == 8, t[0] == 's'
	var v [2]*big.Int
	for i := range v {
		n, ok := e.operand(in.Operands[i+1], wide && (i == 0 || in.Opcode != "shr"), signed)
		if !ok {
			return number{}, false
		}
		v[i] = numberOf(n.bits, wide, signed).exact
		if wide && !signed {
			v[i] = new(big.Int).SetUint64(n.bits)
		}
	}
	x := new(big.Int)
	switch in.Opcode {
	case "mul":
		x.Rsh(x.Mul(v[0], v[1]), uint(8*t.Bytes()))
	case "shr":
		x.Rsh(v[0], uint(v[1].Uint64()&63))
	case "and":
		x.And(v[0], v[1])
	case "or":
		x.Or(v[0], v[1])
	case "xor":
		x.Xor(v[0], v[1])
	default:
		if v[1].Sign() == 0 {
			return number{}, false
		}
		if in.Opcode == "div" {
			x.Quo(v[0], v[1])
		} else {
			x.Rem(v[0], v[1])
		}
	}
	low := new(big.Int).And(x, new(big.Int).SetUint64(1<<64-1)).Uint64()
	return numberOf(low, wide, signed), true
}

// widened is a number of 32 bits as one of 64: from here on an overflow that has not
// cancelled out remains.
func (v number) widened(t ptx.Type) number {
	if v.exact == nil || t.Bytes() == 8 {
		return v
	}
	w := numberOf(v.bits, false, t == "s32")
	if w.bits = w.exact.Uint64(); w.exact.Sign() < 0 {
		w.bits = uint64(w.exact.Int64())
	}
	if w.exact.Cmp(v.exact) != 0 {
		w.over = v.over
	}
	if t != "s32" && v.bits >= lowestBelow {
		w.below = uint32(v.bits)
	}
	return w
}

// compute is the value of arithmetic.
func compute(in *ptx.Instruction, v []number, wide, signed bool) number {
	x, text := new(big.Int), ""
	switch in.Opcode {
	case "add":
		x.Add(v[0].exact, v[1].exact)
		text = fmt.Sprintf("%v + %v", v[0].exact, v[1].exact)
	case "sub":
		x.Sub(v[0].exact, v[1].exact)
		text = fmt.Sprintf("%v - %v", v[0].exact, v[1].exact)
	case "mul", "mad":
		x.Mul(v[0].exact, v[1].exact)
		if text = fmt.Sprintf("%v * %v", v[0].exact, v[1].exact); in.Opcode == "mad" {
			x.Add(x, v[2].exact)
			text += fmt.Sprintf(" + %v", v[2].exact)
		}
	case "shl":
		x.Lsh(v[0].exact, uint(v[1].bits&63))
		text = fmt.Sprintf("%v << %d", v[0].exact, v[1].bits)
	case "neg":
		x.Neg(v[0].exact)
		text = fmt.Sprintf("-(%v)", v[0].exact)
	}
	low := new(big.Int).And(x, new(big.Int).SetUint64(1<<64-1)).Uint64()
	n := numberOf(low, wide, signed)
	for _, from := range v {
		if n.over == nil {
			n.over = from.over
		}
		if n.below == 0 {
			n.below = from.below
		}
	}
	if !wide {
		if n.over == nil && n.exact.Cmp(x) != 0 {
			n.over = &overflow{in, fmt.Sprintf("%s = %v", text, x)}
		}
		n.exact = x
	}
	return n
}

// loaded is the value that a load gave: a parameter, or what is in memory now.
func (e *evaluation) loaded(in *ptx.Instruction, t ptx.Type, signed bool) (number, bool) {
	o, size := in.Operands[1], t.Bytes()
	var data []byte
	if at := slices.IndexFunc(e.block.prog.params, func(p *ptx.Variable) bool { return p.Name == o.Symbol }); at >= 0 {
		data = e.block.launch.params[e.block.prog.paramAt[at]+int(o.Offset):]
	} else if o.Kind == ptx.AddressOperand && o.Reg >= 0 {
		v, ok := e.register(o.Reg, true)
		table, address := e.block.launch.engine.memory.Allocations(), v.bits+uint64(o.Offset)
		id, offset := address>>mem.WindowBits, address&mem.OffsetMask
		if !ok || id < mem.FirstID || id >= uint64(len(table)) {
			return number{}, false
		}
		if c := table[id].Contents.Load(); c != nil && offset < uint64(len(c.Data)) {
			data = c.Data[offset:]
		}
	}
	if len(data) < size {
		return number{}, false
	}
	switch size {
	case 4:
		return numberOf(uint64(binary.LittleEndian.Uint32(data)), false, signed), true
	case 8:
		return numberOf(binary.LittleEndian.Uint64(data), true, signed), true
	}
	return number{}, false
}
