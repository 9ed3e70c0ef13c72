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
	mine, dotted, s := e.Names(f), dotImports(f), namespace.Scope{Pkg: types.NewPackage("main", "main")}
	ast.Inspect(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !mine[id.Name] && !h.gone[id.Name] {
			mine[id.Name] = true
			if o := e.Live[id.Name]; o != nil && !(o.Pkg() != nil && dotted[o.Pkg().Path()]) {
				s.Add(o)
			}
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

// dotImports are the paths of the packages that a file imports with a dot. Their names
// come with the import, although an earlier cell may have made them live.
func dotImports(f *ast.File) map[string]bool {
	paths := map[string]bool{}
	for _, s := range f.Imports {
		if s.Name != nil && s.Name.Name == "." {
			paths[ImportPath(s)] = true
		}
	}
	return paths
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
