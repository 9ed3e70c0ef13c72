//go:build ignore

package ixgo

import (
	"fmt"
	"go/types"
	"reflect"
	"slices"

	"github.com/goplus/reflectx"
	"golang.org/x/tools/go/types/typeutil"
)

// growth is what Grow has done so far.
type growth struct {
	typ   reflect.Type // that grows; the signatures of its methods may need types that are made meanwhile
	undo  []func()
	err   error
	fresh Fresh
}

// Fresh are the methods that types have got from one cell, which hide none that code may
// call already.
type Fresh map[reflect.Type]map[string]bool

// Each calls f for each type that is made.
func (r *TypesRecord) Each(f func(t types.Type, rt reflect.Type)) {
	for _, made := range []*typeutil.Map{r.tcache, r.ncache} {
		made.Iterate(func(t types.Type, rt any) { f(t, rt.(reflect.Type)) })
	}
}

// Grow gives types that are made the methods that were added to one of them: to the type
// itself or its instances, and then to those that embed one. It returns the types. The
// calls for one cell share fresh, so that their order does not matter.
func (r *TypesRecord) Grow(added []string, fresh Fresh, is, embeds func(types.Type) bool) (grown map[types.Type]reflect.Type, undo func(), err error) {
	g := &growth{fresh: fresh}
	r.prog.MethodSets, r.growing = typeutil.MethodSetCache{}, g
	defer func() { r.growing = nil }()
	grown = map[types.Type]reflect.Type{}
	for _, grows := range []func(types.Type) bool{is, embeds} {
		some := map[types.Type]reflect.Type{}
		r.Each(func(t types.Type, rt reflect.Type) {
			if grown[t] == nil && grows(t) {
				some[t] = rt
			}
		})
		for t, rt := range some {
			grown[t] = rt
			r.grow(t, rt, added)
		}
	}
	return grown, func() {
		r.prog.MethodSets = typeutil.MethodSetCache{}
		for _, f := range g.undo {
			f()
		}
	}, g.err
}

// grow gives a type its methods. It fails if the added methods hide others of the type,
// which code may call already.
func (r *TypesRecord) grow(t types.Type, rt reflect.Type, added []string) {
	methods, n, _ := r.extractMethodSet(t)
	now := map[string]bool{}
	for _, m := range methods {
		now[m.Obj().Name()] = true
	}
	fresh := r.growing.fresh[rt]
	for i, p := 0, reflectx.PtrTo(rt); i < reflectx.NumMethodX(p); i++ {
		has := reflectx.MethodX(p, i).Name
		if !now[has] || slices.Contains(added, has) && !fresh[has] {
			r.growing.err = fmt.Errorf("ixgo: method %s of %v is hidden by an added one", has, rt)
		}
	}
	if n == 0 || r.growing.err != nil {
		return
	}
	for i, p := 0, reflectx.PtrTo(rt); i < reflectx.NumMethodX(p); i++ {
		if has := reflectx.MethodX(p, i).Name; !fresh[has] {
			delete(now, has)
		}
	}
	r.growing.fresh[rt], r.growing.typ = now, rt // those that it gets now, and before from this cell
	r.setMethods(rt, methods)
}

// putMethods sets the methods of a type that is being made, or adds those that a made
// one lacks. A panic leaves the lock free: the next cell needs it.
func (r *TypesRecord) putMethods(typ reflect.Type, methods []reflectx.Method) error {
	rctxMethodMu.Lock()
	defer rctxMethodMu.Unlock()
	g := r.growing
	if g == nil || g.typ != typ {
		if g != nil { // it has the methods that the cell adds from the start
			g.fresh[typ] = map[string]bool{}
			for _, m := range methods {
				g.fresh[typ][m.Name] = true
			}
		}
		return r.rctx.SetRawMethods(typ, methods)
	}
	undo, err := r.rctx.Grow(typ, methods)
	if err != nil {
		g.err = err
		return nil
	}
	g.undo = append(g.undo, undo)
	return nil
}
