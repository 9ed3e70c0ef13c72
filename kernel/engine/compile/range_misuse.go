package compile

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// A function that a loop ranges over may call the loop's body at a wrong time. Package ssa
// panics with a text of its own then. The engine library panics with Go's words if the
// panic carries the state of the loop (misusedRange in kernel/edited/ixgo).

// markMisuse gives the panics of bodies of range-over-func loops the state of their loop,
// and makes each loop end in the state that says so, however it was left.
func markMisuse(functions map[*ssa.Function]bool) {
	for f := range functions {
		for _, b := range f.Blocks {
			switch b.Comment {
			case "yield-invalid":
				carryState(b)
			case "rangefunc.resume.ready":
				endAlways(b)
			}
		}
	}
}

// carryState makes a panic carry the state that the condition before it has read.
func carryState(b *ssa.BasicBlock) {
	if len(b.Preds) != 1 || len(b.Instrs) == 0 {
		return
	}
	panics, _ := b.Instrs[len(b.Instrs)-1].(*ssa.Panic)
	branch, _ := b.Preds[0].Instrs[len(b.Preds[0].Instrs)-1].(*ssa.If)
	if panics == nil || branch == nil {
		return
	}
	value, isInterface := panics.X.(*ssa.MakeInterface)
	if cond, ok := branch.Cond.(*ssa.BinOp); ok && isInterface {
		value.X = cond.X
	}
}

// endAlways moves the store of the last state from the block of loops that end by
// themselves to the place where the state is read after each loop.
func endAlways(b *ssa.BasicBlock) {
	end, ok := b.Instrs[0].(*ssa.Store)
	if !ok || len(b.Preds) != 1 || len(b.Preds[0].Preds) != 1 {
		return
	}
	before := b.Preds[0].Preds[0]
	for i, in := range before.Instrs {
		if load, ok := in.(*ssa.UnOp); ok && load.X == end.Addr {
			before.Instrs = slices.Insert(before.Instrs, i+1, ssa.Instruction(end))
			b.Instrs = b.Instrs[1:]
			return
		}
	}
}
