package corpus

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"

	"warpbook/kernel/engine/split"
)

// A program that does what a notebook does has a function for each cell, and the variables
// of cells as its own, with their types. So functions use them as in cells, and a cell that
// runs again assigns to them again.

// ownCell is a cell of a notebook.
type ownCell struct {
	source       string
	left         string // why the compiled program lacks it, "" if it does not
	kernels      bool   // a %%cuda or %%ptx cell
	declarations []fragment
	statements   []statement
	ends         bool // with an expression that is shown
}

// statement is a statement at the top of a cell. define are the variables that it defines.
type statement struct {
	fragment
	origin
	syntax ast.Stmt
	define []*meaning
}

// ownTwin is the program of a notebook that is being written.
type ownTwin struct {
	names
	cells []*ownCell
}

//go:embed own_main.go.txt
var ownMain string

// hostProgram matches the main function of a %%cuda cell, which is a program of its own.
var hostProgram = regexp.MustCompile(`\bint\s+main\s*\(`)

// entryName matches the declaration of a kernel. The names of instances of templates, which no
// text shows, are found where cells use them.
var entryName = regexp.MustCompile(`(?:\b__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s*)?|\.entry\s+)(\w+)\s*\(`)

// readOwn reads the cells of a notebook.
func readOwn(sources []string) *ownTwin {
	t := &ownTwin{names: names{now: map[string]*meaning{}}}
	for _, src := range sources {
		c := &ownCell{source: src}
		t.cells = append(t.cells, c)
		head := strings.TrimSpace(src)
		switch {
		case strings.HasPrefix(head, "%%cuda") && hostProgram.MatchString(src):
			c.left = "a program in CUDA C++"
		case strings.HasPrefix(head, "%%cuda"), strings.HasPrefix(head, "%%ptx"):
			c.kernels, t.kernels = true, true
			for _, m := range entryName.FindAllStringSubmatch(src, -1) {
				t.add(meaning{name: m[1], entry: true})
			}
		case strings.HasPrefix(head, "%"):
			c.left = "a magic of the cells program: " + firstLine(head)
		default:
			c.left = t.read(c)
		}
	}
	return t
}

// read reads a cell of Go. It returns the reason if the cell is no part of a program.
func (t *ownTwin) read(c *ownCell) (reason string) {
	pieces, errs := split.Cell(c.source)
	if len(errs) > 0 {
		return "no Go: " + errs[0].Msg
	}
	var declared, run []parsed
	for _, p := range pieces {
		text := c.source[p.Start:p.End]
		switch p.Kind {
		case split.Magic:
			return "a magic of the cells program: " + firstLine(text)
		case split.Import, split.Const, split.Type, split.Func:
			d, err := parseDeclaration(text)
			if err != nil {
				return err.Error()
			}
			if t.declare(text); p.Kind != split.Import {
				declared = append(declared, d)
			}
		default:
			s, err := parseStatements(text)
			if err != nil {
				return err.Error()
			}
			run = append(run, s)
		}
	}
	for _, p := range run {
		for _, s := range p.list {
			c.statements = append(c.statements, t.statement(p, s))
		}
	}
	for _, d := range declared { // after the variables of the cell, which functions use
		c.declarations = append(c.declarations, t.of(d))
	}
	if last := pieces[max(0, len(pieces)-1):]; len(last) > 0 && last[0].Kind == split.Statement && !last[0].Semicolon && len(c.statements) > 0 {
		_, c.ends = c.statements[len(c.statements)-1].syntax.(*ast.ExprStmt)
	}
	return ""
}

// declare gives the names of a declaration their meaning.
func (t *ownTwin) declare(text string) {
	f, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+text, parser.SkipObjectResolution)
	if err != nil {
		return // parseDeclaration has told
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				t.add(meaning{name: d.Name.Name})
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ImportSpec:
					t.addImport(s)
				case *ast.TypeSpec:
					t.add(meaning{name: s.Name.Name})
				case *ast.ValueSpec:
					for _, id := range s.Names {
						t.add(meaning{name: id.Name})
					}
				}
			}
		}
	}
}

func (t *ownTwin) addImport(s *ast.ImportSpec) {
	path := strings.Trim(s.Path.Value, "`\"")
	name := importName(s)
	if version.MatchString(name) {
		name = strings.Split(path, "/")[strings.Count(path, "/")-1]
	}
	if now := t.now[name]; now == nil || now.path != path {
		t.add(meaning{name: name, path: path})
	}
}

// statement gives the variables of a statement their meaning, after those that its values
// mention.
func (t *ownTwin) statement(p parsed, s ast.Stmt) statement {
	from, to := p.cut(s)
	one := parsed{text: p.text[from:to], origin: p.origin + origin(from)}
	var own []*ast.Ident // those that the statement defines
	switch s := s.(type) {
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			for _, x := range s.Lhs {
				own = append(own, x.(*ast.Ident))
			}
		}
	case *ast.DeclStmt:
		for _, spec := range s.Decl.(*ast.GenDecl).Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				own = append(own, v.Names...)
			}
		}
	}
	for _, id := range p.free {
		if s.Pos() <= id.Pos() && id.End() <= s.End() && !slices.Contains(own, id) {
			one.free = append(one.free, id)
		}
	}
	x := statement{fragment: t.of(one), origin: one.origin, syntax: s}
	for _, id := range own {
		if id.Name == "_" {
			continue
		}
		m := t.add(meaning{name: id.Name, variable: true})
		x.define = append(x.define, m)
		from, to := one.cut(id)
		x.uses = append(x.uses, use{from, to, m})
	}
	slices.SortFunc(x.uses, func(a, b use) int { return a.from - b.from })
	return x
}

// checkedText is the program as types are checked: each statement that defines variables is a
// declaration of them.
func (t *ownTwin) checkedText() string {
	var b strings.Builder
	b.WriteString("package main\n")
	for _, m := range t.all {
		if m.path != "" {
			fmt.Fprintf(&b, "import %s %q\n", m.id, m.path)
		}
	}
	if t.kernels {
		b.WriteString("import own_compile \"warpbook/gpu/compile\"\n")
	}
	for i, c := range t.cells {
		if c.left != "" {
			continue
		}
		for _, d := range c.declarations {
			b.WriteString(d.all((*meaning).checked) + "\n\n")
		}
		for _, s := range c.statements {
			b.WriteString(s.declaration())
		}
		fmt.Fprintf(&b, "func check_%d() {\n", i)
		for _, s := range c.statements {
			if len(s.define) == 0 {
				b.WriteString(s.all((*meaning).checked) + "\n")
			}
		}
		b.WriteString("}\n\n")
	}
	for _, m := range t.all {
		if m.entry {
			fmt.Fprintf(&b, "var %s *own_compile.Entry\n", m.id)
		}
	}
	return b.String()
}

// declaration is a statement that defines variables as a declaration of them.
func (s statement) declaration() string {
	id := (*meaning).checked
	switch x := s.syntax.(type) {
	case *ast.AssignStmt:
		if len(s.define) > 0 {
			return "var " + s.part(0, s.at(x.TokPos), id) + " = " + s.part(s.at(x.TokPos)+2, len(s.text), id) + "\n"
		}
	case *ast.DeclStmt:
		return s.all(id) + "\n"
	}
	return ""
}

// body is a statement as the program executes it.
func (s statement) body() string {
	id := (*meaning).final
	if len(s.define) == 0 {
		return s.all(id)
	}
	if x, ok := s.syntax.(*ast.AssignStmt); ok {
		return s.part(0, s.at(x.TokPos), id) + " = " + s.part(s.at(x.TokPos)+2, len(s.text), id)
	}
	var list []string
	for _, spec := range s.syntax.(*ast.DeclStmt).Decl.(*ast.GenDecl).Specs {
		v := spec.(*ast.ValueSpec)
		left := s.part(s.at(v.Names[0].Pos()), s.at(v.Names[len(v.Names)-1].End()), id)
		if len(v.Values) > 0 {
			list = append(list, left+" = "+s.part(s.at(v.Values[0].Pos()), s.at(v.Values[len(v.Values)-1].End()), id))
			continue
		}
		from, to := s.cut(v.Type)
		zero := "*new(" + s.part(from, to, id) + ")"
		list = append(list, left+" = "+zero+strings.Repeat(", "+zero, len(v.Names)-1))
	}
	return strings.Join(list, "\n")
}

// paths are the packages that the cells import.
func (t *ownTwin) paths() []string {
	found := map[string]bool{"warpbook/gpu/compile": true}
	for _, m := range t.all {
		if m.path != "" {
			found[m.path] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// check finds the types of variables and of the expressions that end cells. Errors are those
// of the compiler, later.
func (t *ownTwin) check(imports types.Importer) (shown map[int]types.Type, err error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", t.checkedText(), parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("corpus: program of a notebook: %w", err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: imports, Error: func(error) {}}
	pkg, _ := config.Check("main", fset, []*ast.File{f}, info)
	for _, m := range t.all {
		if o := pkg.Scope().Lookup(m.id); o != nil && m.variable {
			m.typ = o.Type()
		} else if m.variable {
			m.typ = types.Typ[types.Invalid]
		}
	}
	shown = map[int]types.Type{}
	for _, d := range f.Decls {
		fd, ok := d.(*ast.FuncDecl)
		var i int
		if !ok || len(fd.Body.List) == 0 || fd.Recv != nil {
			continue
		}
		if _, err := fmt.Sscanf(fd.Name.Name, "check_%d", &i); err != nil {
			continue
		}
		if last, ok := fd.Body.List[len(fd.Body.List)-1].(*ast.ExprStmt); ok && t.cells[i].ends && !info.Types[last.X].IsVoid() && !prints(info, last.X) {
			shown[i] = info.TypeOf(last.X)
		}
	}
	return shown, nil
}

// text is the program.
func (t *ownTwin) text(shown map[int]types.Type) string {
	var b, cells strings.Builder
	extra := map[string]string{}
	qualify := func(p *types.Package) string {
		if p.Path() == "main" {
			return ""
		}
		if extra[p.Path()] == "" {
			extra[p.Path()] = fmt.Sprintf("type_%d", len(extra))
		}
		return extra[p.Path()]
	}
	written := map[string]bool{}
	for _, m := range t.all {
		switch {
		case m.variable && !written[m.final()]:
			written[m.final()] = true
			fmt.Fprintf(&b, "var %s %s\n", m.final(), types.TypeString(m.typ, qualify))
		case m.entry && !written[m.final()]:
			written[m.final()] = true
			fmt.Fprintf(&b, "var %s *own_compile.Entry\n", m.final())
			fmt.Fprintf(&cells, "func init() { own_entries[%q] = append(own_entries[%q], &%s) }\n\n", m.name, m.name, m.final())
		}
	}
	for i, c := range t.cells {
		if c.left != "" {
			continue
		}
		for _, d := range c.declarations {
			b.WriteString(d.all((*meaning).final) + "\n\n")
		}
		fmt.Fprintf(&cells, "func init() {\n\town_cells[%d] = func() {\n", i)
		if c.kernels {
			fmt.Fprintf(&cells, "own_kernels(%q)\n", c.source)
		}
		for j, s := range c.statements {
			text := s.body()
			if typ, ok := shown[i]; ok && j == len(c.statements)-1 {
				show := "own_show"
				if fails(typ) {
					show = "own_check"
				}
				text = show + "(" + text + ")"
			}
			cells.WriteString(text + "\n")
		}
		cells.WriteString("}\n}\n\n")
	}
	text := b.String() + cells.String()
	var imports strings.Builder
	for _, m := range t.all {
		if m.path != "" && strings.Contains(text, m.id+".") {
			fmt.Fprintf(&imports, "import %s %q\n", m.id, m.path)
		}
	}
	for path, name := range extra {
		fmt.Fprintf(&imports, "import %s %q\n", name, path)
	}
	head, rest, _ := strings.Cut(ownMain, "\n")
	return head + "\n" + imports.String() + rest + "\n" + text
}

// fails reports whether the last value of an expression is an error, which fails the cell.
func fails(t types.Type) bool {
	if tuple, ok := t.(*types.Tuple); ok && tuple.Len() > 0 {
		t = tuple.At(tuple.Len() - 1).Type()
	}
	return types.Identical(t, types.Universe.Lookup("error").Type())
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
