package bytecode

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// Debugged cells have a probe before each statement: a branch on a flag and, behind it, a
// call that gets the variables in scope (package trace). The arguments of the call tell
// which values the variables have in the statement. The machine keeps these values in
// their registers at each instruction of the statement that may call or fail. So a
// debugger reads the variables of all callers, and calls record nothing.

// Probes describes the probes of debugged cells.
type Probes struct {
	Call  string                   // the function that a probe calls: "package.Name"
	Flags *[1 << 16]uint8          // a probe calls it if the flag of its point is set
	Names func(point int) []string // the variables that the probe of a point passes
}

// probed are the probes of a function.
type probed struct {
	armed  map[*ssa.BasicBlock]int         // the flag that a block tests at its end
	begins map[*ssa.BasicBlock]scope       // by the block that tests the flag
	tests  map[ssa.Value]bool              // instructions that read flags
	inside map[*ssa.BasicBlock]bool        // blocks of probes
	scopes map[*ssa.BasicBlock]scope       // of the statement that a block belongs to
	held   map[*ssa.BasicBlock][]ssa.Value // the values of its scope
}

// scope are the variables of a point.
type scope struct {
	point int
	vars  []variable
}

// variable is a variable of a function: its value, nil if that is not known, or its
// address.
type variable struct {
	value  ssa.Value
	memory bool
}

// of is the type of a variable, nil if that is not known.
func (v variable) of() types.Type {
	switch {
	case v.value == nil:
		return nil
	case v.memory:
		return v.value.Type().Underlying().(*types.Pointer).Elem()
	}
	return v.value.Type()
}

// within is the scope whose check a block belongs to.
func (k *probed) within(b *ssa.BasicBlock) (scope, bool) {
	for ; b != nil && k.inside[b]; b = b.Idom() {
		if s, ok := k.begins[b.Idom()]; ok && b.Idom().Succs[0] == b {
			return s, true
		}
	}
	return scope{}, false
}

// probesOf finds the probes of a function, nil if it has none.
func probesOf(fn *ssa.Function, host *Probes) *probed {
	k := &probed{begins: map[*ssa.BasicBlock]scope{}, armed: map[*ssa.BasicBlock]int{}, inside: map[*ssa.BasicBlock]bool{}, scopes: map[*ssa.BasicBlock]scope{},
		tests: map[ssa.Value]bool{}, held: map[*ssa.BasicBlock][]ssa.Value{}}
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if call, ok := in.(*ssa.Call); ok && len(b.Preds) == 1 && isProbe(call, host.Call) {
				test := b.Preds[0]
				s := scope{int(call.Call.Args[0].(*ssa.Const).Int64()), arguments(call)}
				k.begins[test], k.armed[test] = s, s.point%len(host.Flags)
				k.noteTest(test)
			}
		}
	}
	if len(k.begins) == 0 {
		return nil
	}
	for _, b := range fn.DomPreorder() {
		k.enter(b, host)
	}
	return k
}

func isProbe(call *ssa.Call, name string) bool {
	fn, ok := call.Call.Value.(*ssa.Function)
	return ok && fn.Blocks == nil && fn.String() == name
}

// noteTest notes the instructions that read the flag: its address, the load, the
// comparison.
func (k *probed) noteTest(b *ssa.BasicBlock) {
	compare := b.Instrs[len(b.Instrs)-1].(*ssa.If).Cond.(*ssa.BinOp)
	load := compare.X.(*ssa.UnOp)
	k.tests[compare], k.tests[load], k.tests[load.X.(*ssa.IndexAddr)] = true, true, true
}

// arguments are the variables that a probe passes.
func arguments(call *ssa.Call) []variable {
	list, ok := call.Call.Args[1].(*ssa.Slice)
	if !ok { // no variables
		return nil
	}
	var vars []variable
	for _, r := range *list.X.Referrers() {
		at, ok := r.(*ssa.IndexAddr)
		if !ok {
			continue
		}
		i := int(at.Index.(*ssa.Const).Int64())
		for len(vars) <= i {
			vars = append(vars, variable{})
		}
		for _, r := range *at.Referrers() {
			if s, ok := r.(*ssa.Store); ok {
				vars[i] = passed(s.Val, call.Block())
			}
		}
	}
	return vars
}

// passed is the variable that a probe converts to an interface, and loads before that if
// it is in memory.
func passed(v ssa.Value, probe *ssa.BasicBlock) variable {
	for {
		in, ok := v.(ssa.Instruction)
		if !ok || in.Block() != probe {
			return variable{value: v}
		}
		switch x := v.(type) {
		case *ssa.MakeInterface:
			v = x.X
		case *ssa.ChangeInterface:
			v = x.X
		case *ssa.UnOp:
			if at, ok := x.X.(ssa.Instruction); x.Op != token.MUL || ok && at.Block() == probe {
				return variable{}
			}
			return variable{x.X, true}
		default:
			return variable{}
		}
	}
}

// enter finds the scope of a block from that of its dominator. A phi of a variable has
// its value from there on.
func (k *probed) enter(b *ssa.BasicBlock, host *Probes) {
	by := b.Idom()
	if by == nil {
		return
	}
	s := k.scopes[by]
	begin, tests := k.begins[by]
	if tests && by.Succs[1] == b {
		s = begin
	}
	k.inside[b] = k.inside[by] || tests && by.Succs[0] == b
	names := host.Names(s.point)
	for _, in := range b.Instrs {
		phi, ok := in.(*ssa.Phi)
		if !ok {
			break
		}
		for i := range s.vars {
			if i < len(names) && names[i] == phi.Comment && !s.vars[i].memory {
				s.vars = append([]variable(nil), s.vars...)
				s.vars[i].value = phi
			}
		}
	}
	k.scopes[b] = s
	for _, x := range s.vars {
		if x.value != nil && !isStatic(x.value) && classOf(x.value.Type()) != boxed {
			k.held[b] = append(k.held[b], x.value)
		}
	}
}
