//go:build !js

package flow

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"warpbook/gpu"
	"warpbook/gpu/ptx"
)

// This file handles recursion. The code of a function that calls itself, directly or through
// others, is inlined once where it is called from outside, with that of the recursive functions
// that it calls: a call from within jumps to its beginning. Its parameters, local variables and
// those of all that is inlined in it are a frame on a stack in local memory, which a register
// points to. A call from within saves the caller's registers that are used after it in the
// caller's frame. A word of each frame numbers the call that it returns to.

const stackName = "stack of frames"

// frame is that of one inlined recursive function.
type frame struct {
	function    *ptx.Function
	bytes       int    // of parameters, variables and saved registers
	saves       int    // bytes, with the registers that one call saves
	returns     int    // offset of the word that numbers the call
	entry, exit string // labels
	variables   string // the beginning of the names of its results and parameters
	table       string // of the calls' labels, by number
	first, last int    // the registers of its code are [first, last)
	sites       int
}

// place is where a variable lies: at an offset of the frame, or of the one that a call from it
// makes.
type place struct {
	frame  *frame // nil for the entry's part of the stack, which is empty
	callee bool
	offset int
}

// recursion is the state of the inliner about recursion.
type recursion struct {
	heads   map[string]bool  // functions that were seen to call themselves
	frames  []*frame         // that calls from within can reach, in the order of their code
	current *frame           // whose code is being appended, nil in the entry
	places  map[string]place // of variables in frames
	pointer int              // register that points to the frame
	end     int              // register that points behind what a recursion may take unasked
	passing int              // bytes behind the whole stack, for parameters of the call that is too deep
	patches []patch
	sites   map[int]site // calls from within, by the index of their jump
}

// patch adds the size of a frame to an operand of an instruction.
type patch struct {
	at, operand int
	frame       *frame
}

// site is a call from within a recursive function.
type site struct {
	caller *frame
	start  int    // index of its first instruction
	after  string // the label that it returns to
}

func newRecursion(heads map[string]bool) recursion {
	return recursion{heads: heads, places: map[string]place{}, sites: map[int]site{}}
}

// recursive reports whether a function was seen to call itself.
func (r *recursion) recursive(f *ptx.Function) bool { return r.heads[f.Name] }

// found notes a function that calls itself: the inliner begins again.
func (r *recursion) found(f *ptx.Function) error {
	r.heads[f.Name] = true
	return errRecursion
}

// placer returns what finds room in frames for the variables of a function.
func (i *inliner) placer(f *ptx.Function) func(v *ptx.Variable, name string) bool {
	to, builtin := i.passed(f)
	return func(v *ptx.Variable, name string) bool {
		if offset, ok := to[v.Name]; ok {
			i.places[name] = place{i.current, true, offset}
			return true
		}
		if f := i.current; f != nil && !builtin[v.Name] {
			i.places[name] = place{f, false, f.room(v.Bytes(), v.Align)}
			return true
		}
		return false
	}
}

// open is the frame of a function that calls from within can reach, or nil.
func (r *recursion) open(f *ptx.Function) *frame {
	for _, x := range r.frames {
		if x.function == f {
			return x
		}
	}
	return nil
}

func aligned(n, to int) int { return (n + to - 1) / max(to, 1) * max(to, 1) }

// room reserves bytes of a frame.
func (f *frame) room(bytes, align int) int {
	at := aligned(f.bytes, align)
	f.bytes = at + bytes
	return at
}

// parameters are the offsets of a function's results and parameters, which its frame begins with.
func parameters(f *ptx.Function) (offsets []int, end int) {
	for _, v := range slices.Concat(f.Returns, f.Params) {
		end = aligned(end, v.Align)
		offsets = append(offsets, end)
		end += v.Bytes()
	}
	return offsets, end
}

// passed are the variables of a function that it passes to a recursive one, with their offsets in
// that one's frame, and those that it passes to functions of the emulator, which need no frame.
func (i *inliner) passed(f *ptx.Function) (to map[string]int, builtin map[string]bool) {
	to, builtin = map[string]int{}, map[string]bool{}
	for _, in := range f.Code {
		if in.Opcode != "call" {
			continue
		}
		c := callOf(in)
		var callees []*ptx.Function
		if c.target.Kind == ptx.RegisterOperand {
			outer := i.within
			i.within = f
			callees = i.pointed(c)
			i.within = outer
		} else if builtins[c.target.Symbol] {
			for _, a := range c.args {
				builtin[a] = true
			}
		} else if g := function(i.text, c.target.Symbol); g != nil {
			callees = []*ptx.Function{g}
		}
		for _, g := range callees {
			if !i.heads[g.Name] {
				continue
			}
			offsets, _ := parameters(g)
			for n, a := range c.args {
				if n < len(offsets) {
					to[a] = offsets[n]
				}
			}
		}
	}
	return to, builtin
}

// register adds a register.
func (i *inliner) register(name string, t ptx.Type) int {
	i.flat.Registers = append(i.flat.Registers, ptx.Reg{Name: name, Type: t})
	return len(i.flat.Registers) - 1
}

// emit appends an instruction with the place of another one.
func (i *inliner) emit(like ptx.Instruction, guard int, opcode string, modifiers []string, operands ...ptx.Operand) {
	i.flat.Code = append(i.flat.Code, made(like, guard, opcode, modifiers, operands...))
}

func made(like ptx.Instruction, guard int, opcode string, modifiers []string, operands ...ptx.Operand) ptx.Instruction {
	return ptx.Instruction{Pos: like.Pos, Source: like.Source, Inlined: like.Inlined, Guard: guard, Opcode: opcode, Modifiers: modifiers, Operands: operands}
}

func reg(n int) ptx.Operand { return ptx.Operand{Kind: ptx.RegisterOperand, Reg: n, Second: -1} }

func number(n int) ptx.Operand { return ptx.Operand{Kind: ptx.ImmediateOperand, Bits: uint64(n)} }

func label(name string) ptx.Operand { return ptx.Operand{Kind: ptx.LabelOperand, Symbol: name} }

func slot(pointer, offset int) ptx.Operand {
	return ptx.Operand{Kind: ptx.AddressOperand, Reg: pointer, Second: -1, Offset: int64(offset)}
}

// grow notes that the last instruction's operand counts from the end of a frame.
func (i *inliner) grow(operand int, f *frame) {
	if f != nil {
		i.patches = append(i.patches, patch{len(i.flat.Code) - 1, operand, f})
	}
}

// descend calls a recursive function: it jumps to its beginning. Behind a call from outside stands
// the code of the function, and of those that it calls.
func (i *inliner) descend(f *ptx.Function, like ptx.Instruction, after string) error {
	like.Operands, like.Guard = nil, -1
	caller, callee := i.current, i.open(f)
	if callee == nil {
		_, end := parameters(f)
		i.passing = max(i.passing, end)
		callee = &frame{function: f, bytes: end, entry: after + ".begin", exit: after + ".end", variables: after + ".frame.", table: after + calls}
		callee.returns = callee.room(4, 4)
		i.frames = append(i.frames, callee)
	}
	back := fmt.Sprintf("%s.back %d", after, callee.sites)
	i.flat.Tables[callee.table] = append(i.flat.Tables[callee.table], back)
	start := len(i.flat.Code)
	word, top, deep := i.register("%"+back, "u32"), i.register("%"+back+".top", "u64"), i.register("%"+back+".deep", "pred")
	i.emit(like, -1, "mov", []string{"u32"}, reg(word), number(callee.sites))
	i.emit(like, -1, "add", []string{"u64"}, reg(top), reg(i.pointer), number(0))
	i.grow(2, caller)
	i.grow(2, callee)
	i.emit(like, -1, "setp", []string{"gt", "u64"}, reg(deep), reg(top), reg(i.end))
	i.emit(like, deep, "call deep", nil, reg(top), reg(i.end))
	i.emit(like, -1, "st", []string{"local", "u32"}, slot(i.pointer, callee.returns), reg(word))
	i.grow(0, caller)
	i.emit(like, -1, "add", []string{"u64"}, reg(i.pointer), reg(i.pointer), number(0))
	i.grow(2, caller)
	callee.sites++
	i.emit(like, -1, "bra", []string{"uni"}, label(callee.entry))
	if caller != nil {
		i.sites[len(i.flat.Code)-1] = site{caller, start, back}
	} else {
		for n := 0; n < len(i.frames); n++ { // each may add others
			if err := i.head(i.frames[n], like); err != nil {
				return err
			}
		}
		i.frames = nil
	}
	i.flat.Labels[back] = len(i.flat.Code)
	i.emit(like, -1, "sub", []string{"u64"}, reg(i.pointer), reg(i.pointer), number(0))
	i.grow(2, caller)
	return nil
}

// head appends the code of a recursive function, with its return to each call.
func (i *inliner) head(f *frame, like ptx.Instruction) error {
	i.flat.Labels[f.entry] = len(i.flat.Code)
	f.first = len(i.flat.Registers)
	names := map[string]string{}
	offsets, _ := parameters(f.function)
	for n, v := range slices.Concat(f.function.Returns, f.function.Params) {
		names[v.Name] = f.variables + v.Name
		i.places[names[v.Name]] = place{frame: f, offset: offsets[n]}
	}
	i.current = f
	err := i.body(f.function, names, f.exit)
	i.current = nil
	if err != nil {
		return err
	}
	f.last = len(i.flat.Registers)
	i.flat.Labels[f.exit] = len(i.flat.Code)
	to := i.register("%"+f.exit, "u32")
	i.emit(like, -1, "ld", []string{"local", "u32"}, reg(to), slot(i.pointer, f.returns))
	i.emit(like, -1, "brx", []string{"idx"}, reg(to), label(f.table))
	return nil
}

// framed rewrites an instruction whose variables lie in frames, and reports whether it did.
func (i *inliner) framed(in ptx.Instruction) bool {
	for n, o := range in.Operands {
		p, ok := i.places[o.Symbol]
		if !ok || o.Kind != ptx.AddressOperand && o.Kind != ptx.SymbolOperand {
			continue
		}
		end := (*frame)(nil)
		if p.callee {
			end = p.frame
		}
		in.Operands = slices.Clone(in.Operands)
		if o.Kind == ptx.AddressOperand && o.Reg < 0 {
			in.Operands[n] = slot(i.pointer, p.offset+int(o.Offset))
			in.Modifiers = slices.Clone(in.Modifiers)
			for k, m := range in.Modifiers {
				if m == "param" || m == "param::func" {
					in.Modifiers[k] = "local"
				}
			}
			i.flat.Code = append(i.flat.Code, in)
			i.grow(n, end)
			return true
		}
		if o.Kind != ptx.SymbolOperand {
			continue
		}
		at := i.register("%address "+strconv.Itoa(len(i.flat.Registers)), "u64")
		i.emit(in, -1, "add", []string{"u64"}, reg(at), reg(i.pointer), number(p.offset+int(o.Offset)))
		i.grow(2, end)
		in.Operands[n] = reg(at)
		i.flat.Code = append(i.flat.Code, in)
		return true
	}
	return false
}

// begin points to the stack at the start of an entry that calls recursive functions.
func (i *inliner) begin(entry *ptx.Function) {
	if len(i.heads) == 0 {
		return
	}
	i.pointer, i.end = i.register("%frame", "u64"), i.register("%frames", "u64")
	like := ptx.Instruction{Pos: entry.Pos}
	if len(entry.Code) > 0 {
		like = entry.Code[0]
	}
	stack := ptx.Operand{Kind: ptx.SymbolOperand, Symbol: stackName}
	i.emit(like, -1, "mov", []string{"u64"}, reg(i.pointer), stack)
	i.emit(like, -1, "add", []string{"u64"}, reg(i.end), reg(i.pointer), number(Unasked))
}

// finish sizes the frames, and saves what is used after calls.
func (i *inliner) finish() error {
	if len(i.heads) == 0 {
		return nil
	}
	i.flat.Variables = append(i.flat.Variables, &ptx.Variable{Name: stackName, Space: ptx.Local, Type: "b8", Vector: 1, Count: StackBytes + i.passing, Align: 16})
	live := i.live()
	moves := map[int]*saved{} // by site
	for _, at := range slices.Sorted(maps.Keys(i.sites)) {
		s := i.sites[at]
		m, begin := &saved{}, s.caller.bytes
		for r := s.caller.first; r < s.caller.last; r++ {
			if !live[s.after].has(r) {
				continue
			}
			size := i.flat.Registers[r].Type.Bytes()
			if size > 8 || size == 0 {
				return fmt.Errorf("emu: %w: a register of type %s is used after a recursive call: run this entry on a GPU", gpu.ErrUnsupported, i.flat.Registers[r].Type)
			}
			if i.flat.Registers[r].Type == "pred" {
				size = 4
			}
			m.registers, m.offsets = append(m.registers, r), append(m.offsets, s.caller.room(size, size))
		}
		// One call saves where another does: no two of a frame are under way.
		s.caller.saves, s.caller.bytes = max(s.caller.saves, s.caller.bytes), begin
		moves[at] = m
	}
	sized := map[*frame]bool{}
	for _, p := range i.patches {
		if !sized[p.frame] {
			sized[p.frame] = true
			p.frame.bytes = aligned(max(p.frame.bytes, p.frame.saves), 16)
		}
		o := &i.flat.Code[p.at].Operands[p.operand]
		if o.Kind == ptx.AddressOperand {
			o.Offset += int64(p.frame.bytes)
		} else {
			o.Bits += uint64(p.frame.bytes)
		}
	}
	i.expand(moves)
	return nil
}

// saved are the registers that a call saves, and their offsets in its frame.
type saved struct{ registers, offsets []int }

// expand puts the instructions that save registers before calls, and those that restore them
// behind. Code that goes round a call jumps behind both.
func (i *inliner) expand(moves map[int]*saved) {
	before, behind := map[int]*saved{}, map[int]*saved{}
	for at, m := range moves {
		before[i.sites[at].start] = m
		behind[i.flat.Labels[i.sites[at].after]+1] = m
	}
	old := i.flat.Code
	i.flat.Code = nil
	moved := make([]int, len(old)+1)
	for n := range moved {
		like := old[min(n, len(old)-1)]
		i.move(like, behind[n], false)
		moved[n] = len(i.flat.Code)
		i.move(like, before[n], true)
		if n < len(old) {
			i.flat.Code = append(i.flat.Code, old[n])
		}
	}
	for name, n := range i.flat.Labels {
		i.flat.Labels[name] = moved[n]
	}
	for n := range i.flat.Inlined {
		f := &i.flat.Inlined[n]
		f.From, f.To = moved[f.From], moved[f.To]
	}
}

// move saves or restores registers.
func (i *inliner) move(like ptx.Instruction, m *saved, save bool) {
	if m == nil {
		return
	}
	for n, r := range m.registers {
		at := slot(i.pointer, m.offsets[n])
		t := "b" + strconv.Itoa(8*i.flat.Registers[r].Type.Bytes())
		predicate := i.flat.Registers[r].Type == "pred"
		from := r
		if predicate {
			t, from = "u32", i.register("%saved "+strconv.Itoa(len(i.flat.Registers)), "u32")
		}
		switch {
		case save && predicate:
			i.emit(like, -1, "selp", []string{t}, reg(from), number(1), number(0), reg(r))
			fallthrough
		case save:
			i.emit(like, -1, "st", []string{"local", t}, at, reg(from))
		default:
			i.emit(like, -1, "ld", []string{"local", t}, reg(from), at)
			if predicate {
				i.emit(like, -1, "setp", []string{"ne", t}, reg(r), reg(from), number(0))
			}
		}
	}
}
