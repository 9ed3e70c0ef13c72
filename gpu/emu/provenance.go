package emu

import "warpbook/gpu/ptx"

// provenance finds the shared variable that each access of the code belongs
// to, by following its address back to the variable that it starts from. An
// access whose address starts from one variable must stay inside it, as C++
// has it, although another variable may lie behind.
type provenance struct {
	fn    *ptx.Function
	bases map[string]*sharedVariable // by symbol
	defs  map[int][]*ptx.Instruction // instructions that write a register
	known map[int]origin             // registers that this search has come to
}

// origin is what an address starts from.
type origin struct {
	kind     originKind
	variable *sharedVariable // of a variable
}

type originKind uint8

const (
	open        originKind = iota // a register that is still being followed, as in a loop
	noAddress                     // no address, or one that was loaded
	oneVariable                   // a shared variable
	mixed                         // one of several, or it cannot be told
)

// or is the origin of a register that may be written in two ways.
func (o origin) or(p origin) origin {
	switch {
	case o.kind == open || o == p:
		return p
	case p.kind == open:
		return o
	}
	return origin{kind: mixed}
}

// plus is the origin of a sum.
func (o origin) plus(p origin) origin {
	switch {
	case o.kind <= noAddress && p.kind <= noAddress:
		return origin{kind: min(o.kind, p.kind)}
	case p.kind <= noAddress:
		return o
	case o.kind <= noAddress:
		return p
	}
	return origin{kind: mixed}
}

// scaled is the origin of what is made of it otherwise.
func (o origin) scaled() origin {
	if o.kind == oneVariable {
		return origin{kind: mixed}
	}
	return o
}

// boundShared gives each access its variable.
func (lo *lowering) boundShared() {
	if len(lo.prog.shared) < 2 {
		return // the bounds of shared memory are those of the variable
	}
	bases := map[string]*sharedVariable{}
	for i := range lo.prog.shared {
		bases[lo.prog.shared[i].symbol] = &lo.prog.shared[i]
	}
	p := &provenance{fn: lo.fn, bases: bases, defs: map[int][]*ptx.Instruction{}}
	p.collect()
	for _, o := range lo.ops {
		if o.in.mem == nil {
			continue
		}
		for _, a := range o.in.src.Operands {
			if a.Kind != ptx.AddressOperand {
				continue
			}
			p.known = map[int]origin{}
			if v := p.operand(a).variable; v != nil {
				o.in.mem.variable = v // of cp.async, that of the destination
			}
		}
	}
}

// collect finds the instructions that write each register.
func (p *provenance) collect() {
	for i := range p.fn.Code {
		in := &p.fn.Code[i]
		if len(in.Operands) == 0 {
			continue
		}
		d := in.Operands[0]
		if d.Kind == ptx.RegisterOperand {
			p.defs[d.Reg] = append(p.defs[d.Reg], in)
		}
		if d.Kind == ptx.PairOperand {
			p.defs[d.Reg] = append(p.defs[d.Reg], in)
		}
		for _, e := range d.Elems {
			p.defs[e.Reg] = append(p.defs[e.Reg], in)
		}
	}
}

func (p *provenance) operand(o ptx.Operand) origin {
	if v := p.bases[o.Symbol]; v != nil {
		return origin{oneVariable, v}
	}
	if (o.Kind == ptx.RegisterOperand || o.Kind == ptx.AddressOperand && o.Symbol == "") && o.Reg >= 0 {
		return p.register(o.Reg)
	}
	return origin{kind: noAddress}
}

// register is the origin of what a register may hold.
func (p *provenance) register(r int) origin {
	if o, ok := p.known[r]; ok {
		return o
	}
	p.known[r] = origin{}
	o := origin{}
	for _, in := range p.defs[r] {
		o = o.or(p.result(in))
	}
	p.known[r] = o
	return o
}

// result is the origin of what an instruction computes.
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
	case in.Opcode == "ld":
		return origin{kind: noAddress}
	}
	o := origin{}
	for i := range in.Operands[1:] {
		o = o.plus(from(i + 1)).scaled()
	}
	return o
}
