package bytecode

import (
	"go/types"
	"reflect"
	"unsafe"

	"golang.org/x/tools/go/ssa"
)

// Maps from 64-bit integers or strings to 64-bit numbers all have one layout and one
// hash function, whatever the names of the types, so the machine reads and writes them
// as maps of uint64. Float keys have another hash function.
//
// Such an insert boxes nothing and uses no reflection: it is one call of Go's map. 1e6
// inserts take 1.7 of the time of compiled Go, which itself takes 1.2 of CPython's (24
// November 2026, busy machine, go run ./kernel/cells/speed -rows map).

// numbersOf is a boxed map with integer keys.
func numbersOf(v any) map[uint64]uint64 {
	data := (*eface)(unsafe.Pointer(&v)).data
	return *(*map[uint64]uint64)(unsafe.Pointer(&data))
}

// textsOf is a boxed map with string keys.
func textsOf(v any) map[string]uint64 {
	data := (*eface)(unsafe.Pointer(&v)).data
	return *(*map[string]uint64)(unsafe.Pointer(&data))
}

// mapKey is the kind of the keys of a map that the machine can access: Uint64, String or
// Invalid.
func mapKey(t types.Type) reflect.Kind {
	m, ok := t.Underlying().(*types.Map)
	if !ok || classOf(m.Elem()) != number || bitsOf(kindOf(m.Elem())) != 64 {
		return reflect.Invalid
	}
	switch k := kindOf(m.Key()); {
	case k == reflect.String:
		return k
	case classOf(m.Key()) == number && !isFloat(k) && bitsOf(k) == 64:
		return reflect.Uint64
	}
	return reflect.Invalid
}

func (l *lowering) mapUpdate(in *ssa.MapUpdate) {
	at, ok := l.pfn.at(in.Map)
	k := mapKey(in.Map.Type())
	if !ok || k == reflect.Invalid {
		l.byEngine(in)
		return
	}
	out := ins{op: opMapSet, a: l.reg(in.Key), b: l.reg(in.Value), imm: int64(at)}
	if k == reflect.String {
		out.op = opMapSetT
	}
	l.checked(out, in)
}

// planLookup assigns registers to the two results of v, ok := m[k].
func (l *lowering) planLookup(in *ssa.Lookup) {
	if _, ok := l.pfn.at(in.X); !ok || !in.CommaOk || mapKey(in.X.Type()) == reflect.Invalid {
		return
	}
	for _, r := range *in.Referrers() {
		if _, ok := r.(*ssa.Extract); !ok {
			return
		}
	}
	l.parts[in] = []int{l.fresh(number), l.fresh(number)}
	for _, r := range *in.Referrers() {
		x := r.(*ssa.Extract)
		l.vreg[x] = l.parts[in][x.Index]
	}
}

func (l *lowering) lookup(in *ssa.Lookup) {
	at, ok := l.pfn.at(in.X)
	k := mapKey(in.X.Type())
	if !ok || k == reflect.Invalid || in.CommaOk && l.parts[in] == nil {
		l.byEngine(in)
		return
	}
	out := ins{op: opMapGet, b: l.reg(in.Index), imm: int64(at)}
	if in.CommaOk {
		out.op, out.a, out.c = opMapFind, l.parts[in][0], l.parts[in][1]
	} else {
		out.a = l.reg(in)
	}
	if k == reflect.String {
		out.op += opMapGetT - opMapGet
	}
	l.emit(out)
}
