package programs

import (
	"fmt"
	"strings"
)

// form is an instruction, or a few, that computes %d from %a, %b and %c.
type form struct {
	text   string
	types  string // of %d, %a, %b, %c
	approx bool
}

// list collects forms.
type list []form

func (l *list) add(types, format string, args ...any) {
	*l = append(*l, form{text: fmt.Sprintf(format, args...), types: types})
}

func (l *list) approx(types, format string, args ...any) {
	*l = append(*l, form{fmt.Sprintf(format, args...), types, true})
}

const (
	rowsPerProgram = 8
	formBlocks     = 8 // so that half of the threads hold all pairs of corners
	formThreads    = 256
)

// formPrograms applies every form to corner values: forms with operands of the
// same types share programs.
func formPrograms() []Program {
	var forms list
	forms.integers()
	forms.bits()
	forms.floats()
	forms.doubles()
	forms.comparisons()
	forms.conversions()
	forms.halves()
	forms.pairs()
	forms.atomics()
	forms.approximations()
	groups := map[string][]form{}
	var order []string
	for _, f := range forms {
		_, sources, _ := strings.Cut(f.types, " ")
		key := sources
		if f.approx {
			key = "approx " + key
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], f)
	}
	var all []Program
	for _, key := range order {
		for n, g := 0, groups[key]; len(g) > 0; n++ {
			k := min(rowsPerProgram, len(g))
			all = append(all, formProgram(fmt.Sprintf("forms %s %d", key, n), g[:k]))
			g = g[k:]
		}
	}
	return all
}

// formProgram is a program of forms with the same operands.
func formProgram(name string, forms []form) Program {
	const size = formBlocks * formThreads
	r := source(name)
	p := Program{Name: name, Blocks: formBlocks, Threads: formThreads, Approximate: forms[0].approx}
	var w writer
	w.header()
	w.line(".global .align 8 .b64 far[%d];", size)
	w.entry()
	w.line(".shared .align 8 .b64 own[%d]; .reg .b64 %%own, %%far; mul.wide.u32 %%u, %%at, 8; mov.u64 %%far, far; add.s64 %%far, %%far, %%u;", formThreads)
	w.line("mul.wide.u32 %%u, %%thread, 8; mov.u64 %%own, own; add.s64 %%own, %%own, %%u;")
	for i, typ := range strings.Fields(forms[0].types)[1:] {
		p.In = append(p.In, operands(r, typ, i, size)...)
		register := fmt.Sprintf("%%%c", "abc"[i])
		w.line(".reg .%s %s;", registerType(typ), register)
		w.load(register, registerType(typ), i, size)
	}
	for row, f := range forms {
		d := registerType(strings.Fields(f.types)[0])
		w.line("{ .reg .%s %%d;\n%s", d, f.text)
		w.store(row, size, d, "%d")
		w.line("}")
		p.Rows = append(p.Rows, f.text)
	}
	w.end()
	p.Text = w.String()
	return p
}

// registerType is the type of the register that holds a value.
func registerType(typ string) string {
	switch typ {
	case "f16":
		return "b16"
	case "f16x2":
		return "b32"
	}
	return typ
}

func (l *list) integers() {
	for _, t := range []string{"u16", "s16", "u32", "s32", "u64", "s64"} {
		b := "b" + t[1:]
		for _, op := range []string{"add", "sub", "div", "rem", "min", "max", "mul.hi", "mul.lo"} {
			l.add(b+" "+b+" "+b, "%s.%s %%d, %%a, %%b;", op, t)
		}
		for _, op := range []string{"mad.lo", "mad.hi", "sad"} {
			l.add(b+" "+b+" "+b+" "+b, "%s.%s %%d, %%a, %%b, %%c;", op, t)
		}
		l.add(b+" "+b+" b32", "shr.%s %%d, %%a, %%b;", t)
		if t[0] == 's' {
			l.add(b+" "+b, "abs.%s %%d, %%a;", t)
			l.add(b+" "+b, "neg.%s %%d, %%a;", t)
		}
		if b == "b16" || b == "b32" {
			wide := map[string]string{"b16": "b32", "b32": "b64"}[b]
			l.add(wide+" "+b+" "+b, "mul.wide.%s %%d, %%a, %%b;", t)
		}
		for _, c := range []string{"eq", "ne", "lt", "le", "gt", "ge"} {
			l.add("b32 "+b+" "+b, "{ .reg .pred p; setp.%s.%s p, %%a, %%b; selp.b32 %%d, 1, 0, p; }", c, t)
		}
	}
	l.narrow()
}

// narrow are the integer instructions of 32 bits alone, and carries.
func (l *list) narrow() {
	for _, t := range []string{"u32", "s32"} {
		for _, op := range []string{"lo", "hi"} {
			l.add("b32 b32 b32", "mul24.%s.%s %%d, %%a, %%b;", op, t)
			l.add("b32 b32 b32 b32", "mad24.%s.%s %%d, %%a, %%b, %%c;", op, t)
		}
		l.add("b32 b32 b32 b32", "{ .reg .b32 lo; mad.lo.cc.%s lo, %%a, %%b, %%c; madc.hi.%s %%d, %%a, %%b, %%c; }", t, t)
		for _, u := range []string{"u32", "s32"} {
			l.add("b32 b32 b32 b32", "dp4a.%s.%s %%d, %%a, %%b, %%c;", t, u)
			l.add("b32 b32 b32 b32", "dp2a.lo.%s.%s %%d, %%a, %%b, %%c;", t, u)
			l.add("b32 b32 b32 b32", "dp2a.hi.%s.%s %%d, %%a, %%b, %%c;", t, u)
		}
	}
	l.add("b32 b32 b32 b32", "mad.hi.sat.s32 %%d, %%a, %%b, %%c;")
	l.add("b32 b32 b32", "add.sat.s32 %%d, %%a, %%b;")
	l.add("b32 b32 b32", "sub.sat.s32 %%d, %%a, %%b;")
	l.add("b64 b64 b64 b64", "{ .reg .b64 lo; sub.cc.s64 lo, %%a, %%b; subc.s64 %%d, %%c, 1; }")
	l.add("b64 b64 b64 b64", "{ .reg .b64 lo; add.cc.u64 lo, %%a, %%b; addc.u64 %%d, %%c, 1; }")
	l.add("b32 b32 b32 b32", "{ .reg .b32 lo; add.cc.u32 lo, %%a, %%b; addc.u32 %%d, %%c, %%a; }")
	l.add("b32 b32 b32 b32", "{ .reg .b32 lo; sub.cc.u32 lo, %%a, %%b; subc.u32 %%d, %%c, %%a; }")
}

func (l *list) bits() {
	for _, b := range []string{"b16", "b32", "b64"} {
		for _, op := range []string{"and", "or", "xor"} {
			l.add(b+" "+b+" "+b, "%s.%s %%d, %%a, %%b;", op, b)
		}
		l.add(b+" "+b, "not.%s %%d, %%a;", b)
		l.add(b+" "+b, "cnot.%s %%d, %%a;", b)
		l.add(b+" "+b+" b32", "shl.%s %%d, %%a, %%b;", b)
		l.add(b+" "+b+" b32", "shr.%s %%d, %%a, %%b;", b)
	}
	for _, b := range []string{"b32", "b64"} {
		for _, op := range []string{"popc", "clz"} {
			l.add("b32 "+b, "%s.%s %%d, %%a;", op, b)
		}
		l.add(b+" "+b, "brev.%s %%d, %%a;", b)
		for _, s := range []string{"u", "s"} {
			l.add("b32 "+b, "bfind.%s%s %%d, %%a;", s, b[1:])
			l.add("b32 "+b, "bfind.shiftamt.%s%s %%d, %%a;", s, b[1:])
			l.add(b+" "+b+" b32 b32", "bfe.%s%s %%d, %%a, %%b, %%c;", s, b[1:])
		}
		l.add(b+" "+b+" "+b+" b32", "bfi.%s %%d, %%a, %%b, %%c, 21;", b)
		l.add(b+" "+b+" "+b+" b32", "bfi.%s %%d, %%a, %%b, 13, %%c;", b)
	}
	l.moves()
}

// moves are the instructions that move bits of 32-bit registers.
func (l *list) moves() {
	for _, m := range []string{"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"} {
		l.add("b32 b32 b32 b32", "prmt.b32%s %%d, %%a, %%b, %%c;", m)
	}
	for _, m := range []string{"l.wrap", "l.clamp", "r.wrap", "r.clamp"} {
		l.add("b32 b32 b32 b32", "shf.%s.b32 %%d, %%a, %%b, %%c;", m)
	}
	for _, table := range []int{0x96, 0xe8, 0xca, 0x1b} {
		l.add("b32 b32 b32 b32", "lop3.b32 %%d, %%a, %%b, %%c, %#x;", table)
	}
	for _, m := range []string{"clamp", "wrap"} {
		l.add("b32 b32 b32", "bmsk.%s.b32 %%d, %%a, %%b;", m)
		l.add("b32 b32 b32", "szext.%s.s32 %%d, %%a, %%b;", m)
		l.add("b32 b32 b32", "szext.%s.u32 %%d, %%a, %%b;", m)
	}
	l.add("b32 b32 b32", "{ .reg .b32 n; and.b32 n, %%b, 31; fns.b32 %%d, %%a, n, 1; }")
	l.add("b32 b32 b32", "{ .reg .b32 n; and.b32 n, %%b, 31; fns.b32 %%d, %%a, n, -2; }")
	l.add("b32 b32 b32", "{ .reg .b32 n; and.b32 n, %%b, 31; fns.b32 %%d, %%a, n, 0; }")
}
