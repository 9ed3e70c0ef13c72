package bytecode

import (
	"fmt"
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// maxInstructions is the largest size of a function that is compiled; the engine
// executes larger ones.
const maxInstructions = 10000

// compile makes the code of a function, or returns the reason why the engine has to
// execute it. Within is what the code of a deferred closure knows of the call that defers
// it, nil for other code.
func compile(f *Function, within *enclosing) (c *code, err error) {
	defer func() {
		if v := recover(); v != nil { // the engine executes it
			c, err = nil, fmt.Errorf("bytecode: %v: %v", f.fn, v)
		}
	}()
	if len(f.pfn.ssaInstrs) > maxInstructions {
		return nil, fmt.Errorf("bytecode: %v: %d instructions, at most %d", f.fn, len(f.pfn.ssaInstrs), maxInstructions)
	}
	if (f.fn.Recover == nil) != (f.pfn.Recover == nil) {
		return nil, fmt.Errorf("bytecode: %v: the engine recovers nothing", f.fn)
	}
	host := &f.program.host
	l := &lowering{within: within, values: &values{pfn: f.pfn, types: f.program.types, vreg: map[ssa.Value]int{}}, merging: newMerging(host, f.pfn.ssaInstrs),
		f: f, fn: f.fn, parts: map[ssa.Value][]int{}, results: map[ssa.Value][]result{}, iterators: map[*ssa.Range]int{}, spills: map[*ssa.Store]bool{}, settled: map[ssa.Value]bool{}, compiled: map[*ssa.Call]*native{}, appended: map[*ssa.Call][]ssa.Value{}, blocks: map[*ssa.BasicBlock]*block{}, slots: map[ssa.Value]slot{}, variables: map[ssa.Value]int{}, updated: map[*ssa.MapUpdate]bool{}, keys: map[*ssa.MakeInterface]bool{}, polls: host.Polls(f.fn)}
	if f.probed != nil {
		for v := range f.probed.tests {
			l.skip[v.(ssa.Instruction)] = true
		}
	}
	l.function()
	if l.leaves && !repeats(f.fn) {
		return nil, fmt.Errorf("bytecode: %v repeats nothing and calls by way of the engine", f.fn)
	}
	return l.finish()
}

// function lowers a function: parameters, the plan of merged instructions, blocks.
func (l *lowering) function() {
	if l.within != nil {
		l.first = l.within.size
	}
	for i, p := range l.fn.Params {
		l.parameter(p, l.pfn.nres+i)
	}
	for i, v := range l.fn.FreeVars {
		if l.within == nil || l.within.regs[i] < 0 {
			l.parameter(v, l.pfn.nres+l.pfn.narg+i)
			continue
		}
		l.variables[v] = len(l.vregs)
		l.vregs = append(l.vregs, vreg{class: classOf(elem(v)), reg: l.within.regs[i], fixed: true, own: true})
	}
	for _, b := range l.fn.Blocks {
		if polled(b, l.host) { // it is merged into another
			continue
		}
		l.blocks[b] = &block{}
		l.order = append(l.order, l.blocks[b])
	}
	l.recovery = l.blocks[l.fn.Recover]
	l.planVariables()
	for _, b := range l.fn.Blocks { // before any block is lowered: a value may be used in an earlier block
		for i, in := range b.Instrs {
			l.plan(b, i, in)
			switch in := in.(type) {
			case *ssa.Call:
				l.planCall(in)
				l.planAppend(in)
			case *ssa.Alloc:
				l.planSpill(in)
				l.planSettled(in)
			case *ssa.MakeClosure:
				l.planClosure(in)
			case *ssa.Select:
				l.planSelect(in)
			case *ssa.Lookup:
				l.planLookup(in)
			case *ssa.Range:
				l.planRange(in)
			case *ssa.MakeInterface:
				l.planBox(in)
				l.planKey(in)
			case *ssa.TypeAssert:
				l.planAssert(in)
			}
		}
	}
	l.planMoves()
	for _, b := range l.fn.Blocks {
		if l.blocks[b] != nil {
			l.block(b)
		}
	}
}

// block lowers a basic block.
func (l *lowering) block(b *ssa.BasicBlock) {
	l.now = l.blocks[b]
	if b == l.fn.Recover {
		l.unwinds()
	}
	if k := l.f.probed; k != nil {
		l.hold(k.held[b])
	}
	if poll(b, l.host.FlagName) && pollsFirst(b, l.host) {
		l.pollFirst(b.Succs[0])
	}
	if l.polls && begins(b) {
		rest := l.poll()
		l.escapes = append(l.escapes, escape{at: l.indexes[b.Instrs[len(b.Instrs)-1]], block: b})
		l.emit(ins{op: opStop, imm: int64(len(l.escapes) - 1)})
		l.resume(rest)
	}
	for _, in := range b.Instrs {
		if !l.skip[in] {
			l.instruction(in)
		}
	}
}

// hold keeps values in their registers at each instruction of a block that may call or
// fail.
func (l *lowering) hold(values []ssa.Value) {
	l.held = nil
	for _, v := range values {
		if _, ok := l.pfn.at(v); ok && l.types[v.Type()] != nil {
			s := l.slot(v)
			l.slots[v], l.held = s, append(l.held, s.reg)
		}
	}
}

// instruction lowers one instruction.
func (l *lowering) instruction(in ssa.Instruction) {
	switch in := in.(type) {
	case *ssa.Phi, *ssa.DebugRef:
	case *ssa.Jump:
		l.moves(in.Block(), 0)
		l.emit(ins{op: opJump, yes: l.blocks[in.Block().Succs[0]]})
	case *ssa.If:
		l.branch(in)
	case *ssa.Return:
		l.ret(in)
	case *ssa.BinOp:
		l.binary(in)
	case *ssa.UnOp:
		l.unary(in)
	case *ssa.Alloc:
		l.alloc(in)
	case *ssa.ChangeType:
		l.changeType(in, in.X)
	case *ssa.ChangeInterface:
		l.changeType(in, in.X)
	case *ssa.MakeInterface:
		l.box(in)
	case *ssa.TypeAssert:
		l.assert(in)
	case *ssa.Convert:
		l.convert(in)
	case *ssa.Store:
		l.store(in)
	case *ssa.FieldAddr:
		l.fieldAddr(in)
	case *ssa.Field:
		l.field(in)
	case *ssa.IndexAddr:
		l.indexAddr(in)
	case *ssa.Index:
		l.index(in)
	case *ssa.Slice:
		l.slice(in)
	case *ssa.Call:
		l.call(in)
	case *ssa.MakeMap:
		l.makes(in, nil, in.Reserve)
	case *ssa.MakeSlice:
		l.makes(in, in.Len, in.Cap)
	case *ssa.MapUpdate:
		l.mapUpdate(in)
	case *ssa.Lookup:
		l.lookup(in)
	case *ssa.Range:
		l.rangeOver(in)
	case *ssa.Next:
		l.next(in)
	case *ssa.Select:
		l.selects(in)
	case *ssa.Panic:
		l.panics(in)
	case *ssa.Defer:
		l.deferred(in)
	case *ssa.RunDefers:
		l.runDefers(in)
	case *ssa.Extract:
		if l.parts[in.Tuple] == nil {
			l.byEngine(in)
		}
	default:
		l.byEngine(in)
	}
}

func (l *lowering) branch(in *ssa.If) {
	b := in.Block()
	if poll(b, l.host.FlagName) {
		if !pollsFirst(b, l.host) {
			l.emit(ins{op: opPoll, yes: l.edge(b, 0)})
		}
		l.emit(ins{op: opJump, yes: l.edge(b, 1)})
		return
	}
	if k := l.f.probed; k != nil && k.tests[in.Cond] {
		l.emit(ins{op: opArmed, a: k.armed[b], yes: l.edge(b, 0), no: l.edge(b, 1)})
		return
	}
	if c, ok := in.Cond.(*ssa.Const); ok {
		k := 1
		if l.vregs[l.reg(c)].number != 0 {
			k = 0
		}
		l.emit(ins{op: opJump, yes: l.edge(b, k)})
		return
	}
	yes, no := l.edge(b, 0), l.edge(b, 1)
	out := ins{op: opBranch, yes: yes, no: no}
	if c, ok := in.Cond.(*ssa.BinOp); ok && l.skip[c] {
		if x := comparedWithNil(c); x != nil {
			if c.Op == token.NEQ {
				yes, no = no, yes
			}
			out = ins{op: opBrNil, a: l.reg(x)}
		} else {
			out = l.compare(c)
		}
		out.yes, out.no = yes, no
	} else {
		out.a = l.reg(in.Cond)
	}
	l.emit(out)
}

func (l *lowering) ret(in *ssa.Return) {
	var list results
	out := ins{op: opReturn}
	for i, v := range in.Results {
		k := classOf(v.Type())
		if k == boxed || isStatic(v) {
			at, ok := l.pfn.at(v)
			if !ok {
				panic("a result is not in the frame")
			}
			s := slot{class: k, at: at, reg: -1}
			if k != boxed {
				s.reg = l.reg(v)
				out.uses = append(out.uses, s.reg)
			}
			list.values, list.kept = append(list.values, s), append(list.kept, true)
			continue
		}
		s := l.slot(v)
		s.at = i
		out.uses = append(out.uses, s.reg)
		list.values, list.kept = append(list.values, s), append(list.kept, false)
	}
	switch {
	case len(in.Results) == 0:
		out.op = opReturn0
	case len(in.Results) == 1 && list.values[0].class == number:
		out.op, out.a = opReturn1, list.values[0].reg
	}
	out.imm = int64(len(l.returns))
	l.returns = append(l.returns, list)
	l.emit(out)
}

// pollFirst polls the flag at the start of a block. Loops that jump to the block poll
// together with the jump.
func (l *lowering) pollFirst(stop *ssa.BasicBlock) {
	rest := l.poll()
	l.byEngine(stop.Instrs[0])
	l.resume(rest)
}

// edge is the target of a branch: the successor, or a block of moves before it.
func (l *lowering) edge(b *ssa.BasicBlock, k int) *block {
	to := b.Succs[k]
	if len(to.Instrs) == 0 {
		return l.blocks[to]
	}
	if _, ok := to.Instrs[0].(*ssa.Phi); !ok {
		return l.blocks[to]
	}
	now := l.now
	defer func() { l.now = now }()
	e := &block{}
	l.order = append(l.order, e)
	l.now = e
	l.moves(b, k)
	l.emit(ins{op: opJump, yes: l.blocks[to]})
	return e
}

// moves assigns values to the phis of a successor, one after the other, as the engine
// does.
func (l *lowering) moves(b *ssa.BasicBlock, k int) {
	to := b.Succs[k]
	from := -1
	for i, p := range to.Preds {
		if p == b {
			from = i // the first one, as in the engine
			break
		}
	}
	for _, in := range to.Instrs {
		phi, ok := in.(*ssa.Phi)
		if !ok {
			return
		}
		l.move(phi, phi.Edges[from])
	}
}

func (l *lowering) move(to *ssa.Phi, v ssa.Value) {
	k := classOf(to.Type())
	if k == boxed {
		a, ok1 := l.pfn.at(to)
		b, ok2 := l.pfn.at(v)
		if !ok1 || !ok2 || a > 65535 || b > 65535 {
			panic("a phi is not in the frame")
		}
		l.emit(ins{op: opMoveBox, a: a, b: b})
		return
	}
	if classOf(v.Type()) != k {
		panic("a phi of two classes")
	}
	d, s := l.reg(to), l.reg(v)
	if w := &l.vregs[s]; w.static {
		switch {
		case k == number:
			l.emit(ins{op: opConst, a: d, imm: int64(w.number)})
			return
		case k == pointer && w.ptr == nil:
			l.emit(ins{op: opNilP, a: d})
			return
		case k == header && w.number == 0 && w.ptr == nil:
			l.emit(ins{op: opNilH, a: d})
			return
		}
	}
	l.emit(ins{op: moves[k], a: d, b: s})
}
