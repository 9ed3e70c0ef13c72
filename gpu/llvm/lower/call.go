package lower

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"warpbook/gpu/llvm/ir"
	"warpbook/gpu/llvm/machine"
)

// parameters loads the parameters of the function at its entry.
func (f *fn) parameters() {
	for i, p := range f.ir.Params {
		name := f.symbol + "_param_" + strconv.Itoa(i)
		a := access{word: "ld.param", base: text(name), align: 16}
		if p.Elem == nil || !slices.Contains(p.Words, "byval") {
			f.set(p, f.fromParameter(a, p.Type, f.ir.Kernel)...)
			continue
		}
		switch f.spaces[p] {
		case param:
			f.set(p, text(name))
		case generic:
			f.set(p, f.pure(machine.B64, "cvta.param.u64 $0, $1", f.pure(machine.B64, "mov.b64 $0, $1", text(name))))
		default:
			a.align = max(p.Align, p.Elem.Align())
			here := f.variable(p.Elem.Size(), a.align)
			f.storeParts(access{word: "st.local", base: here, align: a.align}, p.Elem, f.loadParts(a, p.Elem))
			f.set(p, here)
		}
	}
}

// variable is the address of new local memory.
func (f *fn) variable(size, align int) operand {
	name := fmt.Sprintf("__local_%d_%d", f.index, len(f.locals))
	f.locals = append(f.locals, fmt.Sprintf("\t.local .align %d .b8 \t%s[%d];\n", align, name, max(1, size)))
	return f.inEntry(func() operand { return f.pure(machine.B64, "mov.b64 $0, $1", text(name)) })
}

func (f *fn) alloca(v *ir.Value) {
	size := v.Elem.Size()
	if len(v.Operands) > 0 {
		n, ok := v.Operands[0].Int()
		if !ok {
			f.fail("local memory of a variable size is not supported")
		}
		size *= int(n)
	}
	f.set(v, f.variable(size, max(v.Align, v.Elem.Align())))
}

// isSmall reports whether a function passes a number in a parameter of 32 bits.
func isSmall(t *ir.Type) bool { return t.Kind == ir.Int && t.Bits < 32 }

// fromParameter loads a value that was passed, aligned as declared says.
func (f *fn) fromParameter(a access, t *ir.Type, kernel bool) []operand {
	if t.IsAggregate() || t.Kind == ir.Vector || isWide(t) {
		a.align = t.Align()
	}
	if kernel || !isSmall(t) {
		return f.loadParts(a, t)
	}
	return []operand{f.truncated(f.temporary(ir.IntType(32), f.loadParts(a, ir.IntType(32))[0]), t)}
}

// toParameter stores a value that is passed.
func (f *fn) toParameter(name string, v *ir.Value) {
	a := access{word: "st.param", base: text(name), align: 16}
	switch {
	case v.Op == "byval" && v.Kind == ir.Expression:
		of := v.Operands[0]
		from := access{word: "ld" + spaceNames[f.space(of)], align: max(v.Align, v.Elem.Align())}
		from.base, from.offset = f.address(of)
		f.storeText(a, v.Elem, f.loadParts(from, v.Elem))
	case isSmall(v.Type):
		f.storeText(a, ir.IntType(32), []operand{f.inRegister(f.widened(v, false, 32), machine.B32)})
	default:
		f.storeText(a, v.Type, f.parts(v))
	}
}

// storeText stores leaves to a parameter, whose address is its name.
func (f *fn) storeText(a access, t *ir.Type, parts []operand) {
	for i, p := range f.pieces(t, 0) {
		o := parts[i]
		if p.t.IsBool() {
			o = f.pure(machine.B16, "selp.b16 $0, 1, 0, $1", f.boolReg(o))
		} else {
			o = f.inRegister(o, f.class(p.t))
		}
		place := a.base.Text
		if p.offset > 0 {
			place += "+" + strconv.FormatInt(p.offset, 10)
		}
		f.emit(fmt.Sprintf("%s.b%d [%s], $0", a.word, memoryWidth(p.t), place), 0, o)
	}
}

// declared is the declaration of a parameter of a device function, or of a result.
func declared(t *ir.Type, byval *ir.Type, align int, name string) string {
	switch {
	case byval != nil:
		return fmt.Sprintf(".param .align %d .b8 %s[%d]", max(align, byval.Align()), name, max(1, byval.Size()))
	case t.IsAggregate() || t.Kind == ir.Vector || isWide(t):
		return fmt.Sprintf(".param .align %d .b8 %s[%d]", t.Align(), name, max(1, t.Size()))
	}
	return fmt.Sprintf(".param .b%d %s", max(32, registerWidth(t)), name)
}

// call lowers a call: of an intrinsic, of inline assembly or of a function.
func (f *fn) call(v *ir.Value) {
	callee := v.Operands[0]
	switch {
	case callee.Kind == ir.Assembly:
		f.assembly(v, callee.Asm)
	case strings.HasPrefix(v.Callee(), "llvm."):
		f.intrinsic(v, strings.TrimPrefix(v.Callee(), "llvm."))
	default:
		f.callFunction(v, callee)
	}
}

// callFunction passes parameters in a scope of its own.
func (f *fn) callFunction(v, callee *ir.Value) {
	var target operand
	prototype := ""
	if callee.Kind == ir.Symbol && f.Of[callee.Name] != nil {
		target = text(symbol(callee.Name))
		f.note(callee.Name)
	} else {
		target = f.inRegister(f.pointer(callee, generic), machine.B64)
		f.calls++
		prototype = fmt.Sprintf("prototype_%d_%d", f.index, f.calls)
	}
	f.statements("{", 0)
	var names, types []string
	for i, a := range v.Operands[1:] {
		name := fmt.Sprintf("param%d", i)
		names = append(names, name)
		var byval *ir.Type
		if a.Op == "byval" {
			byval = a.Elem
		}
		f.emit(declared(a.Type, byval, a.Align, name), 0)
		types = append(types, declared(a.Type, byval, a.Align, "_"))
		f.toParameter(name, a)
	}
	result, shape := "", "_"
	if v.Type.Kind != ir.Void {
		f.emit(declared(v.Type, nil, 0, "retval0"), 0)
		result, shape = "(retval0), ", "("+declared(v.Type, nil, 0, "_")+") _"
	}
	list := ", (" + strings.Join(names, ", ") + ")"
	if prototype != "" {
		f.emit(fmt.Sprintf("%s: .callprototype %s (%s)", prototype, shape, strings.Join(types, ", ")), 0)
		f.emit("call "+result+"$0"+list+", "+prototype, 0, target)
	} else {
		f.emit("call.uni "+result+"$0"+list, 0, target)
	}
	var outs []operand
	if v.Type.Kind != ir.Void {
		a := access{word: "ld.param", base: text("retval0"), align: 16}
		outs = f.fromCall(a, v.Type)
	}
	f.statements("}", 0)
	f.set(v, outs...)
}

// fromCall loads a result inside of the scope of a call.
func (f *fn) fromCall(a access, t *ir.Type) []operand {
	first := len(f.cur.Instrs)
	outs := f.fromParameter(a, t, false)
	for i := range f.cur.Instrs[first:] {
		f.cur.Instrs[first+i].Pure = false // its name is of this scope
	}
	return outs
}

// leave lowers what ends a block.
func (f *fn) leave(v *ir.Value) {
	to := func(b *ir.Block) *machine.Block { return f.blocks[b.Number] }
	switch {
	case v.Op == "unreachable":
		f.emit("exit", 0)
	case v.Op == "ret":
		if len(v.Operands) > 0 {
			f.toParameter("func_retval0", v.Operands[0])
		}
		f.emit("ret", 0)
	case v.Op == "switch":
		f.choice(v)
	case len(v.Blocks) == 1:
		f.cur.Exits = []machine.Exit{{To: to(v.Blocks[0])}}
	default:
		p := f.register(v.Operands[0])
		f.cur.Exits = []machine.Exit{{When: p.Reg, To: to(v.Blocks[0])}, {To: to(v.Blocks[1])}}
	}
}

// choice compares the number of a switch with each of its cases.
func (f *fn) choice(v *ir.Value) {
	t := v.Operands[0].Type
	o := f.inRegister(f.extended(v.Operands[0], false), f.class(t))
	for i, c := range v.Operands[1:] {
		p := f.pure(machine.Pred, fmt.Sprintf("setp.eq.b%d $0, $1, $2", registerWidth(t)), o, f.extended(c, false))
		f.cur.Exits = append(f.cur.Exits, machine.Exit{When: p.Reg, To: f.blocks[v.Blocks[i+1].Number]})
	}
	f.cur.Exits = append(f.cur.Exits, machine.Exit{To: f.blocks[v.Blocks[0].Number]})
}
