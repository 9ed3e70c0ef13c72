package compile

import (
	"cmp"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strconv"

	"github.com/goplus/ixgo"

	"warpbook/kernel/engine/graph"
)

// sources are the packages of a session that are kept as source.
type sources struct {
	ctx   *ixgo.Context
	graph *graph.Graph
}

// uninitialised lists the packages kept as source that a cell imports or that a unit
// reaches, each after those that it imports: package log sets a variable that log/slog
// reads, and a driver registers itself. The order is the same in each session.
func uninitialised(sources sources, u *graph.Unit, parts map[*graph.Unit][]ast.Decl) (list []*graph.Unit) {
	seen := map[*graph.Unit]bool{u: true}
	var add func(v *graph.Unit, needed bool)
	add = func(v *graph.Unit, needed bool) {
		if !seen[v] && !v.Initialised {
			seen[v] = true
			for _, w := range sources.imported(v.Files) {
				add(w, hasEffects(w.Files))
			}
			if needed {
				list = append(list, v)
			}
		}
	}
	for _, v := range sources.imported(u.Files) {
		add(v, hasEffects(v.Files))
	}
	reached := slices.Collect(maps.Keys(parts))
	slices.SortFunc(reached, func(a, b *graph.Unit) int { return cmp.Compare(a.Path, b.Path) })
	for _, v := range reached {
		if v.Imported && !slices.Contains(list, v) {
			delete(seen, v)
			add(v, true)
		}
	}
	return list
}

// imported are the packages kept as source that files import.
func (s sources) imported(files []*ast.File) (list []*graph.Unit) {
	for _, f := range files {
		for _, i := range f.Imports {
			path, _ := strconv.Unquote(i.Path.Value) // the checker has imported it
			if sp := s.ctx.SourcePackage(path); sp != nil {
				if u := s.graph.UnitOf(sp.Package); u != nil {
					list = append(list, u)
				}
			}
		}
	}
	return list
}

// hasEffects reports whether a package must be initialised although nothing reaches it: it
// has an init function, or a variable without a name that a call sets.
func hasEffects(files []*ast.File) bool {
	for _, f := range files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == "init" {
					return true
				}
			case *ast.GenDecl:
				if d.Tok == token.VAR && slices.ContainsFunc(d.Specs, isBlank) {
					return true
				}
			}
		}
	}
	return false
}

// isBlank reports whether a specification calls something for a variable without a name.
func isBlank(s ast.Spec) bool {
	v, ok := s.(*ast.ValueSpec)
	return ok && v.Names[0].Name == "_" && slices.ContainsFunc(v.Values, func(x ast.Expr) bool { _, ok := x.(*ast.CallExpr); return ok })
}
