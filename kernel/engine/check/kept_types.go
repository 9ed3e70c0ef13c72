package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A type that is declared again as it stands keeps its identity: values, map keys,
// channels and function variables of earlier cells still fit, and compiled packages such
// as gob see no second type. The checker sees such a declaration under another name, so
// that its own name means the live type everywhere in the cell. All declarations of live
// types are taken for unchanged at first; one that proves to differ is declared under its
// own name in the next round.

// keptPrefix begins the name of the declaration of a type that is kept.
const keptPrefix = "__kept_"

// keepTypes renames the declarations of the types that the cell may keep.
func (e *Checker) keepTypes(c *Cell) {
	c.kept = nil
	declared := map[string]int{}
	eachType(c.File, func(ts *ast.TypeSpec) { declared[ts.Name.Name]++ })
	eachType(c.File, func(ts *ast.TypeSpec) {
		name := ts.Name.Name
		if _, ok := e.Live[name].(*types.TypeName); ok && e.Decls[name] != nil && declared[name] == 1 && !c.anew[name] && !c.differs[name] {
			c.kept = append(c.kept, name)
			ts.Name.Name = keptPrefix + name
		}
	})
}

// eachType calls f for each type that a file declares.
func eachType(file *ast.File, f func(*ast.TypeSpec)) {
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
			for _, s := range g.Specs {
				f(s.(*ast.TypeSpec))
			}
		}
	}
}

// losesKept reports whether a type that the cell was to keep turns out to need another
// declaration because of its methods.
func (c *Cell) losesKept() bool {
	return slices.ContainsFunc(c.kept, func(name string) bool { return c.anew[name] })
}

// keepsLess reports whether a type that the cell was to keep must be declared again,
// because its declaration differs or omits a method that was declared with it.
func (e *Checker) keepsLess(c *Cell, h *hoist) bool {
	n, own := len(c.differs), e.own(c)
	for _, name := range c.kept {
		now, ok := h.Pkg.Scope().Lookup(keptPrefix + name).(*types.TypeName)
		if !ok || !e.sameDeclaration(e.Live[name].(*types.TypeName), now) || own[name] && e.omits(name, own) {
			c.differs[name] = true
		}
	}
	return len(c.differs) > n
}

// omits reports whether the cell, which declares a type, leaves out a method that was
// declared with it.
func (e *Checker) omits(name string, own map[string]bool) bool {
	for method, d := range e.Decls {
		if d.Base == name && !own[method] && d.Serial == e.Decls[name].Serial {
			return true
		}
	}
	return false
}

// sameDeclaration reports whether two types or aliases are declared alike, apart from
// their names and methods.
func (e *Checker) sameDeclaration(old, now *types.TypeName) bool {
	if old.IsAlias() != now.IsAlias() {
		return false
	}
	before, after, ok := e.instances(old.Type(), now.Type())
	if !ok {
		return false
	}
	if !old.IsAlias() {
		before, after = before.Underlying(), after.Underlying()
	}
	return types.Identical(before, after)
}

// instances are two declared types; if they are generic, each with the type parameters of
// the second. It reports false if the parameters differ.
func (e *Checker) instances(old, now types.Type) (before, after types.Type, ok bool) {
	type generic interface{ TypeParams() *types.TypeParamList }
	a, isGeneric := old.(generic)
	b, both := now.(generic)
	if isGeneric != both || !both || a.TypeParams().Len() == 0 && b.TypeParams().Len() == 0 {
		return old, now, isGeneric == both
	}
	var args []types.Type
	for p := range b.TypeParams().TypeParams() {
		args = append(args, p)
	}
	if e.parameters(a.TypeParams()) != e.parameters(b.TypeParams()) {
		return nil, nil, false
	}
	before, err := types.Instantiate(nil, old, args, false)
	if err != nil {
		return nil, nil, false
	}
	after, err = types.Instantiate(nil, now, args, false)
	return before, after, err == nil
}

// parameters spells type parameters with their constraints.
func (e *Checker) parameters(list *types.TypeParamList) string {
	var texts []string
	for p := range list.TypeParams() {
		texts = append(texts, p.Obj().Name()+" "+types.TypeString(p.Constraint(), e.Qualify))
	}
	return strings.Join(texts, ", ")
}

// dropKept removes the declarations of kept types from a checked file: they stand in the
// cells that declared them first.
func (c *Cell) dropKept() {
	if len(c.kept) == 0 {
		return
	}
	c.File.Decls = slices.DeleteFunc(c.File.Decls, func(d ast.Decl) bool {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			return false
		}
		g.Specs = slices.DeleteFunc(g.Specs, func(s ast.Spec) bool { return strings.HasPrefix(s.(*ast.TypeSpec).Name.Name, keptPrefix) })
		return len(g.Specs) == 0
	})
}
