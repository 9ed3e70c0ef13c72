package cell

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A method that is declared again with the signature that it has is replaced in
// place, as a function is: its type, what embeds the type and every value of
// them stay what they are, and call the new one. The checker takes methods only
// in the package of their type, so it is shown a function whose first parameter
// is the receiver.

// methodPrefix begins the name of the function that stands for a method.
const methodPrefix = "__method_"

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
	declared, seen := e.names(c.file), map[types.Object]bool{}
	for _, d := range c.file.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok || fd.Recv == nil || declared[baseName(fd)] {
			continue
		}
		t := e.receiver(fd)
		m := methodOf(t, fd.Name.Name)
		if m == nil || seen[m] || e.graph.owner[m] == nil {
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

// methodOf is the method that a type declares by that name, nil if there is none or
// the type is generic.
func methodOf(t *types.Named, name string) *types.Func {
	if t == nil || t.TypeParams().Len() > 0 {
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
var oldName = regexp.MustCompile(`([\pL_][\pL\pN_]*)·\d+`)

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
		for _, m := range oldName.FindAllStringSubmatch(now, -1) {
			if carried[m[1]] && !strings.Contains(before[name], m[0]) {
				fmt.Fprintf(e.stderr, "warning: %s keeps the type %s: cell %d changed %s; run the cell that makes %s again\n", name, now, c.cell, m[1], name)
				break
			}
		}
	}
}
