package flow

import (
	"fmt"
	"slices"
	"strings"

	"warpbook/gpu/ptx"
)

// This file handles function pointers. Each function has an address that cannot be
// loaded from, and a call through a pointer compares it with the addresses of the
// functions of the wanted type.

// functionStep is the distance between the addresses of two functions.
const functionStep = 128

// Addresses are the addresses of a module's functions that can be called through a
// pointer.
func Addresses(text *ptx.Module) map[string]uint64 {
	at := map[string]uint64{}
	for n, f := range text.Functions {
		if !f.Entry && !f.Extern {
			at[f.Name] = uint64(n+1) * functionStep
		}
	}
	return at
}

// Function finds a function that the module defines, or nil.
func function(text *ptx.Module, name string) *ptx.Function {
	for _, f := range text.Functions {
		if f.Name == name && !f.Entry && !f.Extern {
			return f
		}
	}
	return nil
}

// pointed are the possible targets of a call through a pointer: those of its
// .calltargets, or the functions of its .callprototype whose address is used.
func (i *inliner) pointed(c called) (functions []*ptx.Function) {
	if names, ok := i.flat.Tables[c.prototype]; ok {
		for _, name := range names {
			if f := function(i.text, name); f != nil {
				functions = append(functions, f)
			}
		}
		return functions
	}
	want := i.within.Prototypes[strings.TrimPrefix(c.prototype, i.prefix)]
	if want == nil {
		return nil
	}
	used := addressed(i.text)
	for _, f := range i.text.Functions {
		if used[f.Name] && !f.Entry && !f.Extern && sameSizes(f.Returns, want.Returns) && sameSizes(f.Params, want.Params) {
			functions = append(functions, f)
		}
	}
	return functions
}

func sameSizes(a, b []*ptx.Variable) bool {
	return slices.EqualFunc(a, b, func(x, y *ptx.Variable) bool { return x.Bytes() == y.Bytes() })
}

// addressed are the names whose address the module uses.
func addressed(text *ptx.Module) map[string]bool {
	used := map[string]bool{}
	for _, v := range text.Variables {
		for _, r := range v.Relocs {
			used[r.Symbol] = true
		}
	}
	for _, f := range text.Functions {
		for _, in := range f.Code {
			for _, o := range in.Operands {
				used[o.Symbol] = used[o.Symbol] || in.Opcode != "call"
			}
		}
	}
	return used
}

// choose inlines each possible function, guarded by a comparison with the pointer.
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
			ptx.Operand{Kind: ptx.ImmediateOperand, Bits: i.addresses[f.Name]})
		emit("bra", not, nil, ptx.Operand{Kind: ptx.LabelOperand, Symbol: next})
		// Labels of the function begin with the label of the call.
		place := fmt.Sprintf("%s.%d", after, n)
		if err := i.enter(f, c, place); err != nil {
			return err
		}
		i.flat.Labels[place] = len(i.flat.Code)
		emit("bra", -1, nil, ptx.Operand{Kind: ptx.LabelOperand, Symbol: after})
		i.flat.Labels[next] = len(i.flat.Code)
	}
	emit("trap", -1, nil, c.target)
	return nil
}
