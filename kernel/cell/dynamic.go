package cell

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/types/typeutil"
)

// The interpreter of a cell can call, through an interface, only the methods
// of types that its program turns into interfaces. A value that an earlier
// cell made may come in behind any interface, so a program that could call its
// methods is told of the type. If the program has the methods, they are built;
// otherwise a stand-in without methods makes the interpreter look them up in
// the type itself, which leads to the interpreter that has them.

// noteDynamic remembers the cell types with methods that a program turns into
// interfaces.
func (e *Engine) noteDynamic(ts []types.Type) {
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
		if u := e.graph.unitOf(n.Obj().Pkg()); u != nil && !u.imported && e.nameable(n) &&
			types.NewMethodSet(types.NewPointer(n)).Len() > 0 {
			e.dynamic = append(e.dynamic, e.standIn(n))
		}
	}
}

// dynamicType is a type that values behind interfaces may have.
type dynamicType struct {
	typ     *types.Named
	standIn *types.Named   // has the same reflect type and no methods
	fits    map[named]bool // the interfaces that it has been compared with
}

// named is an interface that a declaration names.
type named struct {
	typ     types.Type
	generic bool // by a generic one
}

func (e *Engine) standIn(n *types.Named) dynamicType {
	o := types.NewTypeName(token.NoPos, types.NewPackage("main·types", "main"), n.Obj().Name(), nil)
	s := types.NewNamed(o, types.NewStruct(nil, nil), nil)
	e.loader.setStandIn(s, n)
	return dynamicType{n, s, map[named]bool{}}
}

// nameable: a type local to a generic function differs by instance and is no
// type of the session.
func (e *Engine) nameable(n *types.Named) bool {
	o := n.Origin().Obj()
	return o.Parent() == o.Pkg().Scope() || e.graph.nested[n.Origin()] != 0
}

// behindInterfaces lists the types whose methods the reached declarations may
// call through interfaces, as stand-ins where their methods are not reached.
func (e *Engine) behindInterfaces(reached []*decl) (ts []types.Type) {
	built := map[*decl]bool{}
	for _, d := range reached {
		built[d] = true
	}
	for _, t := range e.dynamic {
		switch {
		case built[e.graph.typeDecl(t.typ)] && t.typ.TypeArgs().Len() == 0:
			ts = append(ts, t.typ)
		case t.mayBeCalled(reached):
			ts = append(ts, t.standIn)
		}
	}
	return ts
}

// mayBeCalled says whether the declarations name an interface that the type has
// the methods of.
func (t dynamicType) mayBeCalled(reached []*decl) bool {
	for _, d := range reached {
		for _, i := range d.ifaces {
			n := named{i, d.generic}
			fits, known := t.fits[n]
			if !known {
				fits = t.mayFit(n)
				t.fits[n] = fits
			}
			if fits {
				return true
			}
		}
	}
	return false
}

// mayFit says whether the type has the methods of an interface, whatever the
// type parameters of that stand for.
func (t dynamicType) mayFit(n named) bool {
	i, p := n.typ.Underlying().(*types.Interface), types.NewPointer(t.typ)
	if !n.generic {
		return types.Implements(p, i)
	}
	for m := range i.Methods() {
		if o, _, _ := types.LookupFieldOrMethod(p, false, t.typ.Obj().Pkg(), m.Name()); o == nil {
			return false
		}
	}
	return true
}

// keeper is a package whose one function turns types into interfaces.
func (e *Engine) keeper(kept []types.Type) *unit {
	pkg := types.NewPackage("main", "main")
	var b strings.Builder
	b.WriteString("package main\nfunc __keep(f func(any)) {\n")
	for i, t := range kept {
		name := fmt.Sprintf("__T%d", i)
		pkg.Scope().Insert(types.NewTypeName(token.NoPos, pkg, name, t))
		fmt.Fprintf(&b, "f(*new(%s)); f(new(%s))\n", name, name)
	}
	b.WriteString("}\n")
	f, err := parser.ParseFile(e.ctx.FileSet, "", b.String(), parser.SkipObjectResolution)
	if err != nil {
		panic(err)
	}
	defer e.forget(f)
	info, errs := e.typeCheck(pkg, f)
	if len(errs) > 0 {
		panic(errs[0])
	}
	return &unit{pkg: pkg, info: info, files: []*ast.File{f}, path: "main·keep"}
}

// maxHomes is how many types keep the interpreter of their methods, of 80 KB
// each. One that is dropped is made again at the next call, in a millisecond.
const maxHomes = 64

// home is the interpreter that runs a type's methods for compiled code. It is
// made when the first of them is called, of nothing but what the type reaches.
func (e *Engine) home(recv types.Type) (*ixgo.Interp, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if in, ok := e.homes.At(recv).(*ixgo.Interp); ok {
		return in, nil
	}
	if e.homes.Len() >= maxHomes {
		e.renewHomes()
	}
	u := e.keeper([]types.Type{recv})
	u.vars = map[string]reflect.Value{}
	e.graph.add(u)
	defer delete(e.graph.units, u.pkg)
	p, err := e.compile(u)
	if err != nil {
		return nil, fmt.Errorf("cell: methods of %v: %w", recv, err)
	}
	e.homes.Set(recv, p.interp)
	return p.interp, nil
}

// renewHomes makes compiled code see the functions as they are now.
func (e *Engine) renewHomes() {
	e.homes = typeutil.Map{}
	e.types.renew()
}
