package bytecode

import (
	"reflect"

	"golang.org/x/tools/go/ssa"
)

// makes lowers the creation of a map or of a slice.
func (l *lowering) makes(in valueInstruction, length, capacity ssa.Value) {
	t := l.types[in.Type()]
	if t == nil || t.Kind() != reflect.Map && t.Kind() != reflect.Slice {
		l.byEngine(in)
		return
	}
	k := making{to: l.reg(in), len: -1, cap: -1, isMap: t.Kind() == reflect.Map, typ: typeWord(t), size: 1}
	if !k.isMap {
		k.typ, k.size = typeWord(t.Elem()), uint64(t.Elem().Size())
	}
	var uses []int
	for i, v := range []ssa.Value{length, capacity} {
		switch {
		case v == nil:
		case classOf(v.Type()) != number:
			l.byEngine(in)
			return
		default:
			*[]*int{&k.len, &k.cap}[i] = l.reg(v)
			uses = append(uses, l.reg(v))
		}
	}
	l.makings = append(l.makings, k)
	made, rest, large := l.fresh(number), &block{}, &block{}
	l.order = append(l.order, rest, large)
	l.emit(ins{op: opMake, a: made, imm: int64(len(l.makings) - 1), uses: uses, defs: []int{k.to}})
	l.emit(ins{op: opBranch, a: made, yes: rest, no: large})
	l.now = large
	l.byEngine(in)
	l.resume(rest)
}
