package engine

import "warpbook/gpu/ptx"

// provenance finds the starting point of each access's address by following it back
// through registers: a variable in shared memory, or a parameter. An access whose
// address starts from one variable or one buffer must stay inside it, as C++ requires,
// although another one may be adjacent.
//
// The launch shows which parameters are buffers. Until then each parameter of 64 bits
// may be one.
type provenance struct {
	registers []origin
	variables map[string]int // bit of a shared variable, by symbol
	params    map[string]int // bit of a parameter of 64 bits, by symbol
}

// boundAccesses sets the bound of each access: its variable in shared memory, or its
// starting point in global memory.
func (lo *lowering) boundAccesses() {
	p := &provenance{registers: make([]origin, len(lo.fn.Registers)), variables: map[string]int{}, params: map[string]int{}}
	if len(lo.prog.shared) > 1 { // a single variable has the bounds of shared memory
		for i := range min(len(lo.prog.shared), 64) {
			p.variables[lo.prog.shared[i].symbol] = i
		}
	}
	var wide []int // parameters that may be buffers
	for i, v := range lo.prog.params {
		if v.Bytes() == 8 && v.Count == 1 && len(p.variables)+len(wide) < 64 {
			p.params[v.Name] = len(p.variables) + len(wide)
			wide = append(wide, i)
		}
	}
	p.follow(lo.fn)
	variables := uint64(1)<<len(p.variables) - 1
	lo.prog.origins = []start{{}}
	numbers := map[start]int{}
	for _, o := range lo.ops {
		if o.in.mem == nil {
			continue
		}
		for _, a := range o.in.src.Operands {
			if a.Kind != ptx.AddressOperand {
				continue
			}
			from := p.operand(a)
			if v := from.alone(variables); v >= 0 {
				o.in.mem.variable = &lo.prog.shared[v] // of cp.async, the variable of the destination
			}
			s := start{from.once >> len(p.variables), from.other >> len(p.variables)}
			if s.once == 0 || len(o.parts) > 0 {
				continue
			}
			if numbers[s] == 0 {
				numbers[s] = len(lo.prog.origins)
				lo.prog.origins = append(lo.prog.origins, s)
			}
			o.in.mem.origin = numbers[s]
		}
	}
	lo.prog.wide = wide
}

// follow finds the origins of all registers: it repeats the analysis of the code until
// nothing changes.
func (p *provenance) follow(fn *ptx.Function) {
	for again := true; again; {
		again = false
		for i := range fn.Code {
			in := &fn.Code[i]
			if len(in.Operands) == 0 {
				continue
			}
			var o origin
			written := false
			write := func(r int) {
				if r < 0 {
					return
				}
				if !written {
					o, written = p.result(in), true
				}
				if now := p.registers[r].or(o); now != p.registers[r] {
					p.registers[r], again = now, true
				}
			}
			d := in.Operands[0]
			if d.Kind == ptx.RegisterOperand || d.Kind == ptx.PairOperand {
				write(d.Reg)
			}
			for _, e := range d.Elems {
				if e.Kind == ptx.RegisterOperand {
					write(e.Reg)
				}
			}
		}
	}
}

func (p *provenance) operand(o ptx.Operand) origin {
	if v, ok := p.variables[o.Symbol]; ok {
		return origin{known: true, once: 1 << v}
	}
	if (o.Kind == ptx.RegisterOperand || o.Kind == ptx.AddressOperand && o.Symbol == "") && o.Reg >= 0 {
		return p.registers[o.Reg]
	}
	return origin{known: true}
}

// result is the origin of an instruction's result.
func (p *provenance) result(in *ptx.Instruction) origin {
	from := func(i int) origin { return p.operand(in.Operands[i]) }
	switch n := len(in.Operands); {
	case n == 2 && (in.Opcode == "mov" || in.Opcode == "cvta" || in.Opcode == "cvt"):
		return from(1)
	case n == 3 && in.Opcode == "add":
		return from(1).plus(from(2))
	case n == 3 && in.Opcode == "sub":
		return from(1).plus(from(2).scaled())
	case n == 4 && in.Opcode == "mad":
		return from(1).plus(from(2)).scaled().plus(from(3))
	case n == 4 && in.Opcode == "selp":
		return from(1).or(from(2))
	case in.Opcode == "atom":
		return origin{known: true} // the analysis does not follow loaded values
	case in.Opcode == "ld" && n == 2:
		if at, ok := p.params[in.Operands[1].Symbol]; ok && in.Operands[1].Offset == 0 {
			return origin{known: true, once: 1 << at}
		}
		return origin{known: true}
	}
	o := origin{known: true}
	for i := range in.Operands[1:] {
		o = o.plus(from(i + 1)).scaled()
	}
	return o
}
