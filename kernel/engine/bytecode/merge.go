package bytecode

import (
	"go/token"
	"reflect"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// merging is the plan of the instructions of a function that become one instruction of
// the machine. It reads SSA only, before any block is lowered.
type merging struct {
	host    *Host
	indexes map[ssa.Instruction]int       // index in the engine's code
	skip    map[ssa.Instruction]bool      // merged into another instruction
	fused   map[*ssa.Store]*ssa.IndexAddr // the address is computed by the store
	fields  map[*ssa.FieldAddr]bool       // the access adds the offset
}

func newMerging(host *Host, list []ssa.Instruction) *merging {
	m := &merging{host: host, indexes: map[ssa.Instruction]int{}, skip: map[ssa.Instruction]bool{}, fused: map[*ssa.Store]*ssa.IndexAddr{}, fields: map[*ssa.FieldAddr]bool{}}
	for i, in := range list {
		m.indexes[in] = i
	}
	return m
}

// plan merges instruction i of a block with others of the block, where possible: a
// comparison with its branch, a product with its sum, an address with its access.
func (m *merging) plan(b *ssa.BasicBlock, i int, in ssa.Instruction) {
	if n := len(b.Instrs); i == 0 && poll(b, m.host.FlagName) {
		m.skip[b.Instrs[n-3]], m.skip[b.Instrs[n-2]] = true, true
	}
	v, ok := in.(ssa.Value)
	if !ok || v.Referrers() == nil || m.skip[in] {
		return
	}
	refs := *v.Referrers()
	switch v := v.(type) {
	case *ssa.BinOp:
		if len(refs) != 1 || refs[0].Block() != b {
			return
		}
		if _, ok := refs[0].(*ssa.If); ok && branches(v) {
			m.skip[v] = true
		}
		if sum, ok := refs[0].(*ssa.BinOp); ok && (m.isMulAdd(v, sum) || concatenates(v) && concatenates(sum)) {
			m.skip[v] = true
		}
	case *ssa.IndexAddr:
		if len(refs) != 1 || refs[0].Block() != b || classOf(v.X.Type()) != header || classOf(v.Index.Type()) != number {
			return
		}
		if u, ok := refs[0].(*ssa.UnOp); ok && u == b.Instrs[i+1] && accesses(u, v) {
			m.skip[v] = true
		}
		if s, ok := refs[0].(*ssa.Store); ok && s.Addr == v && setOp(s.Val.Type()) != opInvalid && quiet(b.Instrs[i+1:], s) {
			m.fused[s], m.skip[v] = v, true
		}
	case *ssa.FieldAddr:
		if len(refs) == 0 || i+1 >= len(b.Instrs) {
			return
		}
		first := false
		for _, r := range refs {
			first = first || r == b.Instrs[i+1]
			if !accesses(r, v) {
				return
			}
			if _, ok := m.indexes[r]; !ok {
				return
			}
		}
		if first {
			m.fields[v] = true
		}
	}
}

// accesses reports whether an instruction reads or writes the memory at an address.
func accesses(in ssa.Instruction, at ssa.Value) bool {
	switch in := in.(type) {
	case *ssa.UnOp:
		return in.Op == token.MUL && in.X == at && loadOp(in.Type()) != opInvalid
	case *ssa.Store:
		return in.Addr == at && in.Val != at && storeOp(in.Val.Type()) != opInvalid
	}
	return false
}

// quiet reports whether the instructions before end cannot panic and change no
// memory.
func quiet(list []ssa.Instruction, end ssa.Instruction) bool {
	for _, in := range list {
		switch in := in.(type) {
		case *ssa.BinOp:
			if classOf(in.X.Type()) != number || in.Op == token.QUO || in.Op == token.REM || in.Op == token.SHL || in.Op == token.SHR {
				return false
			}
		case *ssa.Convert:
			if classOf(in.X.Type()) != number || classOf(in.Type()) != number {
				return false
			}
		default:
			return in == end
		}
	}
	return false
}

// isMulAdd reports whether a product is used only as a term of a sum of 64-bit integers.
func (m *merging) isMulAdd(product, sum *ssa.BinOp) bool {
	k := kindOf(product.Type())
	_, constant := product.Y.(*ssa.Const)
	other := sum.X
	if other == product {
		other = sum.Y
	}
	if p, ok := other.(*ssa.BinOp); ok && m.skip[p] { // one product a sum
		return false
	}
	return product.Op == token.MUL && sum.Op == token.ADD && !constant && !isStatic(product.X) && !isStatic(other) && other != product &&
		classOf(product.Type()) == number && !isFloat(k) && bitsOf(k) == 64
}

// branches reports whether a comparison can be merged into the branch that uses it.
func branches(in *ssa.BinOp) bool {
	switch in.Op {
	case token.EQL, token.NEQ:
		if comparedWithNil(in) != nil {
			return true
		}
		fallthrough
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		return classOf(in.X.Type()) == number && classOf(in.Y.Type()) == number
	}
	return false
}

// wraps reports whether a function was made to call another one.
func wraps(fn *ssa.Function) bool {
	return fn.Synthetic != "" && !strings.HasPrefix(fn.Synthetic, "instance of ")
}

// comparedWithNil is the operand of a comparison with nil, nil of another comparison.
func comparedWithNil(in *ssa.BinOp) ssa.Value {
	x, y := in.X, in.Y
	if isNil(x) {
		x, y = y, x
	}
	if k := classOf(x.Type()); isNil(y) && classOf(y.Type()) == k && !isStatic(x) && (k == pointer || k == dynamic || k == header) {
		return x
	}
	return nil
}

// concatenates reports whether an instruction concatenates strings.
func concatenates(in *ssa.BinOp) bool {
	return in.Op == token.ADD && kindOf(in.Type()) == reflect.String
}

// nextOf is the first instruction of a list, nil if there is none.
func nextOf(list []ssa.Instruction) ssa.Instruction {
	for _, in := range list {
		if _, debug := in.(*ssa.DebugRef); !debug {
			return in
		}
	}
	return nil
}

// soleUse is the only instruction that uses a value, nil if there are several.
func soleUse(v ssa.Value) (use ssa.Instruction) {
	for _, r := range *v.Referrers() {
		if _, debug := r.(*ssa.DebugRef); debug {
			continue
		}
		if use != nil {
			return nil
		}
		use = r
	}
	return use
}
