//go:build ignore

package ixgo

import (
	"runtime"

	"golang.org/x/tools/go/ssa"
)

// panicsLater makes an operation. Operations on two constants are computed at once; one
// that panics does so when it is executed.
func panicsLater(make func(*function, *ssa.BinOp) func(*frame), pfn *function, instr *ssa.BinOp) (f func(*frame)) {
	defer func() {
		if v := recover(); v != nil {
			err, ok := v.(runtime.Error)
			if !ok {
				panic(v)
			}
			f = func(*frame) { panic(err) }
		}
	}()
	return make(pfn, instr)
}
