package twin

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"runtime"
	"slices"
	"strings"
)

// checkedText is the program as types are checked: each statement that defines variables is a
// declaration of them.
type checkedText struct {
	strings.Builder
	places []place // in order
}

// place is where the text of a run begins: of a declaration, or of a statement.
type place struct {
	from, run int
	*declaration
	*statement
}

func (b *checkedText) add(p place, text string) {
	p.from = b.Len()
	b.WriteString(text + "\n")
	b.places = append(b.places, p, place{from: b.Len(), run: -1})
}

// at is the place of an offset.
func (b *checkedText) at(offset int) place {
	i, found := slices.BinarySearchFunc(b.places, offset, func(p place, offset int) int { return p.from - offset })
	for found && i+1 < len(b.places) && b.places[i+1].from == offset {
		i++
	}
	if !found {
		i--
	}
	if i < 0 {
		return place{run: -1}
	}
	return b.places[i]
}

// checkedText is the program of the first runs.
func (t *Twin) checkedText(runs int) *checkedText {
	id, b := (*meaning).checked, &checkedText{}
	b.WriteString("package twin\n")
	for _, m := range t.all {
		if m.path != "" {
			fmt.Fprintf(b, "import %s %q\n", m.id, m.path)
		}
	}
	for _, p := range t.nameless {
		fmt.Fprintf(b, "import %s %q\n", p.name, p.Path())
	}
	if t.kernels {
		fmt.Fprintf(b, "import compile%s %q\n", Dot, kernelPackage)
	}
	for i, r := range t.runs[:runs] {
		for _, d := range r.declarations {
			b.add(place{run: i, declaration: d}, t.declarationText(d, id))
		}
		own := slices.Concat(pointers(r.leads), pointers(r.statements))
		for _, s := range own {
			if s.defining() {
				b.add(place{run: i, statement: s}, s.declaration())
			}
		}
		fmt.Fprintf(b, "func %s() {\n", numbered("check", i, "run"))
		for _, s := range own {
			if !s.defining() {
				b.add(place{run: i, statement: s}, s.all(id))
			}
		}
		b.WriteString("}\n\n")
	}
	b.WriteString(t.choosers(t.runs[:runs], id))
	for _, m := range t.all {
		if m.entry {
			fmt.Fprintf(b, "var %s *compile%s.Entry\n", m.id, Dot)
		}
	}
	return b
}

func pointers(list []statement) (p []*statement) {
	for i := range list {
		p = append(p, &list[i])
	}
	return p
}

// defining reports whether the statement is one that defines variables.
func (s statement) defining() bool { return len(s.define) > 0 }

// declaration is a statement that defines variables as a declaration of them.
func (s statement) declaration() string {
	id := (*meaning).checked
	x, ok := s.syntax.(*ast.AssignStmt)
	if !ok {
		return "var " + s.all(id)
	}
	var names []string
	for _, m := range s.define {
		if m == nil {
			names = append(names, "_")
		} else {
			names = append(names, m.id)
		}
	}
	return "var " + strings.Join(names, ", ") + " = " + s.part(s.at(x.TokPos)+2, len(s.text), id)
}

// check finds the types of variables, the order in which variables are initialised, and the
// expressions that are shown. It reports whether there is a new verdict: then nothing else of the
// program counts.
func (t *Twin) check() (learned bool, err error) {
	for i, r := range t.runs {
		if r.adds {
			if learned, err := t.checkRuns(i); learned || err != nil {
				return learned, err
			}
		}
	}
	return t.checkRuns(len(t.runs))
}

// checkRuns checks the first runs. Those before a run that adds a method lack it.
func (t *Twin) checkRuns(runs int) (learned bool, err error) {
	text, fset := t.checkedText(runs), token.NewFileSet()
	f, err := parser.ParseFile(fset, "", text.String(), parser.SkipObjectResolution)
	if err != nil {
		return false, fmt.Errorf("corpus: program of cells: %w", err)
	}
	var errs []types.Error
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	config := types.Config{Importer: t.imports, Sizes: types.SizesFor("gc", runtime.GOARCH), Error: func(err error) { errs = append(errs, err.(types.Error)) }}
	pkg, _ := config.Check("twin", fset, []*ast.File{f}, info)
	offset := func(pos token.Pos) int { return fset.Position(pos).Offset }
	for _, m := range t.all {
		if o := pkg.Scope().Lookup(m.id); o != nil && m.variable() {
			m.typ = o.Type()
		}
	}
	if t.convict(text, errs, offset, runs) {
		return true, nil
	}
	if runs < len(t.runs) {
		return false, nil
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			t.learn(info, text.at(offset(d.Pos())), d)
		case *ast.FuncDecl:
			for _, s := range d.Body.List {
				t.learn(info, text.at(offset(s.Pos())), s)
			}
		}
	}
	for i, init := range info.InitOrder {
		if s := text.at(offset(init.Rhs.Pos())).statement; s != nil {
			s.rank = i + 1
		}
	}
	for _, r := range t.runs { // the order in which Go initialises variables
		slices.SortStableFunc(r.leads, func(a, b statement) int { return a.rank - b.rank })
	}
	return false, nil
}

// learn notes what the types of a statement tell.
func (t *Twin) learn(info *types.Info, at place, n ast.Node) {
	if at.statement == nil {
		return
	}
	t.keep(info, at, n)
	x := expression(n)
	if x == nil {
		return
	}
	r, of := t.runs[at.run], info.Types[x]
	_, several := of.Type.(*types.Tuple)
	at.value = !of.IsVoid() && !several
	if r.ends && at.statement == &r.statements[len(r.statements)-1] && !of.IsVoid() && !prints(info, x) {
		r.shown, r.failing = of.Type, failing(x, of.Type)
	}
}

// keep makes the methods that a statement selects those that the run has: a method value, a
// method expression or a closure keeps them when a later run declares a method again. In
// functions the program chooses the body.
func (t *Twin) keep(info *types.Info, at place, n ast.Node) {
	own := selectors(at.statement.syntax)
	for i, x := range selectors(n) {
		f := selected(info, x)
		if f == nil || i >= len(own) {
			continue
		}
		named, _ := types.Unalias(deref(f.Signature().Recv().Type())).(*types.Named)
		if named == nil {
			continue // of an interface
		}
		for m, bodies := range t.methods {
			if m.name != f.Name() || m.of.id != named.Obj().Name() || len(bodies) < 2 {
				continue
			}
			body := 0
			for body+1 < len(bodies) && bodies[body+1].run <= at.run {
				body++
			}
			from, to := at.statement.cut(own[i].Sel)
			at.statement.uses = append(at.statement.uses, use{from, to, &meaning{id: numbered("body", body, m.name)}})
		}
	}
	slices.SortFunc(at.statement.uses, func(a, b use) int { return a.from - b.from })
}

// selected is the method of this program that a selector selects, or nil.
func selected(info *types.Info, x *ast.SelectorExpr) *types.Func {
	if s := info.Selections[x]; s != nil && s.Obj().Pkg() != nil && s.Obj().Pkg().Path() == "twin" {
		f, _ := s.Obj().(*types.Func)
		return f
	}
	return nil
}

func deref(t types.Type) types.Type {
	if p, ok := t.(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// selectors are those of a syntax, in their order in the text.
func selectors(n ast.Node) (list []*ast.SelectorExpr) {
	ast.Inspect(n, func(n ast.Node) bool {
		if x, ok := n.(*ast.SelectorExpr); ok {
			list = append(list, x)
		}
		return true
	})
	return list
}

// Refusals are the reasons why runs do not compile, by number.
func (t *Twin) Refusals() map[int]string { return t.refused }

// harmless are errors that the text has where cells have none.
func harmless(e types.Error) bool {
	return strings.HasSuffix(e.Msg, " and not used") && strings.HasPrefix(e.Msg, `"`) || strings.Contains(e.Msg, "is not used") || strings.Contains(e.Msg, "initialization cycle") || strings.HasPrefix(e.Msg, "\t")
}

// convict notes what the first run with an error or with a variable of another type tells. A
// verdict about a later run could be another one without it.
func (t *Twin) convict(text *checkedText, errs []types.Error, offset func(token.Pos) int, runs int) (learned bool) {
	first, why := place{run: runs}, ""
	for _, e := range errs {
		if harmless(e) {
			continue
		}
		p := text.at(offset(e.Pos))
		if p.run >= 0 && (p.run < first.run || p.run == first.run && !t.stale(p)) {
			first, why = p, e.Msg
		}
	}
	for _, m := range t.all {
		if m.variable() && m.earlier != nil && m.run <= min(first.run, runs-1) && !types.Identical(m.typ, m.earlier.typ) {
			t.retyped[definition{m.run, m.name}] = true
			return true
		}
	}
	switch {
	case first.run == runs:
		return false
	case t.stale(first): // another cell's declaration no longer compiles
		t.broken[version{first.run, first.declaration.parsed.text}] = true
	default:
		t.refused[first.run] = why
	}
	return true
}

// stale reports whether a place is that of another cell's declaration.
func (t *Twin) stale(p place) bool {
	return p.declaration != nil && p.declaration.cell != t.runs[p.run].cell
}

// failing reports whether the last value of an expression is the error of a call, which fails the
// cell.
func failing(x ast.Expr, t types.Type) bool {
	if tuple, ok := t.(*types.Tuple); ok && tuple.Len() > 0 {
		t = tuple.At(tuple.Len() - 1).Type()
	}
	_, call := x.(*ast.CallExpr)
	return call && types.Identical(t, types.Universe.Lookup("error").Type())
}

// prints reports whether an expression is a call of fmt that prints, whose results a cell does
// not show.
func prints(info *types.Info, x ast.Expr) bool {
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	f, ok := info.Uses[sel.Sel].(*types.Func)
	return ok && f.Pkg() != nil && f.Pkg().Path() == "fmt" && (strings.HasPrefix(f.Name(), "Print") || strings.HasPrefix(f.Name(), "Fprint"))
}
