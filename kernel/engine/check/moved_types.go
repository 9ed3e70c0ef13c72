package check

import (
	"fmt"
	"go/types"
	"strings"
)

// move finds variables whose types are declared again with different methods only, or
// are made of such types: these variables are declared again, too.
func (e *Checker) move(c *Cell, h *hoist, changed map[string]bool) bool {
	n := len(c.Moved)
	for name, o := range e.Live {
		v, ok := o.(*types.Var)
		if !ok || h.types[name] != nil || c.Moved[name] != "" {
			continue
		}
		if text, now, ok := e.follow(h, v.Type(), map[types.Type]bool{}); ok && !types.Identical(v.Type(), now) {
			c.Moved[name] = text
			changed[name] = true
		}
	}
	return len(c.Moved) > n
}

// follow spells a variable's type for the cell, if possible, and returns its meaning
// there; types that it is made of may be declared again. Outer are the types around it.
func (e *Checker) follow(h *hoist, t types.Type, outer map[types.Type]bool) (text string, now types.Type, ok bool) {
	part := func(elem types.Type) (string, types.Type) {
		outer[t] = true
		text, now, ok = e.follow(h, elem, outer)
		return text, now
	}
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		shadowed := e.Live[t.Name()] != nil || h.Pkg.Scope().Lookup(t.Name()) != nil
		return t.Name(), t, !shadowed && t.Kind() != types.UnsafePointer
	case *types.Named:
		return e.followNamed(h, t, outer)
	case *types.Pointer:
		text, now = part(t.Elem())
		return "*" + text, types.NewPointer(now), ok
	case *types.Slice:
		text, now = part(t.Elem())
		return "[]" + text, types.NewSlice(now), ok
	case *types.Array:
		text, now = part(t.Elem())
		return fmt.Sprintf("[%d]%s", t.Len(), text), types.NewArray(now, t.Len()), ok
	case *types.Map:
		key, same, spelled := e.follow(h, t.Key(), map[types.Type]bool{})
		if !spelled || !types.Identical(t.Key(), same) {
			return "", t, false
		}
		text, now = part(t.Elem())
		return "map[" + key + "]" + text, types.NewMap(t.Key(), now), ok
	}
	return "", t, false
}

func (e *Checker) followNamed(h *hoist, t *types.Named, outer map[types.Type]bool) (text string, now types.Type, ok bool) {
	text, now = t.Obj().Name(), t.Origin()
	if e.Live[text] != t.Origin().Obj() {
		return "", t, false
	}
	if o, ok := h.Pkg.Scope().Lookup(text).(*types.TypeName); ok && o.Pkg() == h.Pkg {
		now = o.Type()
	}
	if n, ok := types.Unalias(now).(*types.Named); !ok || n.TypeParams().Len() != t.TypeArgs().Len() {
		return "", t, false
	}
	var texts []string
	var args []types.Type
	for a := range t.TypeArgs().Types() {
		text, now, ok := e.follow(h, a, map[types.Type]bool{})
		if !ok {
			return "", t, false
		}
		texts, args = append(texts, text), append(args, now)
	}
	if len(args) > 0 {
		inst, err := types.Instantiate(nil, now, args, true)
		if err != nil {
			return "", t, false
		}
		text, now = text+"["+strings.Join(texts, ", ")+"]", inst
	}
	return text, now, h.alike(t, now, outer)
}

// mostParts bounds the number of types that alike compares: parts of an instance may be
// made on demand, without end.
const mostParts = 500

// alike reports whether a type that the cell declares again has the layout and the
// meaning of the old one: it differs at most in methods and in the names of other such
// types.
func (h *hoist) alike(old, now types.Type, seen map[types.Type]bool) bool {
	if types.Identical(old, now) || seen[old] {
		return true
	}
	if seen[old] = true; len(seen) > mostParts {
		return false
	}
	sub := func(old, now types.Type) bool { return h.alike(old, now, seen) }
	switch old := types.Unalias(old).(type) {
	case *types.Named:
		n, ok := types.Unalias(now).(*types.Named)
		if !ok || n.Obj().Name() != old.Obj().Name() || n.Obj().Pkg() != h.Pkg && n.Origin() != old.Origin() || n.TypeArgs().Len() != old.TypeArgs().Len() {
			return false
		}
		for i := range n.TypeArgs().Len() {
			if !sub(old.TypeArgs().At(i), n.TypeArgs().At(i)) {
				return false
			}
		}
		if types.IsInterface(old) {
			return len(seen) == 1 && types.Identical(old.Underlying(), n.Underlying())
		}
		return sub(old.Underlying(), n.Underlying())
	case *types.Pointer:
		p, ok := now.(*types.Pointer)
		return ok && sub(old.Elem(), p.Elem())
	case *types.Slice:
		s, ok := now.(*types.Slice)
		return ok && sub(old.Elem(), s.Elem())
	case *types.Array:
		a, ok := now.(*types.Array)
		return ok && a.Len() == old.Len() && sub(old.Elem(), a.Elem())
	case *types.Map:
		m, ok := now.(*types.Map)
		return ok && types.Identical(old.Key(), m.Key()) && sub(old.Elem(), m.Elem())
	case *types.Chan:
		c, ok := now.(*types.Chan)
		return ok && c.Dir() == old.Dir() && sub(old.Elem(), c.Elem())
	case *types.Struct:
		s, ok := now.(*types.Struct)
		if !ok || s.NumFields() != old.NumFields() {
			return false
		}
		for i := range s.NumFields() {
			f, g := old.Field(i), s.Field(i)
			if f.Name() != g.Name() || f.Embedded() != g.Embedded() || !sub(f.Type(), g.Type()) {
				return false
			}
		}
		return true
	}
	return false
}
