package rtypes

import (
	"fmt"
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
	"golang.org/x/tools/go/types/typeutil"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/engine/graph"
)

// Registry gives each type of a cell one reflect type for the whole session, for all
// interpreters.
type Registry struct {
	mu     sync.Mutex // guards record, made, structs, context, renamed and the stock loader's caches
	record *ixgo.TypesRecord
	made   map[*types.TypeName][]reflect.Type // types of cells, once an interpreter has asked for them
	shared *reflectx.Context                  // caches of unnamed interfaces and structs

	structs   typeutil.Map                  // unnamed structs with methods, to reflect.Type
	instances map[string]madeType           // by instanceKey
	local     map[*types.Named]reflect.Type // types that generic functions declare, of the program that is being compiled

	Home       func(recv types.Type) (*ixgo.Interp, error) // the interpreter for a type's methods
	generation atomic.Int64                                // of the answers of Home
	Replaced   map[string]map[reflect.Type]reflect.Value   // functions in the place of compiled methods, by name and receiver

	keeping sync.Mutex                // guards kept
	kept    []*atomic.Pointer[method] // those that hold an answer of Home
}

func New(ctx *ixgo.Context, nested map[*types.Named]int) *Registry {
	r := &Registry{shared: reflectx.NewContext(), made: map[*types.TypeName][]reflect.Type{}, instances: map[string]madeType{}, local: map[*types.Named]reflect.Type{}}
	r.record = ixgo.NewTypesRecord(ctx, r.shared, ssa.NewProgram(ctx.FileSet, 0), &renamed{Loader: ctx.Loader, types: r, first: map[string]*types.Named{}}, r, nested)
	return r
}

// Loader answers the interpreter's questions about types from the registry,
// and about the variables of other cells.
type Loader struct {
	ixgo.Loader // of compiled packages
	Types       *Registry
	Nested      map[*types.Named]int
	cells       map[string]*ixgo.Package // path to variables, while an interpreter is made
	depth       int                      // of imports; guarded by Engine.mu
}

func (l *Loader) Installed(path string) (*ixgo.Package, bool) {
	if p, ok := l.cells[path]; ok {
		return p, true
	}
	return l.Loader.Installed(path)
}

// Import may import further packages through the type checker, so only the
// outermost call takes the lock.
func (l *Loader) Import(path string) (*types.Package, error) {
	if l.depth == 0 {
		l.Types.mu.Lock()
		defer l.Types.mu.Unlock()
	}
	l.depth++
	defer func() { l.depth-- }()
	return l.Loader.Import(path)
}

func (l *Loader) LookupReflect(t types.Type) (reflect.Type, bool) {
	l.Types.mu.Lock()
	defer l.Types.mu.Unlock()
	if rt, ok := l.Loader.LookupReflect(t); ok {
		return rt, ok
	}
	if s, ok := t.(*types.Struct); ok {
		return l.ofStruct(s)
	}
	n, ok := t.(*types.Named)
	if ok && n.Obj() == types.Universe.Lookup("error") { // ixgo does not find it in a generic function
		return reflect.TypeFor[error](), true
	}
	if !ok || n.Obj().Pkg() == nil {
		return nil, false
	}
	if l.local(n) {
		return nil, false
	}
	rt := l.Types.ofNamed(n)
	if o := n.Origin().Obj(); !slices.Contains(l.Types.made[o], rt) {
		l.Types.made[o] = append(l.Types.made[o], rt)
		l.Types.promote(n, rt)
	}
	return rt, true
}

// madeType is a type that was made with type arguments.
type madeType struct {
	rt   reflect.Type
	args []reflect.Type // kept, because the key holds their addresses
}

// instanceKey names a declaration with type arguments. The position is unique in a
// session; compiled packages have none.
func instanceKey(o *types.TypeName, args []reflect.Type) string {
	key := fmt.Sprintf("%s %s %d", o.Pkg().Path(), o.Name(), o.Pos())
	for _, a := range args {
		key += fmt.Sprintf(" %p", a)
	}
	return key
}

// ofNamed is the reflect type of n. An instance of a generic type whose argument is
// declared in a generic function is another types.Named in each program.
func (r *Registry) ofNamed(n *types.Named) reflect.Type {
	var args []reflect.Type
	for arg := range n.TypeArgs().Types() {
		rt, _ := r.record.ToType(arg)
		args = append(args, rt)
	}
	if len(args) == 0 {
		rt, _ := r.record.ToType(n)
		return rt
	}
	key := instanceKey(n.Origin().Obj(), args)
	if i, ok := r.instances[key]; ok {
		return i.rt
	}
	rt, _ := r.record.ToType(n)
	r.instances[key] = madeType{rt, args}
	return rt
}

// LocalType is the reflect type of a type that a generic function declares, if there is
// one; args are the type arguments of the function.
func (l *Loader) LocalType(t *types.Named, args []reflect.Type) (reflect.Type, bool) {
	l.Types.mu.Lock()
	defer l.Types.mu.Unlock()
	i, ok := l.Types.instances[instanceKey(t.Obj(), args)]
	if ok {
		l.Types.local[t] = i.rt
	}
	return i.rt, ok
}

// KeepLocalType keeps a type that the engine library has made for a generic function.
func (l *Loader) KeepLocalType(t *types.Named, args []reflect.Type, rt reflect.Type) {
	l.Types.mu.Lock()
	defer l.Types.mu.Unlock()
	l.Types.instances[instanceKey(t.Obj(), args)] = madeType{rt, args}
	l.Types.local[t] = rt
}

// Promote sets the methods of a struct of a generic function again if one of them is wrong.
func (l *Loader) Promote(t types.Type, rt reflect.Type) {
	l.Types.mu.Lock()
	defer l.Types.mu.Unlock()
	l.Types.promote(t, rt)
}

// Retire makes the values of a type show that it is an old one: main.T·3 if cell 3
// declared it. Types made of it, such as []T, keep their text.
func (r *Registry) Retire(o *types.TypeName, cell int) (undo func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := map[reflect.Type]string{}
	for _, rt := range r.made[o] {
		before[rt] = rt.Name()
		arguments := strings.TrimPrefix(rt.Name(), o.Name())
		reflectx.SetTypeName(rt, rt.PkgPath(), o.Name()+"·"+cellproto.CellMark(cell)+arguments)
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for rt, name := range before {
			reflectx.SetTypeName(rt, rt.PkgPath(), name)
		}
	}
}

// renamed answers from the registry's own record. reflectx identifies interfaces by
// their text: an interface that was declared again, or that names one, is made where the
// others are not known.
type renamed struct {
	ixgo.Loader
	types *Registry
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
	if rt, ok := l.types.local[n]; ok {
		return rt, true
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

// ReflectType is the reflect type of t's values.
func (r *Registry) ReflectType(t types.Type) reflect.Type {
	r.mu.Lock()
	defer r.mu.Unlock()
	rt, _ := r.record.ToType(t)
	return rt
}

func (l *Loader) LookupTypes(rt reflect.Type) (types.Type, bool) {
	l.Types.mu.Lock()
	defer l.Types.mu.Unlock()
	if t, ok := l.Loader.LookupTypes(rt); ok {
		return t, ok
	}
	return l.Types.record.LookupLocalTypes(rt)
}

// WithVars is a unit as a package with variables.
func (l *Loader) WithVars(u *graph.Unit) *ixgo.Package {
	compiled, ok := l.Loader.Installed(u.Path)
	if !ok {
		return &ixgo.Package{Path: u.Path, Vars: u.Vars}
	}
	p := *compiled
	p.Vars = maps.Clone(u.Vars)
	maps.Copy(p.Vars, compiled.Vars)
	return &p
}

// NewInterp makes an interpreter that shares the registry's caches, so that
// an unnamed interface or struct is the same type in all of them.
//
// ixgo resets the default reflectx context and all method slots before it makes an
// interpreter. It gets stand-ins there, which are exchanged in the hook that it calls
// next.
func (r *Registry) NewInterp(ctx *ixgo.Context, main *ssa.Package, cells map[string]*ixgo.Package) (*ixgo.Interp, error) {
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
	l := ctx.Loader.(*Loader)
	l.cells = cells
	defer func() {
		l.cells = nil
		if !locked {
			r.mu.Lock()
			locked = true
		}
		clear(r.local)
	}()
	return ixgo.NewInterp(ctx, main)
}

// method is an interpreted method, as compiled code calls it.
type method struct {
	generation int64
	call       func([]reflect.Value) []reflect.Value
}

// FindMethod finds a method of a type for compiled code.
func (r *Registry) FindMethod(mtyp reflect.Type, fn *types.Func) func([]reflect.Value) []reflect.Value {
	recv := fn.Signature().Recv().Type()
	if p, ok := recv.(*types.Pointer); ok {
		recv = p.Elem()
	}
	var found atomic.Pointer[method]
	return func(args []reflect.Value) []reflect.Value {
		m, now := found.Load(), r.generation.Load()
		if m == nil || m.generation != now {
			in, err := r.Home(recv)
			if err != nil {
				panic(err)
			}
			m = &method{now, in.FindMethod(mtyp, fn)}
			r.keep(&found, m)
		}
		return m.call(args)
	}
}

// keep stores a method until the next generation.
func (r *Registry) keep(at *atomic.Pointer[method], m *method) {
	r.keeping.Lock()
	defer r.keeping.Unlock()
	at.Store(m)
	r.kept = append(r.kept, at)
}

// Renew makes methods ask Home again, and drops its earlier answers.
func (r *Registry) Renew() {
	r.keeping.Lock()
	defer r.keeping.Unlock()
	r.generation.Add(1)
	for _, at := range r.kept {
		at.Store(nil)
	}
	r.kept = nil
}

// minSlots is the number of method slots below which a cell is rejected: when they run
// out, the engine library ends the process.
const minSlots = 512

// Full reports whether the method slots for compiled code are used up.
func Full() bool {
	_, _, free := ixgo.IcallStat()
	return free < minSlots
}
