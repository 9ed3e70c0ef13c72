//go:build edited

package engine

import (
	"go/types"
	"math/rand/v2"
	"testing"

	"warpbook/kernel/engine/packages"
	"warpbook/kernel/engine/symbols"
)

// TestOnePackageOfAPath imports all packages in a random order: the types of one package
// in another are those of its own import.
func TestOnePackageOfAPath(t *testing.T) {
	symbols.Register()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	paths := packages.Linked()
	r.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	w := typeWalker{packages: map[string]*types.Package{}, seen: map[types.Type]bool{}}
	var imported []*types.Package
	for _, path := range paths {
		p, err := e.Importer.Import(path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		w.packages[path] = p
		imported = append(imported, p)
	}
	for _, p := range imported {
		for _, name := range p.Scope().Names() {
			w.from, w.t = p.Path()+"."+name, t
			w.walk(p.Scope().Lookup(name).Type())
		}
	}
	if len(w.seen) < 10000 {
		t.Errorf("%d types, expected those of the standard library", len(w.seen))
	}
}

// typeWalker visits the types that a declaration names.
type typeWalker struct {
	t        *testing.T
	packages map[string]*types.Package
	seen     map[types.Type]bool
	from     string // the declaration
}

func (w *typeWalker) walk(t types.Type) {
	if w.seen[t] {
		return
	}
	w.seen[t] = true
	switch t := t.(type) {
	case *types.Named:
		if p := t.Obj().Pkg(); p != nil && w.packages[p.Path()] != nil && w.packages[p.Path()] != p {
			w.t.Errorf("%s: %v is of another package %s than importing that gives", w.from, t, p.Path())
		}
		for m := range t.Methods() {
			w.walk(m.Type())
		}
		w.walk(t.Underlying())
	case *types.Interface:
		for m := range t.Methods() {
			w.walk(m.Type())
		}
	case *types.Struct:
		for f := range t.Fields() {
			w.walk(f.Type())
		}
	case *types.Signature:
		for v := range t.Params().Variables() {
			w.walk(v.Type())
		}
		for v := range t.Results().Variables() {
			w.walk(v.Type())
		}
	case *types.Map:
		w.walk(t.Key())
		w.walk(t.Elem())
	case interface{ Elem() types.Type }:
		w.walk(t.Elem())
	}
}
