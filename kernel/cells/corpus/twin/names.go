package twin

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// meaning is what a name of cells means from one run of a cell on: a later run may import,
// declare or define another meaning. Each has an identifier of its own in the compiled
// program, that of the name where this is free: types print their names.
type meaning struct {
	name, id string
	path     string       // of an import
	entry    bool         // an entry of a kernel, declared by a %%cuda or %%ptx cell
	by       *declaration // nil for an import, an entry, and a variable
	run      int          // that defines a variable
	typ      types.Type   // of a variable
	earlier  *meaning     // the variable or the entry that stays
}

func (m *meaning) variable() bool { return m.path == "" && !m.entry && m.by == nil }

// first is what a variable or an entry that stays was at first.
func (m *meaning) first() *meaning {
	for m.earlier != nil {
		m = m.earlier
	}
	return m
}

// final is the identifier in the program.
func (m *meaning) final() string { return m.first().id }

// checked is the identifier while types are checked: each definition is a variable.
func (m *meaning) checked() string { return m.id }

// use is a name in a text.
type use struct {
	from, to int
	*meaning
}

// fragment is the source of a declaration or of a statement, and the names of cells in it.
type fragment struct {
	text string
	uses []use
}

// part is the text from one offset to another, with identifiers.
func (f fragment) part(from, to int, id func(*meaning) string) string {
	var b strings.Builder
	for _, u := range f.uses {
		if from <= u.from && u.to <= to {
			b.WriteString(f.text[from:u.from] + id(u.meaning))
			from = u.to
		}
	}
	return b.String() + f.text[from:to]
}

func (f fragment) all(id func(*meaning) string) string { return f.part(0, len(f.text), id) }

// parsed is a text as syntax, and its names that another text may declare.
type parsed struct {
	origin
	text string
	file *ast.File
	list []ast.Stmt
	free []*ast.Ident
}

// origin is the position of the first byte of a text.
type origin token.Pos

func (o origin) at(pos token.Pos) (offset int) { return int(pos) - int(o) }

func (o origin) cut(n ast.Node) (from, to int) { return o.at(n.Pos()), o.at(n.End()) }

// parseDeclaration and parseStatements parse a piece of a cell.
func parseDeclaration(text string) (parsed, error) { return parsePiece("package p\n", text, "") }

func parseStatements(text string) (parsed, error) {
	return parsePiece("package p; func _() {\n", text, "\n}")
}

func parsePiece(head, text, tail string) (p parsed, err error) {
	f, err := parser.ParseFile(token.NewFileSet(), "", head+text+tail, 0)
	if err != nil {
		return p, err
	}
	p = parsed{text: text, file: f, origin: origin(len(head) + 1)} // the first position of a file is 1
	if tail != "" {
		p.list = f.Decls[0].(*ast.FuncDecl).Body.List
	}
	outside := map[*ast.Ident]bool{}
	for _, id := range f.Unresolved {
		outside[id] = true
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			for _, e := range n.Elts { // the parser takes a key for a name only if the text declares it
				kv, pair := e.(*ast.KeyValueExpr)
				if key, ok := keyOf(kv, pair); ok && key.Obj == nil {
					outside[key] = mapLike(n.Type)
				}
			}
		case *ast.Ident:
			if declared, known := outside[n]; known && declared || !known && p.declares(f, n) {
				p.free = append(p.free, n)
			}
		}
		return true
	})
	slices.SortFunc(p.free, func(a, b *ast.Ident) int { return int(a.Pos() - b.Pos()) })
	return p, nil
}

func keyOf(kv *ast.KeyValueExpr, ok bool) (*ast.Ident, bool) {
	if !ok {
		return nil, false
	}
	key, ok := kv.Key.(*ast.Ident)
	return key, ok
}

// Declared are the names that a declaration declares, or the type of a method.
func Declared(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
		return []string{Receiver(d)}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			case *ast.ValueSpec:
				for _, id := range s.Names {
					names = append(names, id.Name)
				}
			}
		}
	}
	return names
}

// Receiver is the name of the type of a method.
func Receiver(d *ast.FuncDecl) string {
	x := d.Recv.List[0].Type
	for {
		switch y := x.(type) {
		case *ast.StarExpr:
			x = y.X
		case *ast.ParenExpr:
			x = y.X
		case *ast.IndexExpr:
			x = y.X
		case *ast.IndexListExpr:
			x = y.X
		case *ast.Ident:
			return y.Name
		default:
			return ""
		}
	}
}

// mapLike reports whether a literal of a type has keys, and not fields, as far as its text
// tells.
func mapLike(t ast.Expr) bool {
	switch t.(type) {
	case *ast.MapType, *ast.ArrayType:
		return true
	}
	return false
}

// declares reports whether a name is declared by the text outside of its functions and
// blocks.
func (p *parsed) declares(f *ast.File, id *ast.Ident) bool {
	if id.Obj == nil || id.Obj.Kind == ast.Lbl {
		return false
	}
	if f.Scope.Objects[id.Name] == id.Obj {
		return id.Name != "_"
	}
	return slices.ContainsFunc(p.list, func(s ast.Stmt) bool {
		if d, ok := s.(*ast.DeclStmt); ok {
			return slices.ContainsFunc(d.Decl.(*ast.GenDecl).Specs, func(spec ast.Spec) bool { return spec == id.Obj.Decl })
		}
		return s == id.Obj.Decl
	})
}

// names are the meanings that names have while cells are read.
type names struct {
	now     map[string]*meaning
	all     []*meaning
	ids     map[string]bool        // that are taken
	kernels bool                   // a cell has declared entries of kernels
	outside func(name string) bool // whether a package that is imported without a name has the name
}

// Dot separates the name of an identifier from its number. It is a letter that no cell uses.
const Dot = "ꞏ"

// fresh is an identifier that is not taken: the name itself if it can be.
func (ns *names) fresh(name string, itself bool) (id string) {
	id = name
	for i := 1; !itself || ns.ids[id] || types.Universe.Lookup(id) != nil || id == "init"; i++ {
		id, itself = fmt.Sprint(name, Dot, i), true
	}
	ns.ids[id] = true
	return id
}

// add gives a name a new meaning. An import is never called by its name, which another
// declaration of the package may have.
func (ns *names) add(m meaning) *meaning {
	m.id = ns.fresh(m.name, m.path == "")
	ns.all = append(ns.all, &m)
	ns.now[m.name] = &m
	return &m
}

// of is the fragment of a text with the meanings that its names have now.
func (ns *names) of(p parsed) fragment {
	f := fragment{text: p.text}
	for _, id := range p.free {
		m := ns.now[id.Name]
		if m == nil && ns.kernels && types.Universe.Lookup(id.Name) == nil {
			m = ns.add(meaning{name: id.Name, entry: true})
		}
		if m == nil && types.Universe.Lookup(id.Name) == nil && !ns.outside(id.Name) { // another cell may have the identifier
			m = &meaning{name: id.Name, id: id.Name + Dot + "undefined"}
		}
		if from, to := p.cut(id); m != nil {
			f.uses = append(f.uses, use{from, to, m})
		}
	}
	return f
}
