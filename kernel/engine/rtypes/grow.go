//go:build edited

package rtypes

import (
	"go/types"
	"maps"
	"reflect"
	"slices"
	"sync"
	_ "unsafe" // for go:linkname

	"github.com/goplus/ixgo"
	"github.com/goplus/reflectx"
)

// Grow gives the methods that a named type has got to its values, and to those of types
// that embed it. Undo takes them away again. The calls for one cell share fresh.
func (r *Registry) Grow(t *types.Named, added []string, fresh Fresh) (undo func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	is := func(u types.Type) bool {
		n, ok := u.(*types.Named)
		return ok && n.Origin() == t && (n != t || t.TypeParams().Len() == 0)
	}
	grown, shrink, err := r.record.Grow(added, ixgo.Fresh(fresh), is, func(u types.Type) bool { return embeds(u, t, map[types.Type]bool{}) })
	if err != nil {
		shrink()
		return nil, err
	}
	for u, rt := range grown {
		r.promote(u, rt)
	}
	reflectx.ForgetFailures(slices.Collect(maps.Values(grown)))
	encoders.Clear()
	fields.Clear()
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		shrink()
	}, nil
}

// Each calls f for each type that a program has used.
func (r *Registry) Each(f func(types.Type)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.record.Each(func(t types.Type, _ reflect.Type) { f(t) })
}

// embeds reports whether a type embeds another one, at any depth.
func embeds(t types.Type, part *types.Named, seen map[types.Type]bool) bool {
	st, ok := t.Underlying().(*types.Struct)
	if !ok || seen[t] {
		return false
	}
	seen[t] = true
	for f := range st.Fields() {
		if !f.Embedded() {
			continue
		}
		ft := types.Unalias(f.Type())
		if p, ok := ft.(*types.Pointer); ok {
			ft = types.Unalias(p.Elem())
		}
		if n, ok := ft.(*types.Named); ok && n.Origin() == part || embeds(ft, part, seen) {
			return true
		}
	}
	return false
}

// Package json keeps an encoder for each type, which depends on the methods of the type.

//go:linkname encoders encoding/json.encoderCache
var encoders sync.Map

//go:linkname fields encoding/json.fieldCache
var fields sync.Map
