package cell

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"warpbook/gpu/lazyregexp"
	"warpbook/kernel/frame"
)

// A method that is declared again with the signature that it has is replaced in
// place, as a function is: its type, what embeds the type and every value of
// them stay what they are, and call the new one. The checker takes methods only
// in the package of their type, so it is shown a function whose first parameter
// is the receiver. Where the type is generic, names in the cell's package stand for
// the type parameters of the method that is replaced: its new body then means the
// same ones as its signature does.

// methodPrefix begins the name of the function that stands for a method, and
// typePrefix that of a type parameter.
const methodPrefix, typePrefix = "__method_", "__type"

// replacement is a method of a live type and its new declaration.
type replacement struct {
	decl *ast.FuncDecl
	old  *types.Func
}

// name is that of the method, "T.M"; base is that of the type.
func (r replacement) name() string { return memberName(r.old, nil) }
func (r replacement) base() string { base, _, _ := strings.Cut(r.name(), "."); return base }

// findReplaced finds the methods that the cell replaces in place. Where it also
// adds a method to the type, or declares one twice, the type is declared again.
func (e *Engine) findReplaced(c *checked) {
	c.replaced = nil
	declared, seen := e.declaring, map[types.Object]bool{}
	for _, d := range c.file.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok || fd.Recv == nil || declared[baseName(fd)] {
			continue
		}
		t := e.receiver(fd)
		m := methodOf(t, fd.Name.Name)
		if m == nil || seen[m] || e.graph.owner[m] == nil || !fitsGeneric(fd, t) {
			c.anew[baseName(fd)] = true
			if t != nil { // which has another name, if that is an alias
				c.anew[t.Obj().Name()] = true
			}
			continue
		}
		seen[m] = true
		c.replaced = append(c.replaced, replacement{fd, m})
	}
	c.replaced = slices.DeleteFunc(c.replaced, func(r replacement) bool { return c.anew[r.base()] })
	c.parameters = nil
	for _, r := range c.replaced {
		c.nameParameters(r)
	}
}

// nameParameters has the declaration of a method of a generic type name the type
// parameters of the one that it replaces.
func (c *checked) nameParameters(r replacement) {
	parameters := r.old.Signature().RecvTypeParams()
	if parameters.Len() == 0 {
		return
	}
	start := c.offset(r.decl.Pos())
	at, names := receiverParameters(c.text[start:c.offset(r.decl.End())]), make([]string, parameters.Len())
	ast.Inspect(r.decl, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if i, ok := at[c.offset(id.Pos())-start]; ok {
				if names[i] == "" {
					names[i] = fmt.Sprintf("%s%d_%s", typePrefix, len(c.parameters), id.Name)
					c.parameters = append(c.parameters, alias{names[i], parameters.At(i)})
				}
				id.Name = names[i]
			}
		}
		return true
	})
}

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

// receiver is the live type that a method is declared on, nil if there is none.
func (e *Engine) receiver(fd *ast.FuncDecl) *types.Named {
	o, ok := e.live[baseName(fd)].(*types.TypeName)
	if !ok {
		return nil
	}
	t, ok := types.Unalias(o.Type()).(*types.Named)
	if !ok || e.live[t.Obj().Name()] != t.Obj() {
		return nil
	}
	return t
}

// fitsGeneric says whether a method names each type parameter of its type. If the
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

// methodsToFuncs shows the checker functions in place of the replaced methods.
func (c *checked) methodsToFuncs() {
	for _, r := range c.replaced {
		fd, recv := r.decl, *r.decl.Recv.List[0]
		if len(recv.Names) == 0 { // parameters have names all, or none
			recv.Names = []*ast.Ident{ident(recv.Type.Pos(), "_")}
		}
		for _, p := range fd.Type.Params.List {
			if len(p.Names) == 0 {
				p.Names = []*ast.Ident{ident(p.Type.Pos(), "_")}
			}
		}
		fd.Name = ident(fd.Name.Pos(), methodPrefix+r.base()+"_"+r.old.Name())
		fd.Type.Params.List = append([]*ast.Field{&recv}, fd.Type.Params.List...)
		fd.Recv = nil
	}
}

// changesSignature says whether one of the methods has another signature now.
// Its type is then declared again.
func (c *checked) changesSignature(info *types.Info) bool {
	changed := false
	for _, r := range c.replaced {
		now, ok := info.Defs[r.decl.Name].(*types.Func)
		if !ok || !types.Identical(now.Type(), withReceiver(r.old)) {
			c.anew[r.base()], changed = true, true
		}
	}
	return changed
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

// replaceMethods makes the functions the bodies of the methods that they stand
// for, until undo, and takes them out of the cell.
func (e *Engine) replaceMethods(c *checked) (undo []func()) {
	for _, r := range c.replaced {
		fd, t := *r.decl, *r.decl.Type
		params := *t.Params
		fd.Recv, params.List = &ast.FieldList{List: params.List[:1]}, params.List[1:]
		fd.Type, t.Params = &t, &params
		v := version{e.graph.owner[r.old], r.old}
		undo = append(undo, e.become(v, &fd, c.info))
		e.graph.addNested(v.decl.unit, v.decl.node.(*ast.FuncDecl))
		c.file.Decls = slices.DeleteFunc(c.file.Decls, func(d ast.Decl) bool { return d == r.decl })
	}
	return undo
}

// oldName is a type's name as typeString gives it, when it means another by now.
var oldName = lazyregexp.New(`([\pL_][\pL\pN_]*)·\d+(?:-\d+)?`)

// varTypes are the types of the live variables, by name, if the cell carries
// types of others: what warnOfOld asks for.
func (e *Engine) varTypes(c *checked) map[string]string {
	if len(c.carriedTypes()) == 0 {
		return nil
	}
	list := map[string]string{}
	for name, o := range e.live {
		if _, ok := o.(*types.Var); ok {
			list[name] = e.typeString(o.Type())
		}
	}
	return list
}

// carriedTypes are the names of earlier cells' types that are compiled again.
func (c *checked) carriedTypes() map[string]bool {
	list := map[string]bool{}
	for _, d := range c.source.carry {
		if _, ok := c.pkg.Scope().Lookup(d.name).(*types.TypeName); ok && d.base == "" {
			list[d.name] = true
		}
	}
	return list
}

// warnOfOld names the variables whose type was compiled again because the cell
// changes its methods or what it is made of. The user did not write the type
// again, so its values do not visibly become old ones.
func (e *Engine) warnOfOld(c *checked, before map[string]string) {
	carried := c.carriedTypes()
	for _, name := range slices.Sorted(maps.Keys(before)) {
		v, ok := e.live[name].(*types.Var)
		if !ok {
			continue
		}
		now := e.typeString(v.Type())
		for _, m := range oldName().FindAllStringSubmatch(now, -1) {
			if carried[m[1]] && !strings.Contains(before[name], m[0]) {
				fmt.Fprintf(e.stderr, "warning: %s keeps the type %s: %s changed %s; run the cell that makes %s again\n", name, now, frame.CellName(c.cell), m[1], name)
				break
			}
		}
	}
}
