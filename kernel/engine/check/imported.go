package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"warpbook/kernel/engine/rewrite"
)

// Imports are the objects that the cell's imports add to later cells: package names, and
// the exported names of a package that is imported with a dot.
func (c *Cell) Imports() map[string]types.Object {
	objs := map[string]types.Object{}
	for _, s := range c.File.Imports {
		var o types.Object
		if s.Name != nil {
			o = c.Info.Defs[s.Name]
		} else {
			o = c.Info.Implicits[s]
		}
		switch {
		case ImportPath(s) == rewrite.RuntimePath || o != nil && strings.HasPrefix(o.Name(), DeclaredName) || s.Name != nil && s.Name.Name == "_":
		case s.Name != nil && s.Name.Name == ".":
			c.dotImport(s, objs)
		case o != nil:
			objs[o.Name()] = o
		}
	}
	return objs
}

func (c *Cell) dotImport(s *ast.ImportSpec, objs map[string]types.Object) {
	for _, p := range c.Pkg.Imports() {
		if p.Path() != ImportPath(s) {
			continue
		}
		for _, name := range p.Scope().Names() {
			if token.IsExported(name) {
				objs[name] = p.Scope().Lookup(name)
			}
		}
	}
}

// DeclaredName and a number form the package names of the variables that a cell in
// another language declares, in its Go form.
const DeclaredName = "__declared"
