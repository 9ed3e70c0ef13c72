package twin

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// declarationText is a declaration in the program. A method with several bodies is a method for
// each, and one that chooses.
func (t *Twin) declarationText(d *declaration, id func(*meaning) string) string {
	if d.receiver() == "" || len(t.methods[d.of]) < 2 {
		return d.all(id)
	}
	f := fragment{d.fragment.text, slices.Clone(d.uses)}
	from, to := d.cut(d.function().Name)
	f.uses = append(f.uses, use{from, to, &meaning{id: numbered("body", d.body, d.of.name)}})
	slices.SortFunc(f.uses, func(a, b use) int { return a.from - b.from })
	return f.all(id)
}

// choice is the variable that has the number of a method's body.
func (m method) choice() string { return m.of.id + Dot + m.name }

// choosers are the methods that choose one of several bodies.
func (t *Twin) choosers(runs []*cellRun, id func(*meaning) string) string {
	var b strings.Builder
	for _, r := range runs {
		for _, d := range r.bodies {
			bodies := t.methods[d.of]
			if len(bodies) < 2 || bodies[0] != d {
				continue
			}
			fmt.Fprintf(&b, "var %s int\n\n", d.of.choice())
			f := d.function()
			text := func(n ast.Node) string { from, to := d.cut(n); return d.part(from, to, id) }
			var params, args []string
			for _, p := range fieldsOf(f.Type.Params) {
				_, more := p.Type.(*ast.Ellipsis)
				for range max(1, len(p.Names)) {
					name := numbered("p", len(args), "")
					params = append(params, name+" "+text(p.Type))
					if more {
						name += "..."
					}
					args = append(args, name)
				}
			}
			results := ""
			if f.Type.Results != nil {
				results = text(f.Type.Results)
			}
			fmt.Fprintf(&b, "func (r%s %s) %s(%s) %s {\n", Dot, text(f.Recv.List[0].Type), d.of.name, strings.Join(params, ", "), results)
			fmt.Fprintf(&b, "\tswitch %s {\n", d.of.choice())
			for i := range bodies {
				call := fmt.Sprintf("r%s.%s(%s)", Dot, numbered("body", i, d.of.name), strings.Join(args, ", "))
				if results == "" {
					call += "; return"
				} else {
					call = "return " + call
				}
				fmt.Fprintf(&b, "\tcase %d: %s\n", i, call)
			}
			b.WriteString("\t}\n\tpanic(\"no body\")\n}\n\n")
		}
	}
	return b.String()
}

// body is a statement as the program executes it.
func (s statement) body() string {
	id := (*meaning).final
	switch x := s.syntax.(type) {
	case *ast.AssignStmt:
		if s.defining() {
			return s.part(0, s.at(x.TokPos), id) + "=" + s.part(s.at(x.TokPos)+2, len(s.text), id)
		}
	case *ast.ValueSpec:
		if !slices.ContainsFunc(s.define, func(m *meaning) bool { return m != nil }) {
			return "var " + s.all(id)
		}
		left := s.part(s.at(x.Names[0].Pos()), s.at(x.Names[len(x.Names)-1].End()), id)
		if len(x.Values) > 0 {
			return left + " = " + s.part(s.at(x.Values[0].Pos()), s.at(x.Values[len(x.Values)-1].End()), id)
		}
		from, to := s.cut(x.Type)
		zero := "*new(" + s.part(from, to, id) + ")"
		return left + " = " + zero + strings.Repeat(", "+zero, len(x.Names)-1)
	}
	if s.value {
		from, _ := s.cut(expression(s.syntax))
		return s.part(0, from, id) + "_ = " + s.part(from, len(s.text), id)
	}
	return s.all(id)
}

// function is a run of a cell as a function.
func (t *Twin) function(r *cellRun) string {
	var b strings.Builder
	b.WriteString("func() {\n")
	if r.kernels {
		fmt.Fprintf(&b, "run%s.Kernels(%q)\n", Dot, r.source)
	}
	for _, d := range r.bodies {
		if len(t.methods[d.of]) > 1 {
			fmt.Fprintf(&b, "%s = %d\n", d.of.choice(), d.body)
		}
	}
	for _, s := range r.leads {
		b.WriteString(s.body() + "\n")
	}
	for _, id := range r.inits {
		b.WriteString(id + "()\n")
	}
	for i, s := range r.statements {
		if r.shown == nil || i < len(r.statements)-1 {
			b.WriteString(s.body() + "\n")
			continue
		}
		show := "Show"
		if r.failing {
			show = "Check"
		}
		from, to := s.cut(expression(s.syntax))
		fmt.Fprintf(&b, "%srun%s.%s(%s)%s\n", s.part(0, from, (*meaning).final), Dot, show, s.part(from, to, (*meaning).final), s.part(to, len(s.text), (*meaning).final))
	}
	return b.String() + "}"
}

// Numbers of runs without a function.
const (
	Refused = -1 // the cell does not compile
	Left    = -2
)

// Source is the program as a package, and the numbers of its functions in the order in which they
// run. The package of a path runs them.
func (t *Twin) Source(run string) (src string, order []int) {
	var b strings.Builder
	packages := map[string]string{}
	qualify := func(p *types.Package) string {
		if p.Path() == "twin" {
			return ""
		}
		if packages[p.Path()] == "" {
			packages[p.Path()] = numbered("type", len(packages), p.Name())
		}
		return packages[p.Path()]
	}
	for _, m := range t.all {
		switch {
		case m.earlier != nil:
		case m.variable():
			fmt.Fprintf(&b, "var %s %s\n", m.id, types.TypeString(m.typ, qualify))
		case m.entry:
			fmt.Fprintf(&b, "var %s *run%s.Kernel\nvar _ = run%s.Declare(%q, &%s)\n", m.id, Dot, Dot, m.name, m.id)
		}
	}
	b.WriteString("\n")
	for _, r := range t.runs {
		for _, d := range r.declarations {
			b.WriteString(t.declarationText(d, (*meaning).final) + "\n\n")
		}
	}
	b.WriteString(t.choosers(t.runs, (*meaning).final))
	functions := map[string]int{}
	fmt.Fprintf(&b, "var Cells%s = []func(){\n", Dot)
	for i, r := range t.runs {
		switch text := t.function(r); {
		case r.left != "":
			order = append(order, Left)
		case t.refused[i] != "":
			order = append(order, Refused)
		default:
			n, known := functions[text]
			if !known {
				n = len(functions)
				functions[text] = n
				b.WriteString(text + ",\n\n")
			}
			order = append(order, n)
		}
	}
	text := b.String() + "}\n"
	for _, m := range t.all {
		if m.path == "os" {
			text = strings.ReplaceAll(text, m.id+".Exit(", "run"+Dot+".Exit(") // ends a cell, and not the program
		}
	}
	return t.head(text, run, packages) + text, order
}

// head is the package clause and the imports of a text.
func (t *Twin) head(text, run string, packages map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package twin\n\nimport run%s %q\n", Dot, run)
	for _, m := range t.all {
		if m.path != "" && used(text, m.id+".") {
			fmt.Fprintf(&b, "import %s %q\n", m.id, m.path)
		}
	}
	for path, name := range packages {
		fmt.Fprintf(&b, "import %s %q\n", name, path)
	}
	uses := ""
	for _, p := range t.nameless {
		fmt.Fprintf(&b, "import %s %q\n", p.name, p.Path())
		if p.name == "." {
			uses += useOf(p.Package)
		}
	}
	return b.String() + "\nvar _ = run" + Dot + ".Show\n" + uses + "\n"
}

// used reports whether a text has a word that is not the end of another one.
func used(text, word string) bool {
	for {
		before, after, found := strings.Cut(text, word)
		last, _ := utf8.DecodeLastRuneInString(before)
		if !found || !unicode.IsLetter(last) && !unicode.IsDigit(last) && last != '_' {
			return found
		}
		text = after
	}
}

// useOf is a use of a package that is imported without a name.
func useOf(p *types.Package) string {
	for _, name := range p.Scope().Names() {
		switch o := p.Scope().Lookup(name).(type) {
		case *types.TypeName:
			if named, ok := o.Type().(*types.Named); ok && o.Exported() && named.TypeParams().Len() == 0 {
				return "var _ *" + name + "\n"
			}
		case *types.Func:
			if o.Exported() && o.Type().(*types.Signature).TypeParams().Len() == 0 {
				return "var _ = " + name + "\n"
			}
		}
	}
	return ""
}
