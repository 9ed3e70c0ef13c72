package namespace

import (
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"warpbook/kernel/engine/graph"
	"warpbook/kernel/engine/packages"
)

// Mark gives the package of a type a name of its own, for Named.
func (e *Namespace) Mark(t *types.TypeName) *graph.Unit {
	u := e.Graph.Units[t.Pkg()]
	if u == nil || u.Imported {
		return nil
	}
	u.Pkg.SetName(u.Path)
	return u
}

// Keeps reports whether a live variable has this name and type.
func (e *Namespace) Keeps(name string, t types.Type) bool {
	v, ok := e.Live[name].(*types.Var)
	return ok && types.Identical(v.Type(), t)
}

// ValueOf is the value of a live variable.
func (e *Namespace) ValueOf(v *types.Var) reflect.Value {
	if u := e.Graph.Units[v.Pkg()]; u != nil {
		if p, ok := u.Vars[v.Name()]; ok {
			return p.Elem()
		}
	}
	return reflect.Value{}
}

// Receiver is the live type of that name, or the target of an alias of that name, nil if
// there is none.
func (e *Namespace) Receiver(name string) *types.Named {
	o, ok := e.Live[name].(*types.TypeName)
	if !ok {
		return nil
	}
	t, ok := types.Unalias(o.Type()).(*types.Named)
	if !ok || e.Live[t.Obj().Name()] != t.Obj() {
		return nil
	}
	return t
}

// Undeclare drops the source of a name and of its methods.
func (e *Namespace) Undeclare(j *Journal, name string) {
	Delete(j, e.Decls, name)
	for n := range e.Decls {
		if strings.HasPrefix(n, name+".") {
			Delete(j, e.Decls, n)
		}
	}
}

// Stage marks where a stage of a cell begins.
func (e *Namespace) Stage(stage string) {
	if e.OnStage != nil {
		e.OnStage(stage)
	}
}

// Version is a function that code of some cell calls.
type Version struct {
	Decl *graph.Decl
	Fn   *types.Func
}

// Namespace is the state of a session: the meaning of each name, its origin, and the
// declarations that are interpreted.
type Namespace struct {
	// Mu is held while a cell is checked and compiled, and while a question about the
	// session is answered, but not while a cell runs. It guards all fields below.
	Mu        sync.Mutex
	Graph     *graph.Graph
	Live      map[string]types.Object   // meaning of each name for the next cell
	Decls     map[string]*Declaration   // sources of live functions, types, methods ("T.M") and constants
	Sources   map[int][]string          // lines by cell
	Versions  map[string][]Version      // functions that change in place, by name
	Broken    map[string]string         // names that lost their meaning, and why
	Lost      map[string]*Declaration   // their declarations, by first name: they come back when they compile again
	Hidden    map[string]*types.Package // packages whose names mean variables by now
	Declaring map[string]bool           // names that the cell declares, while it is checked
	Serial    int                       // of units

	MadeTypes func(yield func(types.Type)) // gives the types that programs have used, if set

	// OnStage, if set by a test, is called when a stage of a cell begins.
	OnStage func(stage string)
}

// New returns an empty session.
func New() *Namespace {
	return &Namespace{Live: map[string]types.Object{}, Decls: map[string]*Declaration{}, Sources: map[int][]string{},
		Versions: map[string][]Version{}, Broken: map[string]string{}, Lost: map[string]*Declaration{}, Hidden: map[string]*types.Package{}}
}

// Lookup is the part of a session that hints read, with mu held.
type Lookup struct {
	*Namespace
	packages.Importer
}

func (l Lookup) Lookup(name string) types.Object { return l.Namespace.Live[name] }
func (l Lookup) Names() []string                 { return slices.Collect(maps.Keys(l.Namespace.Live)) }
func (l Lookup) Gone(name string) string         { return l.Namespace.Broken[name] }
func (l Lookup) Packages() []string              { return l.Importer.Packages() }
func (l Lookup) Linked() []string                { return packages.Linked() }
