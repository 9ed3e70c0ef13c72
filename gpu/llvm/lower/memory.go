package lower

import (
	"fmt"
	"slices"
	"strings"

	"warpbook/gpu/llvm/ir"
	"warpbook/gpu/llvm/machine"
)

// access is a load or store of leaves that lie at offsets from an address.
type access struct {
	word   string // "ld.global.nc"
	base   operand
	offset int64
	align  int // of the address with its offset
}

// accessOf is the access of a load or store to the memory of a pointer.
func (f *fn) accessOf(word string, v, pointer *ir.Value) access {
	a := f.accessWord(word, v, pointer)
	a.base, a.offset = f.address(pointer)
	return a
}

// accessWord is an access without its address.
func (f *fn) accessWord(word string, v, pointer *ir.Value) access {
	space := f.space(pointer)
	a := access{word: word, align: v.Align}
	switch {
	case v.Order != "" && v.Order != "unordered":
		a.word += f.ordered(v, word)
	case v.Has(ir.Volatile):
		a.word += ".volatile"
	}
	if space == param && word != "ld" {
		f.fail("a store to a parameter")
	}
	a.word += spaceNames[space]
	if word == "ld" && space == global && v.Order == "" && !v.Has(ir.Volatile) && (v.Has(ir.Invariant) || f.readOnly(pointer, map[*ir.Value]bool{})) {
		a.word += ".nc"
	}
	if a.align == 0 {
		a.align = 1
	}
	return a
}

// ordered are the words of an atomic load or store.
func (f *fn) ordered(v *ir.Value, word string) string {
	order := map[string]string{"monotonic": ".relaxed", "acquire": ".acquire", "release": ".release", "seq_cst": map[string]string{"ld": ".acquire", "st": ".release"}[word]}[v.Order]
	if order == "" {
		f.fail("%s with the order %s is not supported", v.Op, v.Order)
	}
	if v.Order == "seq_cst" {
		f.emit("fence.sc."+f.scope(v), 0)
	}
	return order + "." + f.scope(v)
}

// scope is PTX's word for the threads that an atomic instruction is visible to.
func (f *fn) scope(v *ir.Value) string {
	scope, ok := map[string]string{"": "sys", "device": "gpu", "block": "cta", "cluster": "cluster", "singlethread": "cta"}[v.Scope]
	if !ok {
		f.fail("unknown scope %q", v.Scope)
	}
	return scope
}

// readOnly reports whether memory does not change while the kernel runs: all that a
// pointer is made of are parameters that nothing else points to and nothing writes.
func (f *fn) readOnly(v *ir.Value, seen map[*ir.Value]bool) bool {
	if seen[v] {
		return true
	}
	seen[v] = true
	switch {
	case v.Kind == ir.Argument:
		return f.ir.Kernel && v.Elem == nil && slices.Contains(v.Words, "noalias") && (slices.Contains(v.Words, "readonly") || slices.Contains(v.Words, "readnone"))
	case v.Kind == ir.Instruction && (v.Op == "getelementptr" || v.Op == "addrspacecast" || v.Op == "freeze"):
		return f.readOnly(v.Operands[0], seen)
	case v.Kind == ir.Instruction && (v.Op == "phi" || v.Op == "select"):
		for i, o := range v.Operands {
			if (v.Op == "phi" || i > 0) && !f.readOnly(o, seen) {
				return false
			}
		}
		return true
	}
	return false
}

func (f *fn) load(v *ir.Value) {
	if members := f.groups[v]; members != nil {
		f.loadMembers(members)
	}
	if f.merged[v] {
		return
	}
	f.set(v, f.loadParts(f.accessOf("ld", v, v.Operands[0]), v.Type)...)
}

// piece is a leaf of a type in memory.
type piece struct {
	t      *ir.Type
	offset int64
}

// pieces are the leaves of a type, with their places.
func (f *fn) pieces(t *ir.Type, at int64) (list []piece) {
	switch {
	case t.IsAggregate():
		for i := range t.Parts() {
			list = append(list, f.pieces(t.Part(i), at+int64(t.Offset(i)))...)
		}
		return list
	case isWide(t):
		return []piece{{word64, at}, {word64, at + 8}}
	case t.Kind == ir.Vector && !packed(t):
		if t.Elem.Width() < 8 {
			f.fail("%v in memory is not supported", t)
		}
		for i := range t.Len {
			list = append(list, piece{t.Elem, at + int64(i*t.Elem.Width()/8)})
		}
		return list
	}
	return []piece{{t, at}}
}

// memoryWidth is the number of bits of a leaf in memory.
func memoryWidth(t *ir.Type) int { return t.Size() * 8 }

// group is a run of leaves that one instruction moves.
func group(list []piece, a access) int {
	first := list[0]
	width := memoryWidth(first.t)
	for _, n := range []int{4, 2} {
		bytes := n * width / 8
		if n > len(list) || bytes > 16 || int64(bytes) > alignAt(a, first.offset) || first.t.IsBool() {
			continue
		}
		fits := true
		for i, p := range list[:n] {
			fits = fits && memoryWidth(p.t) == width && p.offset == first.offset+int64(i*width/8) && !p.t.IsBool()
		}
		if fits {
			return n
		}
	}
	return 1
}

// alignAt is the alignment of a place after the address of an access.
func alignAt(a access, offset int64) int64 {
	align := int64(a.align)
	for align > 1 && offset%align != 0 {
		align /= 2
	}
	return align
}

func (f *fn) loadParts(a access, t *ir.Type) (parts []operand) {
	for list := f.pieces(t, 0); len(list) > 0; {
		n := group(list, a)
		parts = append(parts, f.loadGroup(a, list[:n])...)
		list = list[n:]
	}
	return parts
}

// loadGroup loads leaves of one width that follow each other.
func (f *fn) loadGroup(a access, list []piece) []operand {
	width := memoryWidth(list[0].t)
	if int64(width/8) > alignAt(a, list[0].offset) {
		return []operand{f.loadBytes(a, list[0])}
	}
	var outs []operand
	for _, p := range list {
		c := f.class(p.t)
		if c == machine.Pred {
			c = machine.B16
		}
		outs = append(outs, operand{Reg: f.out.NewReg(c)})
	}
	f.memory(a, list[0].offset, width, len(outs), outs, true)
	for i, p := range list {
		if p.t.Kind == ir.Int && p.t.Bits < 16 {
			f.clean[outs[i].Reg] = width
		}
		if p.t.IsBool() {
			outs[i] = f.pure(machine.Pred, "setp.ne.b16 $0, $1, 0", outs[i])
		}
	}
	return outs
}

// memory emits a load or store of n operands.
func (f *fn) memory(a access, offset int64, width, n int, list []operand, load bool) {
	word := a.word
	if n > 1 {
		word += fmt.Sprintf(".v%d", n)
	}
	word += fmt.Sprintf(".b%d ", width)
	var names []string
	for i := range list {
		names = append(names, fmt.Sprintf("$%d", i))
	}
	values := names[0]
	if n > 1 {
		values = "{" + strings.Join(names, ", ") + "}"
	}
	base := a.base
	if base.Reg == 0 && !strings.HasPrefix(a.word, "ld.param") {
		base = f.inRegister(base, machine.B64)
	}
	place := fmt.Sprintf("[$%d", n)
	if at := a.offset + offset; at != 0 {
		place += fmt.Sprintf("+%d", at)
	}
	place += "]"
	if load {
		in := machine.Instr{Format: word + values + ", " + place, Args: append(list, base), Defs: n, Place: f.place}
		in.Pure = strings.HasPrefix(a.word, "ld.param")
		f.cur.Instrs = append(f.cur.Instrs, in)
		return
	}
	f.emit(word+place+", "+values, 0, append(list, base)...)
}

// loadBytes loads a number byte by byte where its address is not aligned.
func (f *fn) loadBytes(a access, p piece) operand {
	if strings.Contains(a.word, "relaxed") || strings.Contains(a.word, "acquire") {
		f.fail("an atomic load that is not aligned")
	}
	unit := int(alignAt(a, p.offset)) * 8
	c := f.class(p.t)
	width := memoryWidth(p.t)
	wide := max(registerWidth(p.t), 32)
	wideClass := map[int]machine.Class{32: machine.B32, 64: machine.B64}[wide]
	var sum operand
	for at := 0; at < width; at += unit {
		r := operand{Reg: f.out.NewReg(map[bool]machine.Class{true: machine.B16, false: machine.B32}[unit <= 16])}
		f.memory(a, p.offset+int64(at/8), unit, 1, []operand{r}, true)
		if rw := map[bool]int{true: 16, false: 32}[unit <= 16]; rw != wide {
			r = f.pure(wideClass, fmt.Sprintf("cvt.u%d.u%d $0, $1", wide, rw), r)
		}
		if at == 0 {
			sum = r
			continue
		}
		r = f.pure(wideClass, fmt.Sprintf("shl.b%d $0, $1, %d", wide, at), r)
		sum = f.pure(wideClass, fmt.Sprintf("or.b%d $0, $1, $2", wide), sum, r)
	}
	if c == machine.B16 {
		return f.pure(c, fmt.Sprintf("cvt.u16.u%d $0, $1", wide), sum)
	}
	return sum
}

func (f *fn) store(v *ir.Value) {
	if members := f.groups[v]; members != nil {
		f.storeMembers(members)
	}
	if f.merged[v] {
		return
	}
	f.storeParts(f.accessOf("st", v, v.Operands[1]), v.Operands[0].Type, f.parts(v.Operands[0]))
}

func (f *fn) storeParts(a access, t *ir.Type, parts []operand) {
	list := f.pieces(t, 0)
	for i := 0; i < len(list); {
		n := group(list[i:], a)
		f.storeGroup(a, list[i:i+n], parts[i:i+n])
		i += n
	}
}

func (f *fn) storeGroup(a access, list []piece, parts []operand) {
	width := memoryWidth(list[0].t)
	values := slices.Clone(parts)
	for i, p := range list {
		c := f.class(p.t)
		if c == machine.Pred {
			values[i] = f.pure(machine.B16, "selp.b16 $0, 1, 0, $1", f.boolReg(values[i]))
		}
		if values[i].Reg == 0 {
			if c == machine.Pred {
				c = machine.B16
			}
			values[i] = f.inRegister(values[i], c)
		}
	}
	if int64(width/8) > alignAt(a, list[0].offset) {
		f.storeBytes(a, list[0], values[0])
		return
	}
	f.memory(a, list[0].offset, width, len(values), values, false)
}

// storeBytes stores a number in pieces where its address is not aligned.
func (f *fn) storeBytes(a access, p piece, o operand) {
	if strings.Contains(a.word, "relaxed") || strings.Contains(a.word, "release") {
		f.fail("an atomic store that is not aligned")
	}
	unit := int(alignAt(a, p.offset)) * 8
	wide := registerWidth(p.t)
	for at := 0; at < memoryWidth(p.t); at += unit {
		r := o
		if at > 0 {
			r = f.pure(f.class(p.t), fmt.Sprintf("shr.u%d $0, $1, %d", wide, at), r)
		}
		f.memory(a, p.offset+int64(at/8), unit, 1, []operand{r}, false)
	}
}
