//go:build ignore

package ixgo

import "go/types"

// runtimeTypes are the types whose methods may be called through interfaces.
func (visit *visitor) runtimeTypes() []types.Type {
	if list := visit.intp.ctx.Reached; list != nil {
		return list
	}
	return visit.prog.RuntimeTypes()
}
