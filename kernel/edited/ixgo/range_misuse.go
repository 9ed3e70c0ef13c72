//go:build ignore

package ixgo

import "golang.org/x/tools/go/ssa"

// misusedRange is the panic of a function that is misused by the function that a loop
// ranges over, nil for other panics. Its words are those of the Go runtime.
func misusedRange(pfn *function, instr *ssa.Panic) func(fr *frame) {
	switch instr.Block().Comment {
	case "yield-invalid":
		state := pfn.regIndex(instr.X)
		return func(fr *frame) {
			panic(fr.runtimeError(instr, "range function continued iteration after "+rangeState(fr.reg(state))))
		}
	case "rangefunc.resume.busy":
		return func(fr *frame) {
			panic(fr.runtimeError(instr, "range function recovered a loop body panic and did not resume panicking"))
		}
	}
	return nil
}

// rangeState names a state that package ssa gives a loop: its body runs or has panicked,
// the loop has ended, or its body has left it.
func rangeState(v any) string {
	switch state, _ := v.(int); {
	case state == -1:
		return "loop body panic"
	case state == -2:
		return "whole loop exit"
	}
	return "function for loop body returned false"
}
