package bytecode

import (
	"reflect"

	"golang.org/x/tools/go/ssa"
)

// sorts lowers a call of a function that sorts, and reports whether it is one. The function
// is called if the machine cannot sort.
func (l *lowering) sorts(in *ssa.Call, fn *ssa.Function) bool {
	if !isSort(fn) {
		return false
	}
	args := in.Call.Args
	rt := l.types[args[0].Type()]
	if _, _, ok := l.callee(&in.Call); !ok || rt == nil || rt.Kind() != reflect.Slice || isStatic(args[0]) {
		return false
	}
	s := sorting{at: escape{at: l.indexes[in], block: in.Block()}, slice: l.reg(args[0]), less: -1, typ: rt}
	if len(args) == 1 {
		s.compares = (&ordering{terms: []term{{path: []step{whole}, less: lessThan(rt.Elem().Kind(), true)}}}).compared()
	} else {
		t := l.types[args[1].Type()]
		if t == nil {
			return false
		}
		s.less, s.word, s.stable = l.reg(args[1]), typeWord(t), fn.Origin().Name() == "SortStableFunc"
	}
	uses := append([]int{s.slice}, l.held...)
	if s.less >= 0 {
		uses = append(uses, s.less)
	}
	l.sortings = append(l.sortings, s)
	sorted, rest, called := l.fresh(number), &block{}, &block{}
	l.order = append(l.order, rest, called)
	l.emit(ins{op: opSort, a: sorted, imm: int64(len(l.sortings) - 1), uses: uses})
	l.emit(ins{op: opBranch, a: sorted, yes: rest, no: called})
	l.now = called
	l.direct(in, fn, nil)
	l.resume(rest)
	return true
}
