package corpus

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// meaning is what a name of a notebook's cells means from one cell on: a later cell may
// import, declare or define another meaning. Each has an identifier of its own in the
// compiled program, that of the name where this is free: types print their names.
type meaning struct {
	name, id string
	path     string     // of an import
	entry    bool       // an entry of a kernel, declared by a %%cuda or %%ptx cell
	variable bool       // defined by a statement
	typ      types.Type // of a variable
	earlier  *meaning   // the variable of the name that the cells before have
}

// final is the identifier in the program: a variable that is defined again with its type
// stays, and so does an entry.
func (m *meaning) final() string {
	for m.earlier != nil && (m.entry || types.Identical(m.typ, m.earlier.typ)) {
		m = m.earlier
	}
	return m.id
}

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
	p = parsed{text: text, origin: origin(len(head) + 1)} // the first position of a file is 1
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
				if key, ok := keyOf(kv, pair); ok {
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
	if id.Obj == nil {
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
	kernels bool // a cell has declared entries of kernels
}

// add gives a name a new meaning.
func (ns *names) add(m meaning) *meaning {
	m.id = m.name
	taken := types.Universe.Lookup(m.name) != nil || slices.ContainsFunc(ns.all, func(x *meaning) bool { return x.id == m.name })
	if m.path != "" || taken {
		m.id = fmt.Sprintf("%s_%d", m.name, len(ns.all))
	}
	if was := ns.now[m.name]; was != nil && was.variable == m.variable && was.entry == m.entry && (m.variable || m.entry) {
		m.earlier = was
	}
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
		if from, to := p.cut(id); m != nil {
			f.uses = append(f.uses, use{from, to, m})
		}
	}
	return f
}
