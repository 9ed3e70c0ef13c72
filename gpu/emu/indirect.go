package emu

import (
	"fmt"
	"slices"

	"warpbook/gpu"
	"warpbook/gpu/ptx"
)

// This file is functions as values: each has an address, which is nothing that
// can be loaded from, and a call through a pointer compares it with those of
// the functions that have the wanted type.

// functionStep is how far the addresses of functions lie apart.
const functionStep = 128

// nameFunctions gives each function its address.
func (m *module) nameFunctions() {
	for n, f := range m.text.Functions {
		if _, taken := m.symbols[f.Name]; !taken && !f.Entry && !f.Extern {
			m.symbols[f.Name] = symbol{space: ptx.Global, address: uint64(n+1) * functionStep}
		}
	}
}

// function finds a function that the module defines, or nil.
func (m *module) function(name string) *ptx.Function {
	for _, f := range m.text.Functions {
		if f.Name == name && !f.Entry && !f.Extern {
			return f
		}
	}
	return nil
}

// pointed are the functions that a call through a pointer may mean: those of
// its .calltargets, or of its .callprototype those whose address is used.
func (i *inliner) pointed(c called) (functions []*ptx.Function) {
	if names, ok := i.flat.Tables[c.prototype]; ok {
		for _, name := range names {
			if f := i.module.function(name); f != nil {
				functions = append(functions, f)
			}
		}
		return functions
	}
	want := i.within.Prototypes[c.prototype]
	if want == nil {
		return nil
	}
	used := i.module.addressed()
	for _, f := range i.module.text.Functions {
		if used[f.Name] && !f.Entry && !f.Extern && sameSizes(f.Returns, want.Returns) && sameSizes(f.Params, want.Params) {
			functions = append(functions, f)
		}
	}
	return functions
}

func sameSizes(a, b []*ptx.Variable) bool {
	return slices.EqualFunc(a, b, func(x, y *ptx.Variable) bool { return x.Bytes() == y.Bytes() })
}

// addressed are the names of which the module uses the address.
func (m *module) addressed() map[string]bool {
	used := map[string]bool{}
	for _, v := range m.text.Variables {
		for _, r := range v.Relocs {
			used[r.Symbol] = true
		}
	}
	for _, f := range m.text.Functions {
		for _, in := range f.Code {
			for _, o := range in.Operands {
				used[o.Symbol] = used[o.Symbol] || in.Opcode != "call"
			}
		}
	}
	return used
}

// choose puts in each of the functions behind a comparison with the pointer.
func (i *inliner) choose(c called, functions []*ptx.Function, after string) error {
	not := len(i.flat.Registers)
	i.flat.Registers = append(i.flat.Registers, ptx.Reg{Name: "%" + after, Type: "pred"})
	emit := func(opcode string, guard int, modifiers []string, operands ...ptx.Operand) {
		i.flat.Code = append(i.flat.Code, ptx.Instruction{Pos: c.in.Pos, Source: c.in.Source, Guard: guard,
			Opcode: opcode, Modifiers: modifiers, Operands: operands})
	}
	for n, f := range functions {
		next := fmt.Sprintf("%s.not %d", after, n)
		emit("setp", -1, []string{"ne", "u64"}, ptx.Operand{Kind: ptx.RegisterOperand, Reg: not}, c.target,
			ptx.Operand{Kind: ptx.ImmediateOperand, Bits: i.module.symbols[f.Name].address})
		emit("bra", not, nil, ptx.Operand{Kind: ptx.LabelOperand, Symbol: next})
		// Labels of the function begin with those of its place.
		place := fmt.Sprintf("%s.%d", after, n)
		if err := i.enter(f, c.args, place); err != nil {
			return err
		}
		i.flat.Labels[place] = len(i.flat.Code)
		emit("bra", -1, nil, ptx.Operand{Kind: ptx.LabelOperand, Symbol: after})
		i.flat.Labels[next] = len(i.flat.Code)
	}
	emit("trap", -1, nil, c.target)
	return nil
}

// badCall lowers the end of a call through a pointer that is none of the
// functions it may mean.
func (lo *lowering) badCall() error {
	in := &lo.op.in
	in.exec = func(w *warp, in *instr, m uint32) {
		l := lowest(m)
		w.fail(in, l, gpu.ErrOutOfBounds, "a call of address %#x, which is no function of the wanted type", lanes[uint64](w, in.a)[l])
	}
	return lo.use(&in.a, 0, "b64")
}
