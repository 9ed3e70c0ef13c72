package lower

import (
	"fmt"
	"strconv"
	"strings"

	"warpbook/gpu/llvm/ir"
	"warpbook/gpu/llvm/machine"
)

// registerOf is the class of register that a letter of a constraint names.
var registerOf = map[string]machine.Class{"h": machine.B16, "r": machine.B32, "f": machine.B32, "l": machine.B64, "d": machine.B64, "b": machine.Pred}

// assembly lowers inline assembly: results are new registers, those of operands that a
// result shares are copied first.
func (f *fn) assembly(v *ir.Value, asm *ir.Asm) {
	var args, tied []operand
	places := []operand{} // by number in the text: registers or constants
	results := f.leaves(v.Type)
	inputs := v.Operands[1:]
	early := false
	for _, c := range strings.Split(asm.Constraints, ",") {
		switch {
		case c == "" || c[0] == '~':
			continue
		case c[0] == '=':
			class, ok := registerOf[strings.TrimLeft(c, "=&")]
			if !ok || len(args) >= len(results) || class != f.class(results[len(args)]) {
				f.fail("constraint %q of inline assembly is not supported for its result", c)
			}
			early = early || strings.Contains(c, "&")
			o := operand{Reg: f.out.NewReg(class)}
			args = append(args, o)
			places = append(places, o)
			continue
		case len(inputs) == 0:
			f.fail("inline assembly with fewer operands than constraints")
		}
		in := inputs[0]
		inputs = inputs[1:]
		if n, err := strconv.Atoi(c); err == nil {
			if n >= len(args) {
				f.fail("constraint %q of inline assembly names no result", c)
			}
			f.copyTo(args[n], f.one(in))
			tied = append(tied, args[n])
			places = append(places, args[n])
			continue
		}
		places = append(places, f.input(c, in))
	}
	if len(args) != len(results) {
		f.fail("inline assembly with %d results, expected %d", len(args), len(results))
	}
	format, uses := f.assemblyText(asm.Text, places, len(args))
	all := append(append(append([]operand{}, args...), uses...), tied...)
	f.statements(format, len(args), all...)
	f.cur.Instrs[len(f.cur.Instrs)-1].Early = early
	f.set(v, args...)
}

// copyTo sets a register that the next instruction changes.
func (f *fn) copyTo(to, from operand) {
	format := "mov." + f.out.ClassOf(to.Reg).String() + " $0, $1"
	f.cur.Instrs = append(f.cur.Instrs, machine.Instr{Format: format, Args: []operand{to, from}, Defs: 1, Pure: true, Copy: true, Place: f.place})
}

// input is an operand of inline assembly.
func (f *fn) input(constraint string, v *ir.Value) operand {
	if constraint == "n" || constraint == "i" {
		n, ok := v.Int()
		if !ok {
			f.fail("constraint %q of inline assembly: expected a constant", constraint)
		}
		return number(n)
	}
	class, ok := registerOf[constraint]
	if !ok {
		f.fail("constraint %q of inline assembly is not supported", constraint)
	}
	if v.Type.Kind == ir.Int && v.Type.Bits < 32 && class == machine.B32 {
		return f.inRegister(f.widened(v, false, 32), class)
	}
	if class != f.class(v.Type) {
		f.fail("constraint %q of inline assembly does not fit %v", constraint, v.Type)
	}
	return f.register(v)
}

// assemblyText replaces the numbers of operands by those of an instruction's arguments.
func (f *fn) assemblyText(asm string, places []operand, defs int) (format string, uses []operand) {
	f.uid++
	var b strings.Builder
	for i := 0; i < len(asm); i++ {
		c := asm[i]
		if c != '$' || i+1 >= len(asm) {
			b.WriteByte(c)
			continue
		}
		i++
		if asm[i] == '$' {
			b.WriteString("$$")
			continue
		}
		digits := asm[i:]
		braces := digits[0] == '{'
		if braces {
			end := strings.IndexByte(digits, '}')
			if end < 0 {
				f.fail("inline assembly with ${ and no }")
			}
			i += end
			if digits[:end] == "{:uid" {
				fmt.Fprintf(&b, "%d_%d", f.index, f.uid)
				continue
			}
			digits, _, _ = strings.Cut(digits[1:end], ":")
		} else {
			end := 0
			for end < len(digits) && digits[end] >= '0' && digits[end] <= '9' {
				end++
			}
			i += end - 1
			digits = digits[:end]
		}
		n, err := strconv.Atoi(digits)
		if err != nil || n >= len(places) {
			f.fail("inline assembly names operand $%s, expected at most %d", digits, len(places)-1)
		}
		if n < defs {
			fmt.Fprintf(&b, "$%d", n)
			continue
		}
		if places[n].Reg == 0 {
			b.WriteString(places[n].Text)
			continue
		}
		fmt.Fprintf(&b, "$%d", defs+len(uses))
		uses = append(uses, places[n])
	}
	return strings.TrimSpace(b.String()), uses
}
