package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// compact forgets the parts of a compiled cell that are never compiled again:
// its statements, init functions and the initial values of variables.
func (g *graph) compact(u *unit) {
	old := u.info
	u.info, u.files = newInfo(), nil
	u.decls = slices.DeleteFunc(u.decls, func(d *decl) bool {
		f, ok := d.node.(*ast.FuncDecl)
		if ok = ok && f.Recv == nil && (f.Name.Name == "init" || strings.HasPrefix(f.Name.Name, "__")); ok {
			delete(g.owner, old.Defs[f.Name])
		}
		return ok
	})
	for _, d := range u.decls {
		if gd, ok := d.node.(*ast.GenDecl); ok {
			vs := *gd.Specs[0].(*ast.ValueSpec)
			vs.Values, vs.Type = nil, nil
			d.node = &ast.GenDecl{Tok: token.VAR, TokPos: gd.TokPos, Specs: []ast.Spec{&vs}}
		}
		copyInfo(u.info, old, d.node)
	}
}

// copyInfo copies what old knows about the nodes below root.
func copyInfo(dst, old *types.Info, root ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch x := n.(type) {
		case nil:
			return false
		case *ast.Ident:
			carryOver(dst.Defs, old.Defs, x)
			carryOver(dst.Uses, old.Uses, x)
			carryOver(dst.Instances, old.Instances, x)
		case *ast.SelectorExpr:
			carryOver(dst.Selections, old.Selections, x)
		}
		if x, ok := n.(ast.Expr); ok {
			carryOver(dst.Types, old.Types, x)
		}
		carryOver(dst.Implicits, old.Implicits, n)
		carryOver(dst.Scopes, old.Scopes, n)
		return true
	})
}

// dropInfo forgets what info knows about the nodes below root.
func dropInfo(info *types.Info, root ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch x := n.(type) {
		case nil:
			return false
		case *ast.Ident:
			delete(info.Defs, x)
			delete(info.Uses, x)
			delete(info.Instances, x)
		case *ast.SelectorExpr:
			delete(info.Selections, x)
		}
		if x, ok := n.(ast.Expr); ok {
			delete(info.Types, x)
		}
		delete(info.Implicits, n)
		delete(info.Scopes, n)
		return true
	})
}

func carryOver[K comparable, V any](dst, src map[K]V, k K) {
	if v, ok := src[k]; ok {
		dst[k] = v
	}
}

// prune drops the cells that nothing live refers to, by name or as a type that
// values may have, and returns them.
func (g *graph) prune(live map[string]types.Object, dynamic []dynamicType) (dropped []*unit) {
	tmp := &walker{g: g, d: &decl{}, seen: map[types.Type]bool{}}
	used := map[*unit]bool{}
	for _, o := range live {
		if u := g.units[o.Pkg()]; u != nil {
			used[u] = true
		}
		if d := g.owner[o]; d != nil {
			tmp.dep(d)
		}
		tmp.typ(o.Type())
	}
	for _, t := range dynamic {
		tmp.typ(t.typ)
	}
	for _, d := range g.reach(tmp.d.deps, nil) {
		used[d.unit] = true
	}
	for p, u := range g.units {
		if !u.imported && !u.running && !used[u] {
			delete(g.units, p)
			dropped = append(dropped, u)
		}
	}
	for o := range g.owner {
		if g.units[o.Pkg()] == nil {
			delete(g.owner, o)
		}
	}
	for o := range g.named {
		if g.units[o.Pkg()] == nil {
			delete(g.named, o)
		}
	}
	return dropped
}
