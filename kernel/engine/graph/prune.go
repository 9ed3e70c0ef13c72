package graph

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// Compact drops the parts of a compiled cell that are never compiled again: its
// statements, init functions and the initial values of variables. The unit changes at
// the end, all at once.
func (g *Graph) Compact(u *Unit) {
	info := NewInfo()
	var decls []*Decl
	var nodes []ast.Decl
	for _, d := range u.Decls {
		node := d.Node
		switch n := node.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil && (n.Name.Name == "init" || strings.HasPrefix(n.Name.Name, "__")) {
				continue
			}
		case *ast.GenDecl:
			vs := *n.Specs[0].(*ast.ValueSpec)
			vs.Values, vs.Type = nil, nil
			node = &ast.GenDecl{Tok: token.VAR, TokPos: n.TokPos, Specs: []ast.Spec{&vs}}
		}
		CopyInfo(info, u.Info, node)
		decls, nodes = append(decls, d), append(nodes, node)
	}
	for _, d := range u.Decls {
		if f, ok := d.Node.(*ast.FuncDecl); ok && !slices.Contains(decls, d) {
			delete(g.Owner, u.Info.Defs[f.Name])
		}
	}
	for i, d := range decls {
		d.Node = nodes[i]
	}
	u.Info, u.Files, u.Decls = info, nil, decls
}

// Remove drops an unused unit and its declarations.
func (g *Graph) Remove(u *Unit) {
	delete(g.Units, u.Pkg)
	maps.DeleteFunc(g.Owner, func(o types.Object, _ *Decl) bool { return o.Pkg() == u.Pkg })
	maps.DeleteFunc(g.named, func(o *types.TypeName, _ *Decl) bool { return o.Pkg() == u.Pkg })
	maps.DeleteFunc(g.Nested, func(t *types.Named, _ int) bool { return t.Obj().Pkg() == u.Pkg })
}

// Prune drops the cells that nothing live refers to, neither by name nor as a type of
// possible values, and returns them.
func (g *Graph) Prune(live map[string]types.Object, dynamic []types.Type) (dropped []*Unit) {
	tmp := &walker{g: g, d: &Decl{}, seen: map[types.Type]bool{}}
	used := map[*Unit]bool{}
	for _, o := range live {
		if u := g.Units[o.Pkg()]; u != nil {
			used[u] = true
		}
		if d := g.Owner[o]; d != nil {
			tmp.dep(d)
		}
		tmp.typ(o.Type())
	}
	for _, t := range dynamic {
		tmp.typ(t)
	}
	for _, d := range g.Reach(tmp.d.Deps, nil) {
		used[d.Unit] = true
	}
	for p, u := range g.Units {
		if !u.Imported && !u.Running && !used[u] {
			delete(g.Units, p)
			dropped = append(dropped, u)
		}
	}
	for o := range g.Owner {
		if g.Units[o.Pkg()] == nil {
			delete(g.Owner, o)
		}
	}
	for o := range g.named {
		if g.Units[o.Pkg()] == nil {
			delete(g.named, o)
		}
	}
	return dropped
}
