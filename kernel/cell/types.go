package cell

import (
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/goplus/ixgo"
	"github.com/goplus/reflectx"
	"github.com/goplus/reflectx/abi"
	"golang.org/x/tools/go/ssa"

	"warpbook/kernel/frame"
)

// registry gives each type of a cell one reflect type for the whole session,
// whichever interpreter asks.
type registry struct {
	mu     sync.Mutex // guards record, made, context, renamed and the stock loader's caches
	record *ixgo.TypesRecord
	made   map[*types.TypeName][]reflect.Type // types of cells that interpreters have asked for
	shared *reflectx.Context                  // caches of unnamed interfaces and structs
	guard  func(mtyp reflect.Type, fn *types.Func, f func() []reflect.Value) []reflect.Value

	home       func(recv types.Type) (*ixgo.Interp, error) // the interpreter for a type's methods
	generation atomic.Int64                                // of the answers of home

	keeping sync.Mutex                // guards kept
	kept    []*atomic.Pointer[method] // that hold an answer of home
}

func newRegistry(ctx *ixgo.Context, nested map[*types.Named]int) *registry {
	r := &registry{shared: reflectx.NewContext(), made: map[*types.TypeName][]reflect.Type{}}
	r.record = ixgo.NewTypesRecord(ctx, r.shared, ssa.NewProgram(ctx.FileSet, 0), &renamed{Loader: ctx.Loader, types: r, first: map[string]*types.Named{}}, r, nested)
	return r
}

// loader answers the interpreter's questions about types from the registry,
// and about the variables of other cells.
type loader struct {
	ixgo.Loader // of compiled packages
	types       *registry
	nested      map[*types.Named]int
	cells       map[string]*ixgo.Package         // path to variables, while an interpreter is made
	depth       int                              // of imports; guarded by Engine.mu
	standIns    map[*types.TypeName]*types.Named // guarded by types.mu
}

func (l *loader) Installed(path string) (*ixgo.Package, bool) {
	if p, ok := l.cells[path]; ok {
		return p, true
	}
	return l.Loader.Installed(path)
}

// Import may import further packages through the type checker, so only the
// outermost call takes the lock.
func (l *loader) Import(path string) (*types.Package, error) {
	if l.depth == 0 {
		l.types.mu.Lock()
		defer l.types.mu.Unlock()
	}
	l.depth++
	defer func() { l.depth-- }()
	return l.Loader.Import(path)
}

func (l *loader) LookupReflect(t types.Type) (reflect.Type, bool) {
	l.types.mu.Lock()
	defer l.types.mu.Unlock()
	if rt, ok := l.Loader.LookupReflect(t); ok {
		return rt, ok
	}
	n, ok := t.(*types.Named)
	if ok && n.Obj() == types.Universe.Lookup("error") { // ixgo does not know it in a generic function
		return reflect.TypeFor[error](), true
	}
	if !ok || n.Obj().Pkg() == nil {
		return nil, false
	}
	if real := l.standIns[n.Obj()]; real != nil {
		rt, _ := l.types.record.ToType(real)
		return rt, true
	}
	if o := n.Origin().Obj(); o.Parent() != o.Pkg().Scope() && l.nested[n.Origin()] == 0 {
		return nil, false // local to a generic function: one type an instance
	}
	rt, _ := l.types.record.ToType(n)
	if o := n.Origin().Obj(); !slices.Contains(l.types.made[o], rt) {
		l.types.made[o] = append(l.types.made[o], rt)
		l.types.promote(n, rt)
	}
	return rt, true
}

// retire has values of a type say that it is an old one: main.T·3 if cell 3
// declared it. Types that were made of it, such as []T, keep their text.
func (r *registry) retire(o *types.TypeName, cell int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rt := range r.made[o] {
		arguments := strings.TrimPrefix(rt.Name(), o.Name())
		reflectx.SetTypeName(rt, rt.PkgPath(), o.Name()+"·"+frame.CellMark(cell)+arguments)
	}
}

// renamed answers the registry's own record. reflectx takes interfaces for the
// same whose text is: that of a type which was declared again, or that names
// one, is made where the others are not known.
type renamed struct {
	ixgo.Loader
	types *registry
	first map[string]*types.Named // interfaces by text
	made  *types.Named            // an interface that is being made
}

func (l *renamed) LookupReflect(t types.Type) (reflect.Type, bool) {
	if rt, ok := l.Loader.LookupReflect(t); ok {
		return rt, true
	}
	n, ok := t.(*types.Named)
	if !ok || n == l.made {
		return nil, false
	}
	i, ok := n.Underlying().(*types.Interface)
	if !ok || i.NumMethods() == 0 || n.Obj().Pkg() == nil {
		return nil, false
	}
	text := types.TypeString(i, func(p *types.Package) string { return p.Path() })
	if l.first[text] == nil {
		l.first[text] = n
	}
	if l.first[text] == n {
		return nil, false
	}
	outer, known := l.made, *l.types.shared
	l.made, *l.types.shared = n, *reflectx.NewContext()
	defer func() { l.made, *l.types.shared = outer, known }()
	rt, _ := l.types.record.ToType(n)
	return rt, true
}

// reflectType is the type that values of t have.
func (r *registry) reflectType(t types.Type) reflect.Type {
	r.mu.Lock()
	defer r.mu.Unlock()
	rt, _ := r.record.ToType(t)
	return rt
}

func (l *loader) setStandIn(s, n *types.Named) {
	l.types.mu.Lock()
	defer l.types.mu.Unlock()
	l.standIns[s.Obj()] = n
}

func (l *loader) LookupTypes(rt reflect.Type) (types.Type, bool) {
	l.types.mu.Lock()
	defer l.types.mu.Unlock()
	if t, ok := l.Loader.LookupTypes(rt); ok {
		return t, ok
	}
	return l.types.record.LookupLocalTypes(rt)
}

// withVars is a unit as a package with variables.
func (l *loader) withVars(u *unit) *ixgo.Package {
	compiled, ok := l.Loader.Installed(u.path)
	if !ok {
		return &ixgo.Package{Path: u.path, Vars: u.vars}
	}
	p := *compiled
	p.Vars = maps.Clone(u.vars)
	maps.Copy(p.Vars, compiled.Vars)
	return &p
}

// newInterp makes an interpreter that shares the registry's caches, so that
// an unnamed interface or struct is the same type in all of them.
//
// ixgo resets the default reflectx context and all method slots before it
// makes an interpreter. It finds stand-ins there, which are exchanged in the
// hook that it calls next.
func (r *registry) newInterp(ctx *ixgo.Context, main *ssa.Package, cells map[string]*ixgo.Package) (*ixgo.Interp, error) {
	slots, fresh := abi.Default, reflectx.NewContext()
	restore := func() { abi.Default = slots }
	defer restore()
	r.mu.Lock()
	locked := true
	defer func() {
		if locked {
			r.mu.Unlock()
		}
	}()
	abi.Default, reflectx.Default = &abi.MethodProviderList{}, fresh
	ctx.MethodChecker = func(*ixgo.Context, *ssa.Program) func(reflect.Type, reflectx.Method) bool {
		restore()
		*fresh = *r.shared
		r.mu.Unlock()
		locked = false
		return func(reflect.Type, reflectx.Method) bool { return true }
	}
	l := ctx.Loader.(*loader)
	l.cells = cells
	defer func() { l.cells = nil }()
	return ixgo.NewInterp(ctx, main)
}

// method is an interpreted method, as compiled code calls it.
type method struct {
	generation int64
	call       func([]reflect.Value) []reflect.Value
}

// FindMethod is how compiled code reaches the methods of a type.
func (r *registry) FindMethod(mtyp reflect.Type, fn *types.Func) func([]reflect.Value) []reflect.Value {
	recv := fn.Signature().Recv().Type()
	if p, ok := recv.(*types.Pointer); ok {
		recv = p.Elem()
	}
	var found atomic.Pointer[method]
	return func(args []reflect.Value) []reflect.Value {
		m, now := found.Load(), r.generation.Load()
		if m == nil || m.generation != now {
			in, err := r.home(recv)
			if err != nil {
				panic(err)
			}
			m = &method{now, in.FindMethod(mtyp, fn)}
			r.keep(&found, m)
		}
		return r.guard(mtyp, fn, func() []reflect.Value { return m.call(args) })
	}
}

// keep stores a method until the next generation.
func (r *registry) keep(at *atomic.Pointer[method], m *method) {
	r.keeping.Lock()
	defer r.keeping.Unlock()
	at.Store(m)
	r.kept = append(r.kept, at)
}

// renew makes methods ask home again, and lets go of what it answered.
func (r *registry) renew() {
	r.keeping.Lock()
	defer r.keeping.Unlock()
	r.generation.Add(1)
	for _, at := range r.kept {
		at.Store(nil)
	}
	r.kept = nil
}

// minSlots is how many methods must still find room before a cell is refused:
// when they run out the engine library ends the process.
const minSlots = 512

// full says whether compiled code can be given no more methods.
func full() bool {
	_, _, free := ixgo.IcallStat()
	return free < minSlots
}
