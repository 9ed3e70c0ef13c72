package check

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"warpbook/kernel/engine/namespace"
	"warpbook/kernel/engine/rewrite"
)

// findReplaced finds the methods of live types that the cell replaces in place, and those
// that it adds. If a method can be neither, or is declared twice, the type is declared
// again.
func (e *Checker) findReplaced(c *Cell) {
	c.Replaced, c.adds = nil, nil
	declared, seen := e.Declaring, map[types.Object]bool{}
	for _, d := range c.File.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok || fd.Recv == nil {
			continue
		}
		base := c.aliased(baseName(fd))
		if declared[base] {
			continue
		}
		t := e.Receiver(base)
		m := methodOf(t, fd.Name.Name)
		if m == nil && e.addable(fd, t, c.first) {
			c.adds = append(c.adds, addedMethod{fd, t})
			continue
		}
		if m == nil || seen[m] || e.Graph.Owner[m] == nil || !fitsGeneric(fd, t) {
			c.anew[base] = true
			if t != nil { // an alias has another name
				c.anew[t.Obj().Name()] = true
			}
			continue
		}
		seen[m] = true
		c.Replaced = append(c.Replaced, namespace.Replacement{Decl: fd, Old: m})
	}
	c.Replaced = slices.DeleteFunc(c.Replaced, func(r namespace.Replacement) bool { return c.anew[r.Base()] })
	c.parameters = nil
	for _, r := range c.Replaced {
		c.nameParameters(r.Decl, r.Old.Signature().RecvTypeParams())
	}
	for _, a := range c.adds {
		c.nameParameters(a.decl, a.to.TypeParams())
	}
}

// nameParameters renames the type parameters in the declaration of a method of a generic
// type to those of the method that it replaces, or of the type.
func (c *Cell) nameParameters(decl *ast.FuncDecl, parameters *types.TypeParamList) {
	if parameters.Len() == 0 {
		return
	}
	start := c.offset(decl.Pos())
	at, names := receiverParameters(c.Text[start:c.offset(decl.End())]), make([]string, parameters.Len())
	ast.Inspect(decl, func(n ast.Node) bool {
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

// methodsToFuncs shows the checker functions instead of the replaced methods.
func (c *Cell) methodsToFuncs() {
	for _, r := range c.Replaced {
		fd, recv := r.Decl, *r.Decl.Recv.List[0]
		if len(recv.Names) == 0 { // parameters have names all, or none
			recv.Names = []*ast.Ident{rewrite.Ident(recv.Type.Pos(), "_")}
		}
		for _, p := range fd.Type.Params.List {
			if len(p.Names) == 0 {
				p.Names = []*ast.Ident{rewrite.Ident(p.Type.Pos(), "_")}
			}
		}
		fd.Name = rewrite.Ident(fd.Name.Pos(), methodPrefix+r.Base()+"_"+r.Old.Name())
		fd.Type.Params.List = append([]*ast.Field{&recv}, fd.Type.Params.List...)
		fd.Recv = nil
	}
}

// changesSignature reports whether one of the methods has another signature now. Its
// type is then declared again.
func (c *Cell) changesSignature(info *types.Info) bool {
	changed := false
	for _, r := range c.Replaced {
		now, ok := info.Defs[r.Decl.Name].(*types.Func)
		if !ok || !types.Identical(now.Type(), withReceiver(r.Old)) {
			c.anew[r.Base()], changed = true, true
		}
	}
	return changed
}
