package compile

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/types/typeutil"

	"warpbook/kernel/engine/graph"
	"warpbook/kernel/engine/namespace"
)

// An interface may hold a value that an earlier cell made. A program that contains the
// methods of its type calls them; any other program finds them through the type, which
// leads to the interpreter that has them. So the declarations of such types are kept.

// noteDynamic remembers the cell types with methods that a program turns into
// interfaces.
func (e *Compiler) noteDynamic(ts []types.Type) {
	for _, t := range ts {
		t = types.Unalias(t)
		if p, ok := t.(*types.Pointer); ok {
			t = types.Unalias(p.Elem())
		}
		n, ok := t.(*types.Named)
		if !ok || e.dynamicSeen.At(n) != nil || n.Obj().Pkg() == nil || types.IsInterface(n) {
			continue
		}
		e.dynamicSeen.Set(n, true)
		if u := e.Graph.UnitOf(n.Obj().Pkg()); u != nil && e.nameable(n) &&
			types.NewMethodSet(types.NewPointer(n)).Len() > 0 {
			e.dynamic = append(e.dynamic, n)
		}
	}
}

// NoteGrown notes the types that had no methods when they were turned into interfaces, and
// have some by now.
func (e *Compiler) NoteGrown() {
	var seen []types.Type
	e.dynamicSeen.Iterate(func(t types.Type, _ any) {
		if !slices.Contains(e.dynamic, t.(*types.Named)) {
			seen = append(seen, t)
		}
	})
	for _, t := range seen {
		e.dynamicSeen.Delete(t)
	}
	e.noteDynamic(seen)
}

// KnownTypes is the number of types behind interfaces that have been noted.
func (e *Compiler) KnownTypes() int { return len(e.dynamic) }

// ForgetTypes forgets the types noted since the count was known: the types of a cell
// that does not begin.
func (e *Compiler) ForgetTypes(known int) {
	if len(e.dynamic) == known {
		return
	}
	for _, t := range e.dynamic[known:] {
		e.dynamicSeen.Delete(t)
	}
	e.dynamic = e.dynamic[:known:known]
}

// DynamicTypes are the types that values behind interfaces may have.
func (e *Compiler) DynamicTypes() (list []types.Type) {
	for _, t := range e.dynamic {
		list = append(list, t)
	}
	return list
}

// MadeTypes gives the types that programs have used.
func (e *Compiler) MadeTypes(yield func(types.Type)) {
	e.Types.Each(yield)
	e.dynamicSeen.Iterate(func(t types.Type, _ any) { yield(t) })
}

// nameable reports false for a type local to a generic function: it differs by instance
// and is no type of the session.
func (e *Compiler) nameable(n *types.Named) bool {
	o := n.Origin().Obj()
	return o.Parent() == o.Pkg().Scope() || e.Graph.Nested[n.Origin()] != 0
}

// behindInterfaces lists the types of values behind interfaces whose methods are among
// the reached declarations.
func (e *Compiler) behindInterfaces(reached []*graph.Decl) (ts []types.Type) {
	built := map[*graph.Decl]bool{}
	for _, d := range reached {
		built[d] = true
	}
	for _, t := range e.dynamic {
		if built[e.Graph.TypeDecl(t)] && t.TypeArgs().Len() == 0 {
			ts = append(ts, t)
		}
	}
	return ts
}

// keeper is a package with one function, which converts types to interfaces.
func (e *Compiler) keeper(kept []types.Type) *graph.Unit {
	pkg := types.NewPackage("main", "main")
	var b strings.Builder
	b.WriteString("package main\nfunc __keep(f func(any)) {\n")
	for i, t := range kept {
		name := fmt.Sprintf("__T%d", i)
		pkg.Scope().Insert(types.NewTypeName(token.NoPos, pkg, name, t))
		fmt.Fprintf(&b, "f(*new(%s)); f(new(%s))\n", name, name)
	}
	b.WriteString("}\n")
	f, err := parser.ParseFile(e.Ctx.FileSet, "", b.String(), parser.SkipObjectResolution)
	if err != nil {
		panic(err)
	}
	defer e.Forget(f)
	info, errs := e.TypeCheck(namespace.Scope{Pkg: pkg}, f)
	if len(errs) > 0 {
		panic(errs[0])
	}
	return &graph.Unit{Pkg: pkg, Info: info, Files: []*ast.File{f}, Path: "main·keep"}
}

// maxHomes is the number of types that keep the interpreter of their methods, of 80 KB
// each. A dropped one is made again at the next call, in a millisecond.
const maxHomes = 64

// Home is the interpreter that runs a type's methods for compiled code. It is made when
// the first of them is called, from the declarations that the type reaches.
func (e *Compiler) Home(recv types.Type) (*ixgo.Interp, error) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	if in, ok := e.homes.At(recv).(*ixgo.Interp); ok {
		return in, nil
	}
	if e.homes.Len() >= maxHomes {
		e.RenewHomes()
	}
	u := e.keeper([]types.Type{recv})
	u.Vars = map[string]reflect.Value{}
	e.Graph.Add(u)
	defer delete(e.Graph.Units, u.Pkg)
	p, err := e.Build(u)
	if err != nil {
		return nil, fmt.Errorf("engine: methods of %v: %w", recv, err)
	}
	e.homes.Set(recv, p.Interp)
	return p.Interp, nil
}

// RenewHomes makes compiled code call the current functions.
func (e *Compiler) RenewHomes() {
	e.homes = typeutil.Map{}
	e.Types.Renew()
}
