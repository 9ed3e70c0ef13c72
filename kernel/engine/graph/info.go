package graph

import (
	"go/ast"
	"go/types"
)

// NewInfo returns the info for the type checker to fill in.
func NewInfo() *types.Info {
	return &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{},
		Scopes: map[ast.Node]*types.Scope{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		Instances: map[*ast.Ident]types.Instance{},
	}
}

// CopyInfo copies the entries of old for the nodes below root.
func CopyInfo(dst, old *types.Info, root ast.Node) {
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

// DropInfo drops the entries of info for the nodes below root.
func DropInfo(info *types.Info, root ast.Node) {
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
