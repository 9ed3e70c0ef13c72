package check

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
)

// receiverParameters finds where a method names the type parameters of its
// receiver: the offset in its text, and which of them. The parser resolves all
// names but these, and what it cannot know: fields.
func receiverParameters(text string) map[int]int {
	const head = "package p\n"
	f, err := parser.ParseFile(token.NewFileSet(), "", head+text, 0)
	if err != nil {
		return nil // as part of the cell it has been parsed
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

// typeArguments are those of a method's receiver.
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

// fitsGeneric reports whether a method names each type parameter of its type. If the
// type has some, a type that the method declares would differ by instance, which
// takes a method of the type's own package.
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

// methodOf is the method that a type declares by that name, nil if there is none.
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

// withReceiver is the signature of the function that stands for a method.
func withReceiver(m *types.Func) *types.Signature {
	sig := m.Signature()
	params := []*types.Var{sig.Recv()}
	for v := range sig.Params().Variables() {
		params = append(params, v)
	}
	return types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), sig.Results(), sig.Variadic())
}
