package check

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/namespace"
)

// declarations lists the sources of the declarations of a parsed cell, before it is
// rewritten.
func (e *Checker) declarations(s *Source) (list []*namespace.Declaration) {
	add := func(prefix string, n ast.Node, base string, names ...string) {
		p := e.Ctx.FileSet.Position(n.Pos())
		d := &namespace.Declaration{Name: names[0], Names: names, Base: base, Node: n, Cell: failure.CellOf(p.Filename),
			Text: prefix + failure.Directive(failure.CellOf(p.Filename), p.Line, p.Column) + s.Text[s.offset(n.Pos()):s.offset(n.End())]}
		if old := s.Carried(n.Pos()); old != nil {
			d.Serial = old.Serial
		}
		list = append(list, d)
	}
	for _, d := range s.File.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			base := baseName(d)
			switch i := slices.IndexFunc(s.Replaced, func(r namespace.Replacement) bool { return r.Decl == d }); {
			case i >= 0:
				add("", d, s.Replaced[i].Base(), s.Replaced[i].Name())
			case base != "":
				add("", d, base, base+"."+d.Name.Name)
			case d != s.body && d.Name.Name != "init":
				add("", d, "", d.Name.Name)
			}
		case *ast.GenDecl:
			switch d.Tok {
			case token.TYPE:
				for _, spec := range d.Specs {
					add("type ", spec, "", strings.TrimPrefix(spec.(*ast.TypeSpec).Name.Name, keptPrefix))
				}
			case token.CONST:
				var names []string
				for _, spec := range d.Specs {
					names = append(names, e.specNames(spec)...)
				}
				if len(names) > 0 {
					add("", d, "", names...)
				}
			}
		}
	}
	return list
}

// own are the names that the cell's own pieces declare or import. A method is "T.M".
func (e *Checker) own(c *Cell) map[string]bool {
	own := e.importedNames(c)
	for _, d := range e.declarations(c.Source) {
		if c.Carried(d.Node.Pos()) == nil {
			for _, n := range d.Names {
				own[n] = true
			}
		}
	}
	return own
}

// importedNames are the names of the packages that the cell imports.
func (e *Checker) importedNames(c *Cell) map[string]bool {
	names := map[string]bool{}
	for _, s := range c.File.Imports {
		for _, name := range e.specNames(s) {
			names[name] = true
		}
	}
	return names
}
