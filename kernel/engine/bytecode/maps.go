package bytecode

import (
	"go/types"
	"reflect"
	"unsafe"

	"golang.org/x/tools/go/ssa"
)

// Maps from integers of 64 bits, or from strings, to numbers of 64 bits are all
// laid out and hashed alike, whatever the names of the types, so the machine reads
// and writes them as maps of uint64. Floats as keys are hashed otherwise.

// numbersOf is a boxed map from integers.
func numbersOf(v any) map[uint64]uint64 {
	data := (*eface)(unsafe.Pointer(&v)).data
	return *(*map[uint64]uint64)(unsafe.Pointer(&data))
}

// textsOf is a boxed map from strings.
func textsOf(v any) map[string]uint64 {
	data := (*eface)(unsafe.Pointer(&v)).data
	return *(*map[string]uint64)(unsafe.Pointer(&data))
}

// mapKey is the kind of the keys of a map that the machine knows: Uint64, String
// or Invalid.
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

// planLookup gives the two results of v, ok := m[k] registers.
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
		l.values[x] = l.parts[in][x.Index]
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
