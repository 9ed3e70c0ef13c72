package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
	"warpbook/kernel/engine/namespace"
)

// scope collects the live objects that a file uses and does not declare.
func (e *Checker) scope(f *ast.File, h *hoist) namespace.Scope {
	mine, s := e.Names(f), namespace.Scope{Pkg: types.NewPackage("main", "main")}
	ast.Inspect(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !mine[id.Name] && !h.gone[id.Name] {
			mine[id.Name] = true
			s.Add(e.Live[id.Name])
		}
		return true
	})
	for _, v := range h.old {
		s.Add(v)
	}
	for _, a := range h.aliases {
		s.Add(types.NewTypeName(token.NoPos, s.Pkg, a.name, a.typ))
	}
	return s
}

// Names are the package-level names that a file declares or imports.
func (e *Checker) Names(f *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				for _, name := range e.specNames(s) {
					names[name] = true
				}
			}
		}
	}
	return names
}

func (e *Checker) specNames(s ast.Spec) (names []string) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		return []string{s.Name.Name}
	case *ast.ValueSpec:
		for _, n := range s.Names {
			names = append(names, n.Name)
		}
	case *ast.ImportSpec:
		if s.Name != nil {
			return []string{s.Name.Name}
		}
		if p, err := e.Importer.Import(ImportPath(s)); err == nil {
			return []string{p.Name()}
		}
	}
	return names
}

func ImportPath(s *ast.ImportSpec) string { return strings.Trim(s.Path.Value, "`\"") }
