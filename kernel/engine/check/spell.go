package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"

	"warpbook/kernel/engine/rewrite"
)

// typeExpr spells a type. Types of the file's own package go by their names; any other
// gets an alias, because the file may have no name for it.
func (h *hoist) typeExpr(t types.Type, own *types.Package) ast.Expr {
	if !mentions(t, own) {
		return h.aliasOf(t)
	}
	sub := func(t types.Type) ast.Expr { return h.typeExpr(t, own) }
	switch t := t.(type) {
	case *types.Alias:
		return sub(types.Unalias(t))
	case *types.Named:
		name := ast.Expr(rewrite.Ident(token.NoPos, t.Obj().Name()))
		if t.Obj().Pkg() != own { // a generic type of another package, with an argument of this one
			name = h.aliasOf(t.Origin())
		}
		return instance(name, t.TypeArgs(), sub)
	case *types.Pointer:
		return &ast.StarExpr{X: sub(t.Elem())}
	case *types.Slice:
		return &ast.ArrayType{Elt: sub(t.Elem())}
	case *types.Array:
		return &ast.ArrayType{Len: &ast.BasicLit{Kind: token.INT, Value: strconv.FormatInt(t.Len(), 10)}, Elt: sub(t.Elem())}
	case *types.Map:
		return &ast.MapType{Key: sub(t.Key()), Value: sub(t.Elem())}
	case *types.Chan:
		dir := map[types.ChanDir]ast.ChanDir{types.SendRecv: ast.SEND | ast.RECV, types.SendOnly: ast.SEND, types.RecvOnly: ast.RECV}
		return &ast.ChanType{Dir: dir[t.Dir()], Value: sub(t.Elem())}
	case *types.Signature:
		return &ast.FuncType{Params: fields(t.Params(), t.Variadic(), sub), Results: fields(t.Results(), false, sub)}
	case *types.Struct:
		return structExpr(t, sub, h.embedded)
	case *types.Interface:
		return interfaceExpr(t, sub)
	}
	return h.aliasOf(t)
}

// embedded spells the type of an embedded field. Its name is also the field's name, so
// an alias cannot replace it. It is nil for instances, and if the file has no name for
// the type.
func (h *hoist) embedded(t types.Type) ast.Expr {
	if p, ok := t.(*types.Pointer); ok {
		if x := h.embedded(p.Elem()); x != nil {
			return &ast.StarExpr{X: x}
		}
		return nil
	}
	n, ok := t.(*types.Named)
	if !ok || n.TypeArgs().Len() > 0 {
		return nil
	}
	o := n.Obj()
	if o.Pkg() == nil || o.Pkg().Path() == h.Pkg.Path() {
		return rewrite.Ident(token.NoPos, o.Name())
	}
	for _, used := range h.info.Uses {
		if p, ok := used.(*types.PkgName); ok && p.Imported() == o.Pkg() {
			return &ast.SelectorExpr{X: rewrite.Ident(token.NoPos, p.Name()), Sel: rewrite.Ident(token.NoPos, o.Name())}
		}
	}
	return nil
}

func (h *hoist) aliasOf(t types.Type) ast.Expr {
	for _, a := range h.aliases {
		if types.Identical(a.typ, t) {
			return rewrite.Ident(token.NoPos, a.name)
		}
	}
	a := alias{fmt.Sprintf("__T%d", len(h.aliases)), t}
	h.aliases = append(h.aliases, a)
	return rewrite.Ident(token.NoPos, a.name)
}

// mentions reports whether a type is spelled with a name of the package.
func mentions(t types.Type, pkg *types.Package) bool {
	found := false
	types.TypeString(t, func(p *types.Package) string {
		found = found || p == pkg
		return ""
	})
	return found
}

func instance(name ast.Expr, args *types.TypeList, sub func(types.Type) ast.Expr) ast.Expr {
	if args.Len() == 0 {
		return name
	}
	x := &ast.IndexListExpr{X: name}
	for t := range args.Types() {
		x.Indices = append(x.Indices, sub(t))
	}
	return x
}

func fields(t *types.Tuple, variadic bool, sub func(types.Type) ast.Expr) *ast.FieldList {
	l := &ast.FieldList{}
	for i := range t.Len() {
		var x ast.Expr
		if variadic && i == t.Len()-1 {
			x = &ast.Ellipsis{Elt: sub(t.At(i).Type().(*types.Slice).Elem())}
		} else {
			x = sub(t.At(i).Type())
		}
		l.List = append(l.List, &ast.Field{Type: x})
	}
	return l
}

func structExpr(t *types.Struct, sub, embedded func(types.Type) ast.Expr) ast.Expr {
	l := &ast.FieldList{}
	for i := range t.NumFields() {
		v, f := t.Field(i), &ast.Field{}
		if v.Embedded() {
			f.Type = embedded(v.Type())
		} else {
			f.Names = []*ast.Ident{rewrite.Ident(token.NoPos, v.Name())}
		}
		if f.Type == nil {
			f.Type = sub(v.Type())
		}
		if t.Tag(i) != "" {
			f.Tag = &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(t.Tag(i))}
		}
		l.List = append(l.List, f)
	}
	return &ast.StructType{Fields: l}
}

func interfaceExpr(t *types.Interface, sub func(types.Type) ast.Expr) ast.Expr {
	l := &ast.FieldList{}
	for m := range t.ExplicitMethods() {
		l.List = append(l.List, &ast.Field{Names: []*ast.Ident{rewrite.Ident(token.NoPos, m.Name())}, Type: sub(m.Type())})
	}
	for i := range t.NumEmbeddeds() {
		l.List = append(l.List, &ast.Field{Type: sub(t.EmbeddedType(i))})
	}
	return &ast.InterfaceType{Methods: l}
}
