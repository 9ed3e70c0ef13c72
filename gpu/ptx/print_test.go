package ptx

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// printer writes a module as PTX in one fixed form: scopes flattened, every
// register declared alone, numbers in hexadecimal. What it writes parses
// again, so a golden file and a second parse check the module whole.
type printer struct {
	strings.Builder
	source, inlined Source
}

func printModule(m *Module) string {
	p := &printer{}
	p.line(".version %d.%d", m.Version[0], m.Version[1])
	p.line(".target %s", strings.Join(append([]string{m.Target}, m.Options...), ", "))
	p.line(".address_size %d", 8*m.AddressBytes)
	for _, i := range slices.Sorted(maps.Keys(m.Files)) {
		p.line(".file %d %q", i, m.Files[i])
	}
	for _, f := range m.Functions {
		if !f.Entry {
			p.line("%s;", signature(f, true))
		}
	}
	for _, v := range m.Variables {
		p.line("%s%s;", declaration(v), contents(v))
	}
	for _, f := range m.Functions {
		if !f.Extern {
			p.function(f)
		}
	}
	return p.String()
}

func (p *printer) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// legal turns a name that scopes made unique into one that PTX allows.
func legal(name string) string { return strings.ReplaceAll(name, ".", "$") }

func dotted(words ...string) string {
	text := ""
	for _, w := range words {
		if w != "" {
			text += "." + w + " "
		}
	}
	return text
}

var spaceNames = [...]string{"", "reg", "global", "shared", "local", "const", "param"}

func declaration(v *Variable) string {
	text := ""
	if v.Extern {
		text = ".extern "
	}
	text += dotted(spaceNames[v.Space])
	if v.Space != Register {
		text += fmt.Sprintf(".align %d ", v.Align)
	}
	if v.Vector > 1 {
		text += fmt.Sprintf(".v%d ", v.Vector)
	}
	text += dotted(string(v.Type))
	if v.Ptr != nil {
		text += fmt.Sprintf(".ptr %s.align %d ", dotted(spaceNames[v.Ptr.Space]), v.Ptr.Align)
	}
	switch {
	case v.Count == 0:
		return text + legal(v.Name) + "[]"
	case v.Count > 1:
		return text + fmt.Sprintf("%s[%d]", legal(v.Name), v.Count)
	}
	return text + legal(v.Name)
}

// contents writes the initial value as elements of the variable's type.
func contents(v *Variable) string {
	if v.Init == nil {
		return ""
	}
	size := v.Type.Bytes()
	var values []string
	for at := 0; at < len(v.Init); at += size {
		var bits uint64
		for i := range size {
			bits |= uint64(v.Init[at+i]) << (8 * i)
		}
		switch v.Type {
		case "f32":
			values = append(values, fmt.Sprintf("0f%08x", bits))
		case "f64":
			values = append(values, fmt.Sprintf("0d%016x", bits))
		default:
			values = append(values, fmt.Sprintf("%#x", bits))
		}
	}
	for _, r := range v.Relocs {
		values[r.Offset/size] = relocation(r)
	}
	if len(values) == 1 && v.Count*v.Vector == 1 {
		return " = " + values[0]
	}
	if v.Vector > 1 {
		var vectors []string
		for c := range slices.Chunk(values, v.Vector) {
			vectors = append(vectors, "{"+strings.Join(c, ", ")+"}")
		}
		values = vectors
		if v.Count == 1 {
			return " = " + values[0]
		}
	}
	return " = {" + strings.Join(values, ", ") + "}"
}

func relocation(r Reloc) string {
	text := r.Symbol
	if r.Generic {
		text = "generic(" + text + ")"
	}
	if r.Addend != 0 {
		text += fmt.Sprintf("+%d", r.Addend)
	}
	if r.Bytes == 1 {
		return fmt.Sprintf("%#x(%s)", uint64(0xff)<<r.Shift, text)
	}
	return text
}

func parameters(list []*Variable) string {
	var text []string
	for _, v := range list {
		text = append(text, declaration(v))
	}
	return "(" + strings.Join(text, ", ") + ")"
}

func signature(f *Function, declared bool) string {
	text := ".visible .func "
	if f.Entry {
		text = ".visible .entry "
	} else if declared && f.Extern {
		text = ".extern .func "
	}
	if len(f.Returns) > 0 {
		text += parameters(f.Returns) + " "
	}
	return text + f.Name + parameters(f.Params)
}

func (p *printer) function(f *Function) {
	p.source, p.inlined = Source{}, Source{}
	p.line("%s", signature(f, false))
	if f.MaxThread != [3]int{} {
		p.line(".maxntid %d, %d, %d", f.MaxThread[0], f.MaxThread[1], f.MaxThread[2])
	}
	if f.ReqThread != [3]int{} {
		p.line(".reqntid %d, %d, %d", f.ReqThread[0], f.ReqThread[1], f.ReqThread[2])
	}
	for _, name := range f.Clusters {
		p.line(".%s", name)
	}
	if f.Cluster != [3]int{} {
		p.line(".reqnctapercluster %d, %d, %d", f.Cluster[0], f.Cluster[1], f.Cluster[2])
	}
	p.line("{")
	for _, r := range f.Registers {
		p.line("\t.reg .%s %s;", r.Type, legal(r.Name))
	}
	for _, v := range f.Variables {
		p.line("\t%s;", declaration(v))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Tables)) {
		p.line("%s: .branchtargets %s;", legal(name), legal(strings.Join(f.Tables[name], ", ")))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Prototypes)) {
		g := f.Prototypes[name]
		p.line("%s: .callprototype %s _ %s;", legal(name), parameters(g.Returns), parameters(g.Params))
	}
	labels := map[int][]string{}
	for _, name := range slices.Sorted(maps.Keys(f.Labels)) {
		labels[f.Labels[name]] = append(labels[f.Labels[name]], name)
	}
	for i := range len(f.Code) + 1 {
		for _, l := range labels[i] {
			p.line("%s:", legal(l))
		}
		if i < len(f.Code) {
			p.instruction(f, f.Code[i])
		}
	}
	p.line("}")
}

func (p *printer) instruction(f *Function, in Instruction) {
	if p.source != in.Source || p.inlined != in.Inlined {
		p.source, p.inlined = in.Source, in.Inlined
		at := ""
		if in.Inlined != (Source{}) {
			at = fmt.Sprintf(", inlined_at %d %d 0", in.Inlined.File, in.Inlined.Line)
		}
		p.line("\t.loc %d %d 0%s", in.Source.File, in.Source.Line, at)
	}
	text := ""
	if in.Guard >= 0 {
		text = "@" + map[bool]string{true: "!"}[in.Negated] + legal(f.Registers[in.Guard].Name) + " "
	}
	p.line("\t%s;", strings.TrimSpace(text+in.Name()+" "+operands(f, in.Operands)))
}

func operands(f *Function, list []Operand) string {
	var text []string
	for _, o := range list {
		text = append(text, operand(f, o))
	}
	return strings.Join(text, ", ")
}

func operand(f *Function, o Operand) string {
	register := func(i int) string {
		if i < 0 {
			return "_"
		}
		return legal(f.Registers[i].Name)
	}
	offset := ""
	if o.Offset != 0 {
		offset = fmt.Sprintf("+%d", o.Offset)
	}
	switch o.Kind {
	case RegisterOperand:
		part := ""
		if o.Symbol != "" {
			part = "." + o.Symbol
		}
		return map[bool]string{true: "!"}[o.Negated] + register(o.Reg) + part
	case PairOperand:
		return register(o.Reg) + "|" + register(o.Second)
	case ImmediateOperand:
		switch o.Float {
		case 32:
			return fmt.Sprintf("0f%08x", o.Bits)
		case 64:
			return fmt.Sprintf("0d%016x", o.Bits)
		}
		return fmt.Sprint(int64(o.Bits))
	case SymbolOperand, LabelOperand:
		return legal(o.Symbol) + offset
	case SpecialOperand:
		return o.Symbol
	case AddressOperand:
		base := fmt.Sprint(o.Offset)
		if o.Reg >= 0 {
			base = register(o.Reg) + offset
		} else if o.Symbol != "" {
			base = legal(o.Symbol) + offset
		}
		if len(o.Elems) > 0 {
			base += ", " + operands(f, o.Elems)
		}
		return "[" + base + "]"
	case VectorOperand:
		return "{" + operands(f, o.Elems) + "}"
	case ListOperand:
		return "(" + operands(f, o.Elems) + ")"
	}
	return "_"
}
