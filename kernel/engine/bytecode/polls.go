package bytecode

import (
	"go/token"
	"go/types"
	"reflect"

	"golang.org/x/tools/go/ssa"
)

// polled reports whether a block is merged with the block that polls the flag.
func polled(b *ssa.BasicBlock, host *Host) bool {
	return len(b.Preds) == 1 && poll(b.Preds[0], host.FlagName) && b.Preds[0].Succs[0] == b && pollsFirst(b.Preds[0], host)
}

// poll reports whether a block ends with a poll of the interrupt flag.
func poll(b *ssa.BasicBlock, flag string) bool {
	n := len(b.Instrs)
	if n < 3 {
		return false
	}
	end, ok := b.Instrs[n-1].(*ssa.If)
	if !ok {
		return false
	}
	cond, ok := b.Instrs[n-2].(*ssa.BinOp)
	if !ok || end.Cond != cond || cond.Op != token.NEQ || len(*cond.Referrers()) != 1 {
		return false
	}
	load, ok := b.Instrs[n-3].(*ssa.UnOp)
	if !ok || cond.X != load || load.Op != token.MUL || len(*load.Referrers()) != 1 {
		return false
	}
	g, ok := load.X.(*ssa.Global)
	zero, isConst := cond.Y.(*ssa.Const)
	return ok && isConst && g.String() == flag && kindOf(load.Type()) == reflect.Int32 && zero.Value != nil && zero.Int64() == 0
}

// isStop reports whether a block consists of one call and continues at next.
func isStop(b, next *ssa.BasicBlock) bool {
	if len(b.Instrs) != 2 || len(b.Preds) != 1 || len(b.Succs) != 1 || b.Succs[0] != next {
		return false
	}
	call, ok := b.Instrs[0].(*ssa.Call)
	return ok && call.Type().(*types.Tuple).Len() == 0 && len(call.Call.Args) == 0
}

// pollsFirst reports whether a block that polls the flag at its end can poll at its
// start instead: the instructions between change nothing and take no time.
func pollsFirst(b *ssa.BasicBlock, host *Host) bool {
	for _, in := range b.Instrs {
		switch in := in.(type) {
		case *ssa.Phi, *ssa.BinOp, *ssa.IndexAddr, *ssa.FieldAddr, *ssa.ChangeType, *ssa.If:
		case *ssa.UnOp:
			if in.Op == token.ARROW {
				return false
			}
		case *ssa.Call:
			if fn, ok := in.Call.Value.(*ssa.Function); !ok || fn.String() != host.Enter {
				return false
			}
		default:
			return false
		}
	}
	return isStop(b.Succs[0], b.Succs[1])
}

// begins reports whether a block begins a function or an iteration of a loop.
func begins(b *ssa.BasicBlock) bool {
	for _, p := range b.Preds {
		if p.Index >= b.Index {
			return true
		}
	}
	return b.Index == 0
}
