package bytecode

import (
	"go/token"
	"go/types"
	"reflect"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// A map is a pointer in a register. The machine reads and writes its elements as
// compiled Go does, with the functions of the runtime, whatever the types of key and
// element. The engine does so by reflection, which allocates a copy of each element.

// mapType is what the machine needs to access the maps of a type, nil if the engine has
// to: keys that contain interfaces may panic.
func (l *lowering) mapType(t types.Type) *mapType {
	m, ok := t.Underlying().(*types.Map)
	rt := l.types[t]
	if !ok || rt == nil || rt.Kind() != reflect.Map || rt.Key().Kind() != reflect.Interface && !plainKey(rt.Key()) || rt.Elem().Size() > maxElem {
		return nil
	}
	out := &mapType{typ: typeWord(rt), rt: rt, key: l.part(m.Key(), rt.Key()), elem: l.part(m.Elem(), rt.Elem())}
	switch k := rt.Key().Kind(); {
	case k == reflect.String:
		out.fast = fastText
	case out.key.class == number && !isFloat(k) && rt.Key().Size() == 8:
		out.fast = fast64
	case out.key.class == number && !isFloat(k) && rt.Key().Size() == 4:
		out.fast = fast32
	}
	return out
}

// plainKey reports whether keys of a type always can be compared, and lie in memory of
// their own where they are in an interface.
func plainKey(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface, reflect.Chan, reflect.UnsafePointer, reflect.Func:
		return false
	case reflect.Array:
		return inMemory(t) && plainKey(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !plainKey(t.Field(i).Type) {
				return false
			}
		}
		return inMemory(t)
	}
	return true
}

// part describes the keys or the elements of a map.
func (l *lowering) part(t types.Type, rt reflect.Type) part {
	p := part{class: classOf(t), kind: rt.Kind(), typ: typeWord(rt), rt: rt}
	p.methods = p.class == dynamic && rt.NumMethod() > 0
	if p.class == boxed {
		p.zero = reflect.Zero(rt).Interface()
	}
	return p
}

// operand is the place of a key or an element that an instruction reads.
func (l *lowering) operand(v ssa.Value) (reg, at int, ok bool) {
	if classOf(v.Type()) != boxed {
		return l.reg(v), 0, true
	}
	at, ok = l.pfn.at(v)
	return -1, at, ok
}

// access begins an access of a map; ok is false if the engine has to make it.
func (l *lowering) access(m, key ssa.Value) (a mapAccess, uses []int, ok bool) {
	a = mapAccess{mapType: l.mapType(m.Type()), ok: -1, elem: -1}
	if a.mapType == nil || classOf(key.Type()) != a.mapType.key.class {
		return a, nil, false
	}
	a.m = l.reg(m)
	if x, ok := key.(*ssa.MakeInterface); ok && l.keys[x] {
		s := l.slot(x.X)
		s.at, a.key, a.bare = 0, s.reg, &s
	} else if a.key, a.keyAt, ok = l.operand(key); !ok {
		return a, nil, false
	}
	uses = []int{a.m}
	if a.key >= 0 {
		uses = append(uses, a.key)
	}
	return a, uses, true
}

// emitAccess emits an access of a map. An assignment fails if the map is nil, each access
// if the key is an interface that holds a value without a hash.
func (l *lowering) emitAccess(o op, a mapAccess, key ssa.Value, uses, defs []int, in ssa.Instruction) {
	if a.mapType.key.class == dynamic && !exact(key) {
		l.checked(ins{op: opHashable, b: a.key}, in)
	}
	l.accesses = append(l.accesses, a)
	l.checked(ins{op: o, imm: int64(len(l.accesses) - 1), uses: uses, defs: defs}, in)
}

// exact reports whether a key is known to have a hash, and to be equal to keys that have the
// same bits only, or the same text.
func exact(key ssa.Value) bool {
	if x, ok := key.(*ssa.MakeInterface); ok {
		key = x.X
	}
	switch k := kindOf(key.Type()); k {
	case reflect.String, reflect.Pointer:
		return true
	default:
		return isNumber(k) && !isFloat(k)
	}
}

// planKey plans an interface that is only a key of maps: it is made where a map gets it.
func (l *lowering) planKey(in *ssa.MakeInterface) {
	k := classOf(in.X.Type())
	_, made := l.pfn.at(in)
	if _, known := l.pfn.at(in.X); !made || !known || isStatic(in.X) || l.types[in.X.Type()] == nil || !exact(in) || k != number && k != header {
		return
	}
	for _, r := range *in.Referrers() {
		switch r := r.(type) {
		case *ssa.DebugRef:
			continue
		case *ssa.Lookup:
			if r.X != in && l.mapType(r.X.Type()) != nil {
				continue
			}
		case *ssa.MapUpdate:
			if r.Value != in && l.mapType(r.Map.Type()) != nil {
				continue
			}
		}
		return
	}
	l.keys[in], l.skip[in] = true, true
}

// updates is the assignment m[k] = x that follows the lookup of the same element, with
// nothing between that could change a map; nil if there is none.
func updates(in *ssa.Lookup) *ssa.MapUpdate {
	if b := in.Block().Instrs; !in.CommaOk && exact(in.Index) {
		for _, x := range b[slices.Index(b, ssa.Instruction(in))+1:] {
			switch x := x.(type) {
			case *ssa.BinOp, *ssa.Convert, *ssa.ChangeType, *ssa.DebugRef:
			case *ssa.UnOp:
				if x.Op == token.ARROW {
					return nil
				}
			case *ssa.MapUpdate:
				if x.Map == in.X && x.Key == in.Index {
					return x
				}
				return nil
			default:
				return nil
			}
		}
	}
	return nil
}

func (l *lowering) mapUpdate(in *ssa.MapUpdate) {
	a, uses, ok := l.access(in.Map, in.Key)
	if !ok || classOf(in.Value.Type()) != a.mapType.elem.class {
		l.byEngine(in)
		return
	}
	if a.elem, a.elemAt, ok = l.operand(in.Value); !ok {
		l.byEngine(in)
		return
	}
	if a.elem >= 0 {
		uses = append(uses, a.elem)
	}
	a.again = l.updated[in]
	l.emitAccess(opMapSet, a, in.Key, uses, nil, in)
}

// planLookup plans the two results of v, ok := m[k].
func (l *lowering) planLookup(in *ssa.Lookup) {
	if in.CommaOk {
		if m, ok := in.X.Type().Underlying().(*types.Map); ok && l.mapType(in.X.Type()) != nil {
			l.planParts(in, m.Elem(), types.Typ[types.Bool])
		}
	}
}

// planParts assigns places to the results of an instruction, if each is extracted at most
// once and nothing else uses them. Boxed ones lie in the frame.
func (l *lowering) planParts(in ssa.Value, results ...types.Type) bool {
	list := make([]result, len(results))
	for i, t := range results {
		list[i] = result{reg: -1, at: -1}
		if classOf(t) != boxed {
			list[i].reg = l.fresh(classOf(t))
		}
	}
	for _, r := range *in.Referrers() {
		x, ok := r.(*ssa.Extract)
		if _, debug := r.(*ssa.DebugRef); debug {
			continue
		}
		if !ok || list[x.Index].used != nil {
			return false
		}
		list[x.Index].used = x
		if list[x.Index].reg < 0 {
			if list[x.Index].at, ok = l.pfn.at(x); !ok {
				return false
			}
		}
	}
	for _, r := range list {
		if r.used != nil {
			l.skip[r.used] = true
			if r.reg >= 0 {
				l.vreg[r.used] = r.reg
			}
		}
	}
	l.results[in] = list
	return true
}

func (l *lowering) lookup(in *ssa.Lookup) {
	if _, ok := in.X.Type().Underlying().(*types.Map); !ok {
		l.byEngine(in)
		return
	}
	a, uses, ok := l.access(in.X, in.Index)
	if !ok || in.CommaOk && l.results[in] == nil {
		l.byEngine(in)
		return
	}
	var defs []int
	if in.CommaOk {
		list := l.results[in]
		a.elem, a.elemAt, a.ok = list[0].reg, list[0].at, list[1].reg
		defs = append(defs, a.ok)
	} else if a.elem, a.elemAt, ok = l.operand(in); !ok {
		l.byEngine(in)
		return
	}
	if a.elem >= 0 {
		defs = append(defs, a.elem)
	}
	if u := updates(in); u != nil && a.bare != nil { // other keys cost little to find, and an assignment by the runtime notices concurrent ones
		a.again, l.updated[u] = true, true
	}
	l.emitAccess(opMapGet, a, in.Index, uses, defs, in)
}

// delete lowers delete(m, key), and reports whether the machine can execute it.
func (l *lowering) delete(in *ssa.Call) bool {
	args := in.Call.Args
	a, uses, ok := l.access(args[0], args[1])
	if ok {
		l.emitAccess(opMapDelete, a, args[1], uses, nil, in)
	}
	return ok
}
