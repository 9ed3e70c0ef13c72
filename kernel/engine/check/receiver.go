package check

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
)

// receiverParameters finds the uses of a receiver's type parameters in a method: the
// offset in its text, and the index of the parameter. The parser resolves all names
// except these and fields.
func receiverParameters(text string) map[int]int {
	const head = "package p\n"
	f, err := parser.ParseFile(token.NewFileSet(), "", head+text, 0)
	if err != nil {
		return nil // it was parsed as part of the cell
	}
	fd, at, index, fields := f.Decls[0].(*ast.FuncDecl), map[int]int{}, map[string]int{}, map[*ast.Ident]bool{}
	offset := func(n ast.Node) int { return int(n.Pos()-f.FileStart) - len(head) }
	for i, x := range typeArguments(fd) {
		at[offset(x)] = i
		if name := x.(*ast.Ident).Name; name != "_" {
			index[name] = i
		}
	}
	ast.Inspect(fd, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			fields[n.Sel] = true
		case *ast.KeyValueExpr:
			key, _ := n.Key.(*ast.Ident)
			fields[key] = true
		case *ast.Ident:
			if i, ok := index[n.Name]; ok && n.Obj == nil && !fields[n] {
				at[offset(n)] = i
			}
		}
		return true
	})
	return at
}

// typeArguments are the type arguments of a method's receiver.
func typeArguments(fd *ast.FuncDecl) []ast.Expr {
	t := ast.Unparen(fd.Recv.List[0].Type)
	if star, ok := t.(*ast.StarExpr); ok {
		t = ast.Unparen(star.X)
	}
	switch x := t.(type) {
	case *ast.IndexExpr:
		return []ast.Expr{x.Index}
	case *ast.IndexListExpr:
		return x.Indices
	}
	return nil
}

// fitsGeneric reports whether a method names each type parameter of its type and
// declares no types of its own if the type has parameters: such a type would differ by
// instance, and only a method in the type's own package supports that.
func fitsGeneric(fd *ast.FuncDecl, t *types.Named) bool {
	list, fits := typeArguments(fd), true
	for _, x := range list {
		_, name := x.(*ast.Ident)
		fits = fits && name
	}
	ast.Inspect(fd, func(n ast.Node) bool {
		_, declares := n.(*ast.TypeSpec)
		fits = fits && !(declares && len(list) > 0)
		return fits
	})
	return fits && len(list) == t.TypeParams().Len()
}

// methodOf is the method of that name that a type declares, nil if there is none.
func methodOf(t *types.Named, name string) *types.Func {
	if t == nil {
		return nil
	}
	for m := range t.Methods() {
		if m.Name() == name {
			return m
		}
	}
	return nil
}

// withReceiver is the signature of the function that represents a method.
func withReceiver(m *types.Func) *types.Signature {
	sig := m.Signature()
	params := []*types.Var{sig.Recv()}
	for v := range sig.Params().Variables() {
		params = append(params, v)
	}
	return types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), sig.Results(), sig.Variadic())
}
