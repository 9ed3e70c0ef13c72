//go:build ignore

package ixgo

import (
	"go/types"
	"iter"
	"reflect"
	"strings"
)

// sequencesPath is the path of the source of package iter, which the compiled package lacks
// because its types are generic.
const sequencesPath = "iter@patch"

// sequence is the instance of iter.Seq or iter.Seq2 that a compiled type is, nil for
// another type.
func (r *TypesLoader) sequence(rt reflect.Type) types.Type {
	if rt.PkgPath() != "iter" || rt.Kind() != reflect.Func {
		return nil
	}
	source := r.ctx.pkgs[sequencesPath]
	if source == nil {
		return nil
	}
	installing := r.curpkg
	defer func() { r.curpkg = installing }()
	if err := source.Load(); err != nil {
		return nil
	}
	name, _, _ := strings.Cut(rt.Name(), "[")
	generic := source.Package.Scope().Lookup(name)
	if generic == nil {
		return nil
	}
	var args []types.Type
	for i := range rt.In(0).NumIn() {
		args = append(args, r.ToType(rt.In(0).In(i)))
	}
	t, err := types.Instantiate(nil, generic.Type(), args, false)
	if err != nil {
		return nil
	}
	r.rcache.Store(rt, t)
	r.tcache.Set(t, rt)
	return t
}

// compiledSequence is the compiled type of a sequence that packages strings and bytes
// return. Cells may use it before a cell imports one of these.
func compiledSequence(t types.Type) (reflect.Type, bool) {
	n, ok := t.(*types.Named)
	if !ok || n.TypeArgs().Len() != 1 || n.Obj().Name() != "Seq" || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != sequencesPath {
		return nil, false
	}
	switch arg := n.TypeArgs().At(0); {
	case types.Identical(arg, types.Typ[types.String]):
		return reflect.TypeFor[iter.Seq[string]](), true
	case types.Identical(arg, types.NewSlice(types.Typ[types.Byte])):
		return reflect.TypeFor[iter.Seq[[]byte]](), true
	}
	return nil, false
}
