package check

import (
	"go/constant"
	"go/token"
	"go/types"

	"warpbook/kernel/engine/graph"
)

// Same reports whether references to old remain valid for the new object.
func Same(old, now types.Object) bool {
	switch o := old.(type) {
	case *types.Func:
		f, ok := now.(*types.Func)
		return ok && !graph.IsGeneric(o) && !graph.IsGeneric(f) && types.Identical(o.Type(), f.Type())
	case *types.Var:
		v, ok := now.(*types.Var)
		return ok && types.Identical(o.Type(), v.Type())
	case *types.Const:
		k, ok := now.(*types.Const)
		return ok && types.Identical(o.Type(), k.Type()) && constant.Compare(o.Val(), token.EQL, k.Val())
	case *types.PkgName:
		return true // no declaration refers to it by object
	}
	return false
}
