package ask

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/engine/check"
	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/namespace"
	"warpbook/kernel/leaf/lazyregexp"
)

// Completion is the list of completions of a name, and the span that a match replaces,
// in code points.
type Completion struct {
	Matches    []cellproto.Match
	Start, End int
}

// Complete lists the completions of the name at the cursor. The cursor is counted in
// code points. It fails if the engine or the type checker panics.
func (e *Asker) Complete(src string, cursor int) (c Completion, fail *cellproto.Error) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	defer failure.Rescue("complete", &fail)
	at := byteOffset(src, cursor)
	if from, to, ok := check.MagicName(src, at); ok {
		return Completion{e.MagicMatches(src[from:at]), codePoints(src, from), codePoints(src, to)}, nil
	}
	if m := e.magicAt(src, at); m != nil {
		return Completion{m.matches(), codePoints(src, m.from), codePoints(src, m.to)}, nil
	}
	if m := importString().FindStringSubmatchIndex(src[:at]); m != nil {
		from := m[2]
		return Completion{e.importMatches(src[from:at]), codePoints(src, from), codePoints(src, at)}, nil
	}
	if c, ok := e.texts(src, at); ok {
		return c, nil
	}
	from, to := identStart(src, at), identEnd(src, at)
	c.Start, c.End = codePoints(src, from), codePoints(src, to)
	if p := e.partial(src, at); p != nil {
		c.Matches = e.matches(p, src[from:at])
	}
	return c, nil
}

// matches are the names with a prefix that can stand at the cursor.
func (e *Asker) matches(p *partial, prefix string) []cellproto.Match {
	c := &completer{e: e, prefix: prefix, pkg: p.pkg, seen: map[string]bool{}}
	if _, sel := p.name(); sel != nil {
		c.selector(p, sel)
	} else if b := p.branch(); b != nil {
		c.labels(p, b)
	} else {
		c.keys(p)
		c.scopes(p)
	}
	slices.SortFunc(c.matches, func(a, b cellproto.Match) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.Text, b.Text))
	})
	return c.matches
}

// rank puts members of a value first and keywords last.
func rank(m cellproto.Match) int {
	switch m.Kind {
	case "field", "method":
		return 0
	case "keyword":
		return 2
	}
	return 1
}

// importString matches the source before the cursor if the cursor is in the path of an
// import.
var importString = lazyregexp.New(`(?s)\bimport\s*(?:\([^)]*)?(?:[\w.]+\s+)?"([^"\n]*)$`)

func (e *Asker) importMatches(prefix string) (matches []cellproto.Match) {
	for _, p := range e.Importer.Packages() {
		if strings.HasPrefix(p, prefix) {
			matches = append(matches, cellproto.Match{Text: p, Kind: "package"})
		}
	}
	return matches
}

// completer collects matches.
type completer struct {
	e       *Asker
	prefix  string
	pkg     *types.Package
	seen    map[string]bool
	matches []cellproto.Match
}

func (c *completer) add(name, kind string, t types.Type) {
	if c.seen[name] || strings.HasPrefix(name, "__") || name == "_" ||
		!strings.HasPrefix(strings.ToLower(name), strings.ToLower(c.prefix)) {
		return
	}
	c.seen[name] = true
	m := cellproto.Match{Text: name, Kind: kind}
	if t != nil {
		m.Type = c.e.TypeString(t)
	}
	c.matches = append(c.matches, m)
}

// function adds a function or method. Types of compiled functions have no parameter
// names; these come from the documentation.
func (c *completer) function(o *types.Func, kind string) {
	n := len(c.matches)
	c.add(o.Name(), kind, o.Type())
	if len(c.matches) == n || o.Pkg() == nil || o.Pkg().Path() == "main" {
		return
	}
	head, _, _ := strings.Cut(c.e.documented(o.Pkg().Path(), namespace.MemberName(o, nil)), "\n")
	if _, sig, ok := strings.Cut(head, o.Name()+"("); ok && strings.HasPrefix(head, "func ") {
		c.matches[n].Type = "func(" + sig
	}
}

func (c *completer) object(o types.Object) {
	switch o := o.(type) {
	case *types.PkgName:
		c.add(o.Name(), "package", nil)
	case *types.TypeName:
		c.add(o.Name(), "type", o.Type().Underlying())
	case *types.Func:
		c.function(o, "function")
	case *types.Builtin:
		c.add(o.Name(), "function", nil)
	case *types.Label:
	default:
		c.add(o.Name(), "variable", o.Type())
	}
}

// scopes completes an unqualified name from all scopes around the cursor, the innermost
// first.
func (c *completer) scopes(p *partial) {
	for s := p.innermost(); s != nil; s = s.Parent() {
		for _, name := range s.Names() {
			o := s.Lookup(name)
			if local := o.Parent() != p.pkg.Scope() && o.Pkg() == p.pkg; local && o.Pos() >= p.pos {
				continue // declared after the cursor
			}
			c.object(o)
		}
	}
	for k := token.BREAK; k <= token.VAR; k++ {
		c.add(k.String(), "keyword", nil)
	}
}

// innermost is the scope at the cursor.
func (p *partial) innermost() *types.Scope {
	for _, n := range p.path {
		if f, ok := n.(*ast.FuncDecl); ok {
			n = f.Type // holds the scope of the function
		}
		if s := p.info.Scopes[n]; s != nil {
			if inner := s.Innermost(p.pos); inner != nil {
				return inner
			}
			return s
		}
	}
	return p.pkg.Scope()
}

// selector completes a name after a dot: members of a package or of a value.
func (c *completer) selector(p *partial, sel *ast.SelectorExpr) {
	if id, ok := sel.X.(*ast.Ident); ok {
		packages := c.e.unimported(p, id)
		if pn, ok := p.info.Uses[id].(*types.PkgName); ok {
			packages = []*types.Package{pn.Imported()}
		}
		for _, pkg := range packages {
			for _, name := range pkg.Scope().Names() {
				if token.IsExported(name) {
					c.object(pkg.Scope().Lookup(name))
				}
			}
		}
	}
	if id, ok := sel.X.(*ast.Ident); ok && p.info.ObjectOf(id) == nil {
		c.ofModules(id.Name)
	}
	t := p.info.TypeOf(sel.X)
	if t == nil {
		return
	}
	if !p.info.Types[sel.X].IsType() { // a type has method expressions only
		c.fields(t, map[types.Type]bool{})
		if _, ok := t.Underlying().(*types.Pointer); !ok && !types.IsInterface(t) {
			t = types.NewPointer(t)
		}
	}
	for m := range types.NewMethodSet(t).Methods() {
		if o := m.Obj().(*types.Func); o.Exported() || o.Pkg().Path() == "main" {
			c.function(o, "method")
		}
	}
}

// keys adds the fields of the struct literal around the cursor, unless the cursor is at
// the value of a field.
func (c *completer) keys(p *partial) {
	if len(p.path) < 3 {
		return
	}
	parent := p.path[1]
	if kv, ok := parent.(*ast.KeyValueExpr); ok && kv.Key == p.path[0] {
		parent = p.path[2]
	}
	lit, ok := parent.(*ast.CompositeLit)
	if !ok {
		return
	}
	t := p.info.TypeOf(lit)
	if t == nil {
		return
	}
	if st, ok := t.Underlying().(*types.Struct); ok {
		for f := range st.Fields() {
			if f.Exported() || f.Pkg().Path() == "main" {
				c.add(f.Name(), "field", f.Type())
			}
		}
	}
}

// unimported are the packages that an undeclared name may stand for and that no cell has
// imported yet.
func (e *Asker) unimported(p *partial, id *ast.Ident) []*types.Package {
	if p.info.ObjectOf(id) != nil {
		return nil
	}
	return e.Advice.PackagesOf(id.Name)
}

// fields adds the fields of a struct and of its embedded structs.
func (c *completer) fields(t types.Type, seen map[types.Type]bool) {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok || seen[t] {
		return
	}
	seen[t] = true
	for f := range st.Fields() {
		if f.Exported() || f.Pkg().Path() == "main" {
			c.add(f.Name(), "field", f.Type())
		}
	}
	for f := range st.Fields() {
		if f.Embedded() {
			c.fields(f.Type(), seen)
		}
	}
}

// ofModules adds the names of packages that %pkg has added and no cell has imported.
func (c *completer) ofModules(pkg string) {
	for _, texts := range c.e.Importer.Named(pkg) {
		for name, text := range texts {
			if name == "" || strings.Contains(name, ".") {
				continue
			}
			kind, _, _ := strings.Cut(text, " ")
			switch kind {
			case "func":
				kind = "function"
			case "const", "var":
				kind = "variable"
			}
			c.add(name, kind, nil)
		}
	}
}
