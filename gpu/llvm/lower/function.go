package lower

import (
	"fmt"
	"strconv"

	"warpbook/gpu/llvm/ir"
	"warpbook/gpu/llvm/machine"
)

// operand and reg are the values of instructions.
type (
	operand = machine.Operand
	reg     = machine.Reg
)

// Error is code that has no PTX here.
type Error struct {
	Place ir.Place
	Line  int // of the intermediate code
	Fact  string
}

func (e *Error) Error() string {
	if e.Place.Line > 0 {
		return fmt.Sprintf("llvm: %s:%d: %s", e.Place.File, e.Place.Line, e.Fact)
	}
	return fmt.Sprintf("llvm: line %d of the intermediate code: %s", e.Line, e.Fact)
}

// value is a lowered value: a register or text for each of its leaves. A pointer is the
// sum of its part and an offset in bytes, in the address space that was inferred.
type value struct {
	parts  []operand
	offset int64
}

// fn lowers one function. It panics with *Error; PTX recovers it.
type fn struct {
	*module
	ir       *ir.Func
	out      *machine.Func
	symbol   string
	spaces   map[*ir.Value]int
	users    map[*ir.Value]int
	apart    map[element]int // by which the users of an element differ from those of its vector, once vectors are taken apart
	values   map[*ir.Value]value
	blocks   []*machine.Block // by number of ir block
	entry    *machine.Block   // before the first block
	cur      *machine.Block
	block    *ir.Block // that cur lowers
	at       *ir.Value // being lowered
	place    machine.Place
	dom      []*ir.Block // immediate dominators
	known    map[string][]known
	clean    map[reg]int               // the width above which all bits of a register are 0
	groups   map[*ir.Value][]neighbour // of the block that is being lowered, by the access that stands for all
	merged   map[*ir.Value]bool        // accesses that are members of a group
	products map[reg]*ir.Value         // by the registers of their results, scalars or elements of vectors
	locals   []string
	calls    int
	uid      int // of the last label in inline assembly
}

// known is a pure instruction that was emitted.
type known struct {
	block *ir.Block // nil: in entry
	out   []operand
}

func (f *fn) fail(format string, args ...any) {
	e := &Error{Fact: fmt.Sprintf(format, args...), Place: f.ir.Place}
	if f.at != nil {
		e.Line = f.at.Line
		if f.at.Place.Line > 0 {
			e.Place = f.at.Place
		}
	}
	panic(e)
}

// located turns a panic of another kind, which is a mistake of this package, into an *Error
// with the place of the source.
func (f *fn) located() {
	switch r := recover().(type) {
	case nil:
	case *Error:
		panic(r)
	default:
		f.fail("mistake of warpbook's back end: %v", r)
	}
}

// lower makes the instructions of the function.
func (f *fn) lower() {
	depth := loopDepths(f.ir)
	order := layout(f.ir, depth)
	f.dom = dominators(f.ir, order)
	f.inferSpaces(order)
	f.countUsers()
	f.blocks = make([]*machine.Block, len(f.ir.Blocks))
	f.entry = &machine.Block{}
	f.out.Blocks = append(f.out.Blocks, f.entry)
	for _, b := range order {
		m := &machine.Block{Depth: depth[b.Number]}
		f.blocks[b.Number] = m
		f.out.Blocks = append(f.out.Blocks, m)
		f.phis(b, m)
	}
	f.cur = f.entry
	f.parameters()
	for _, b := range order {
		f.cur, f.block = f.blocks[b.Number], b
		f.mergeAccesses(b)
		for _, v := range b.Values {
			f.at = v
			f.setPlace(v.Place)
			f.instruction(v)
		}
	}
	for _, b := range order {
		f.cur, f.block = f.blocks[b.Number], b
		f.moves(b)
	}
	f.cur, f.block, f.at = f.entry, nil, nil
	f.entry.Exits = []machine.Exit{{To: f.blocks[f.ir.Blocks[0].Number]}}
}

func (f *fn) setPlace(p ir.Place) {
	f.place = machine.Place{}
	if p.Line > 0 {
		f.place = machine.Place{File: f.file(p.File), Line: p.Line, Col: p.Col}
	}
}

// element is an element of a vector, by its number.
type element struct {
	of *ir.Value
	at uint64
}

func (f *fn) countUsers() {
	f.users, f.apart = map[*ir.Value]int{}, map[element]int{}
	var extracts []*ir.Value
	for _, b := range f.ir.Blocks {
		for _, v := range b.Values {
			for _, o := range v.Operands {
				f.users[o]++
			}
			if v.Op == "extractelement" && v.Operands[1].Kind == ir.Constant {
				extracts = append(extracts, v)
			}
		}
	}
	for _, v := range extracts {
		of := v.Operands[0]
		for i := range uint64(of.Type.Len) {
			f.apart[element{of, i}]--
		}
		f.apart[element{of, v.Operands[1].Bits}] += f.users[v]
	}
}

// phis gives the phis of a block their registers.
func (f *fn) phis(b *ir.Block, m *machine.Block) {
	for _, v := range b.Values {
		if v.Op != "phi" {
			return
		}
		f.at = v
		var parts []operand
		for _, t := range f.leaves(v.Type) {
			r := f.out.NewReg(f.class(t))
			m.Phis = append(m.Phis, r)
			parts = append(parts, operand{Reg: r})
		}
		f.values[v] = value{parts: parts}
	}
}

// moves fills the exits of a block with the operands of the phis that they lead to.
func (f *fn) moves(b *ir.Block) {
	for i, next := range b.Next() {
		for _, phi := range next.Values {
			if phi.Op != "phi" {
				break
			}
			f.at = phi
			for k, from := range phi.Blocks {
				if from != b {
					continue
				}
				f.setPlace(b.Last().Place)
				f.move(i, phi, phi.Operands[k])
				break
			}
		}
	}
}

// move copies a value to a phi on an exit. An undefined one needs no copy.
func (f *fn) move(exit int, phi, v *ir.Value) {
	if v.Kind == ir.Undef {
		return
	}
	var parts []operand
	if phi.Type.Kind == ir.Pointer {
		parts = []operand{f.pointer(v, f.space(phi))}
	} else {
		parts = f.parts(v)
	}
	exits := f.cur.Exits
	if f.block.Last().Op == "switch" { // whose first target comes last
		exit = (exit + len(exits) - 1) % len(exits)
	}
	for i, to := range f.values[phi].parts {
		from := parts[i]
		if from.Reg == 0 && f.out.ClassOf(to.Reg) == machine.Pred {
			from = f.boolReg(from)
		}
		exits[exit].Moves = append(exits[exit].Moves, machine.Move{To: to.Reg, From: from})
	}
}

// leaves are the types of the registers that a value takes.
func (f *fn) leaves(t *ir.Type) []*ir.Type {
	switch {
	case t.Kind == ir.Void:
		return nil
	case t.IsAggregate():
		var list []*ir.Type
		for i := range t.Parts() {
			list = append(list, f.leaves(t.Part(i))...)
		}
		return list
	case isWide(t):
		return []*ir.Type{word64, word64}
	case t.Kind == ir.Vector && !packed(t):
		list := make([]*ir.Type, t.Len)
		for i := range list {
			list[i] = t.Elem
		}
		return list
	}
	return []*ir.Type{t}
}

// packed reports whether a vector is held in one register of 32 bits.
func packed(t *ir.Type) bool {
	return t.Kind == ir.Vector && t.Len*t.Elem.Width() == 32 && t.Len > 1 && (t.Elem.Width() == 16 || t.Elem.Width() == 8)
}

// class is the kind of register that a leaf takes.
func (f *fn) class(t *ir.Type) machine.Class {
	switch {
	case t.IsBool():
		return machine.Pred
	case t.Kind == ir.Int && t.Bits > 64:
		f.fail("a number of %d bits is not supported, expected at most 64, or 128", t.Bits)
	case t.Kind == ir.Function || t.Kind == ir.Other || t.Kind == ir.Void:
		f.fail("a value of type %v has no register", t)
	case t.Width() <= 16:
		return machine.B16
	case t.Width() <= 32:
		return machine.B32
	}
	return machine.B64
}

// emit adds an instruction.
func (f *fn) emit(format string, defs int, args ...operand) {
	f.cur.Instrs = append(f.cur.Instrs, machine.Instr{Format: format, Args: args, Defs: defs, Place: f.place})
}

// statements adds what needs no semicolon after it.
func (f *fn) statements(format string, defs int, args ...operand) {
	f.emit(format, defs, args...)
	f.cur.Instrs[len(f.cur.Instrs)-1].Raw = true
}

// pure returns the result of an instruction without effects. One that was emitted in a
// block that comes before on every path is used again.
func (f *fn) pure(c machine.Class, format string, args ...operand) operand {
	return f.pures([]machine.Class{c}, format, args...)[0]
}

func (f *fn) pures(c []machine.Class, format string, args ...operand) []operand {
	key := format
	for _, a := range args {
		key += "|" + a.Text + "#" + strconv.Itoa(int(a.Reg))
	}
	for _, k := range f.known[key] {
		if k.block == nil || f.block != nil && f.dominates(k.block, f.block) {
			return k.out
		}
	}
	var out []operand
	for _, class := range c {
		out = append(out, operand{Reg: f.out.NewReg(class)})
	}
	f.cur.Instrs = append(f.cur.Instrs, machine.Instr{Format: format, Args: append(append([]operand{}, out...), args...), Defs: len(out), Pure: true, Place: f.place})
	where := f.block
	if f.cur == f.entry {
		where = nil
	}
	f.known[key] = append(f.known[key], known{where, out})
	return out
}

// inEntry runs a step whose instructions go before the first block.
func (f *fn) inEntry(step func() operand) operand {
	cur, block, place := f.cur, f.block, f.place
	f.cur, f.block, f.place = f.entry, nil, machine.Place{}
	defer func() { f.cur, f.block, f.place = cur, block, place }()
	return step()
}

// set gives an instruction its value.
func (f *fn) set(v *ir.Value, parts ...operand) { f.values[v] = value{parts: parts} }

// define gives an instruction the result of a pure one.
func (f *fn) define(v *ir.Value, format string, args ...operand) {
	f.set(v, f.pure(f.class(v.Type), format, args...))
}
