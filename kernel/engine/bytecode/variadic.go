package bytecode

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// elements are the single values of the last argument of a call, which is variadic, and the
// instructions that put them into an array and slice it. They are nil if anything else uses
// that array.
func elements(in *ssa.Call, last ssa.Value) (list []ssa.Value, array []ssa.Instruction) {
	s, ok := last.(*ssa.Slice)
	if !ok || s.Low != nil || s.High != nil || s.Max != nil || len(*s.Referrers()) != 1 || s.Block() != in.Block() {
		return nil, nil
	}
	a, ok := s.X.(*ssa.Alloc)
	if !ok || a.Comment != "varargs" || a.Block() != in.Block() {
		return nil, nil
	}
	t := a.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Array)
	list, array = make([]ssa.Value, t.Len()), []ssa.Instruction{a, s}
	for _, r := range *a.Referrers() {
		if r == s {
			continue
		}
		x, ok := r.(*ssa.IndexAddr)
		if !ok || len(*x.Referrers()) != 1 || x.Block() != in.Block() {
			return nil, nil
		}
		store, ok := (*x.Referrers())[0].(*ssa.Store)
		at, constant := x.Index.(*ssa.Const)
		if !ok || !constant || store.Addr != x || store.Block() != in.Block() || !types.Identical(store.Val.Type(), t.Elem()) {
			return nil, nil
		}
		list[at.Int64()] = store.Val
		array = append(array, x, store)
	}
	for _, x := range list {
		if x == nil {
			return nil, nil
		}
	}
	return list, array
}
