package bytecode

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"unsafe"

	"golang.org/x/tools/go/ssa"
)

// ins is an instruction before register assignment: its operands are numbers of vregs.
type ins struct {
	op        op
	a, b, c   int
	imm       int64
	check     int // index of an escape, -1 if nothing is checked
	yes, no   *block
	uses      []int // further operands
	defs      []int
	condition bool // imm is a vreg that holds the condition
}

// block is a basic block, or an edge on which values move.
type block struct {
	ins    []ins
	placed bool
	pos    int
	live   bitset // at its start
	depth  int    // of loops, roughly
}

// lowering makes a function's code.
type lowering struct {
	f       *Function
	fn      *ssa.Function
	pfn     *function
	indexes map[ssa.Instruction]int // index in the engine's code
	vregs   []vreg
	values  map[ssa.Value]int
	parts   map[ssa.Value][]int // results of calls with several results
	blocks  map[*ssa.BasicBlock]*block
	order   []*block
	now     *block
	skip    map[ssa.Instruction]bool      // merged into another instruction
	fused   map[*ssa.Store]*ssa.IndexAddr // the address is computed by the store
	fields  map[*ssa.FieldAddr]bool       // the access adds the offset
	escaped int                           // instructions that the engine executes, except stops
	leaves  bool                          // it calls interpreted functions through the engine, which needs more stack than the engine alone
	polls   bool                          // it polls at the start of each turn of a loop, because the code does not

	escapes []escape
	calls   []call
	returns []results
	slices  []slicing
	math1   []func(float64) float64
	math2   []func(x, y float64) float64
	entry   []slot
}

// maxInstructions is the largest size of a function that is compiled; the engine
// executes larger ones.
const maxInstructions = 10000

// compile makes the code of a function, or returns the reason why the engine has to
// execute it.
func compile(f *Function) (c *code, err error) {
	defer func() {
		if v := recover(); v != nil { // the engine executes it
			c, err = nil, fmt.Errorf("bytecode: %v: %v", f.fn, v)
		}
	}()
	l := &lowering{f: f, fn: f.fn, pfn: f.pfn, indexes: map[ssa.Instruction]int{}, values: map[ssa.Value]int{}, parts: map[ssa.Value][]int{},
		blocks: map[*ssa.BasicBlock]*block{}, skip: map[ssa.Instruction]bool{}, fused: map[*ssa.Store]*ssa.IndexAddr{}, fields: map[*ssa.FieldAddr]bool{}}
	if len(f.pfn.ssaInstrs) > maxInstructions {
		return nil, fmt.Errorf("bytecode: %v: %d instructions, at most %d", f.fn, len(f.pfn.ssaInstrs), maxInstructions)
	}
	l.polls = f.program.host.Polls(f.fn)
	l.function()
	if l.leaves && !loops(f.fn) {
		return nil, fmt.Errorf("bytecode: %v has no loop and calls by way of the engine", f.fn)
	}
	return l.finish()
}

func (l *lowering) function() {
	for i, in := range l.pfn.ssaInstrs {
		l.indexes[in] = i
	}
	for i, p := range l.fn.Params {
		l.parameter(p, l.pfn.nres+i)
	}
	for i, v := range l.fn.FreeVars {
		l.parameter(v, l.pfn.nres+l.pfn.narg+i)
	}
	for _, b := range l.fn.Blocks {
		if b == l.fn.Recover && len(b.Preds) == 0 || l.polled(b) { // the engine's recover block, or one that is merged into another
			continue
		}
		l.blocks[b] = &block{}
		l.order = append(l.order, l.blocks[b])
	}
	for _, b := range l.fn.Blocks { // before any block is lowered: a value may be used in an earlier block
		for i, in := range b.Instrs {
			l.plan(b, i, in)
		}
	}
	for _, b := range l.fn.Blocks {
		if l.blocks[b] != nil {
			l.block(b)
		}
	}
}

func (l *lowering) emit(in ins) *ins {
	in.check = -1
	l.now.ins = append(l.now.ins, in)
	return &l.now.ins[len(l.now.ins)-1]
}

// block lowers a basic block.
func (l *lowering) block(b *ssa.BasicBlock) {
	l.now = l.blocks[b]
	if poll(b, l.f.program.host.FlagName) && l.pollsFirst(b) {
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
	case *ssa.ChangeType:
		l.changeType(in)
	case *ssa.Convert:
		l.convert(in)
	case *ssa.Store:
		l.store(in)
	case *ssa.FieldAddr:
		l.fieldAddr(in)
	case *ssa.IndexAddr:
		l.indexAddr(in)
	case *ssa.Index:
		l.index(in)
	case *ssa.Slice:
		l.slice(in)
	case *ssa.Call:
		l.call(in)
	case *ssa.MapUpdate:
		l.mapUpdate(in)
	case *ssa.Lookup:
		l.lookup(in)
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
	if poll(b, l.f.program.host.FlagName) {
		if !l.pollsFirst(b) {
			l.emit(ins{op: opPoll, yes: l.edge(b, 0)})
		}
		l.emit(ins{op: opJump, yes: l.edge(b, 1)})
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
		out = l.compare(c)
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

// vreg is a value before registers are assigned.
type vreg struct {
	class  class
	reg    int  // -1 until assigned
	fixed  bool // a parameter, whose register is given
	static bool // a constant
	number uint64
	more   uint64 // capacity of a constant slice
	ptr    unsafe.Pointer
}

// parameter loads a value from the frame into the next register.
func (l *lowering) parameter(v ssa.Value, at int) {
	k := classOf(v.Type())
	if k == boxed {
		return
	}
	reg := 0
	for _, w := range l.vregs {
		reg += width(w.class)
	}
	l.values[v] = len(l.vregs)
	l.vregs = append(l.vregs, vreg{class: k, reg: reg, fixed: true})
	l.entry = append(l.entry, slot{reg: reg, at: at, class: k, kind: kindOf(v.Type())})
}

func width(k class) int {
	if k == header {
		return 2
	}
	return 1
}

func (l *lowering) fresh(k class) int {
	l.vregs = append(l.vregs, vreg{class: k, reg: -1})
	return len(l.vregs) - 1
}

// reg is the vreg of a value.
func (l *lowering) reg(v ssa.Value) int {
	if i, ok := l.values[v]; ok {
		return i
	}
	k := classOf(v.Type())
	if k == boxed {
		panic(fmt.Sprintf("%v is in no register", v))
	}
	i := l.fresh(k)
	l.values[v] = i
	if isStatic(v) {
		at, ok := l.pfn.at(v)
		if !ok {
			panic(fmt.Sprintf("the engine does not know %v", v))
		}
		var r registers2
		s := slot{class: k, kind: kindOf(v.Type())}
		s.unbox(r.numbers(), r.pointers(), l.pfn.stack[at])
		l.vregs[i].static, l.vregs[i].number, l.vregs[i].more, l.vregs[i].ptr = true, r.n[0], r.n[1], r.p[0]
	}
	return i
}

// registers2 is the space for one value.
type registers2 struct {
	n [2]uint64
	p [2]unsafe.Pointer
}

//go:nocheckptr
func (r *registers2) numbers() *registers { return (*registers)(unsafe.Pointer(&r.n)) }

//go:nocheckptr
func (r *registers2) pointers() *pointers { return (*pointers)(unsafe.Pointer(&r.p)) }

// constant is the value of a constant number.
func (l *lowering) constant(v ssa.Value) (int64, bool) {
	c, ok := v.(*ssa.Const)
	if !ok || c.Value == nil || classOf(c.Type()) != number || isFloat(kindOf(c.Type())) {
		return 0, false
	}
	return int64(l.vregs[l.reg(c)].number), true
}

// slot is the place of a value for the engine.
func (l *lowering) slot(v ssa.Value) slot {
	at, ok := l.pfn.at(v)
	t := l.f.program.types[v.Type()]
	if !ok || t == nil {
		panic(fmt.Sprintf("the engine does not know %v", v))
	}
	k := classOf(v.Type())
	if want := map[class]bool{number: isNumber(t.Kind()), pointer: t.Kind() == reflect.Pointer, header: t.Kind() == reflect.Slice || t.Kind() == reflect.String}; !want[k] {
		panic(fmt.Sprintf("%v is a %v of the engine", v, t))
	}
	return slot{reg: l.reg(v), at: at, class: k, kind: kindOf(v.Type()), typ: typeWord(t)}
}

func isNumber(k reflect.Kind) bool { return k >= reflect.Bool && k <= reflect.Float64 }

// checked emits an instruction that the engine executes if a check fails: the
// instruction of the function that is being lowered, or another one.
func (l *lowering) checked(in ins, failing ssa.Instruction) {
	l.emit(in).check = l.escape(failing)
	at := &l.now.ins[len(l.now.ins)-1]
	at.uses = append(at.uses, l.boxUses(at.check)...)
}

// escape records an instruction that the engine executes.
func (l *lowering) escape(in ssa.Instruction) int {
	e := l.record(in)
	l.escapes = append(l.escapes, e)
	return len(l.escapes) - 1
}

func (l *lowering) record(in ssa.Instruction) escape {
	at, ok := l.indexes[in]
	if !ok {
		panic(fmt.Sprintf("the engine does not execute %v", in))
	}
	e := escape{at: at, block: in.Block()}
	seen := map[ssa.Value]bool{}
	add := func(v ssa.Value) {
		if v == nil || seen[v] || isStatic(v) || classOf(v.Type()) == boxed {
			return
		}
		if _, tuple := v.Type().(*types.Tuple); tuple {
			return
		}
		seen[v] = true
		e.boxes = append(e.boxes, l.slot(v))
	}
	var buf [8]*ssa.Value
	for _, o := range in.Operands(buf[:0]) {
		add(*o)
		if m, ok := (*o).(*ssa.MakeClosure); ok { // a call of the closure reads these instead
			for _, b := range m.Bindings {
				add(b)
			}
		}
	}
	return e
}

func (l *lowering) boxUses(e int) (uses []int) {
	for _, s := range l.escapes[e].boxes {
		uses = append(uses, s.reg)
	}
	return uses
}

// byEngine makes the engine execute an instruction.
func (l *lowering) byEngine(in ssa.Instruction) {
	if _, ok := l.indexes[in]; !ok { // the engine does not execute it either
		return
	}
	l.leaves = l.leaves || callsBack(in)
	l.escaped++
	e := l.escape(in)
	out := ins{op: opEngine, imm: int64(e), uses: l.boxUses(e)}
	if v, ok := in.(ssa.Value); ok && classOf(v.Type()) != boxed {
		if _, tuple := v.Type().(*types.Tuple); !tuple {
			at, ok := l.pfn.at(v)
			if !ok {
				panic(fmt.Sprintf("the engine does not know %v", v))
			}
			l.escapes[e].result = slot{reg: l.reg(v), at: at, class: classOf(v.Type()), kind: kindOf(v.Type())}
			out.defs = []int{l.reg(v)}
		}
	}
	if c, ok := in.(*ssa.Call); ok {
		if l.escapes[e].callbacks = l.callbacks(c); l.escapes[e].callbacks != nil {
			out.op = opCallBack
		}
	}
	l.emit(out)
}

// callsBack reports whether the engine may call an interpreted function when it
// executes an instruction.
func callsBack(in ssa.Instruction) bool {
	switch in := in.(type) {
	case *ssa.Call:
		switch fn := in.Call.Value.(type) {
		case *ssa.Builtin:
			return false
		case *ssa.Function:
			return in.Call.IsInvoke() || fn.Blocks != nil
		}
		return true
	case *ssa.RunDefers:
		return true
	}
	return false
}

// plan finds instructions that are merged.
func (l *lowering) plan(b *ssa.BasicBlock, i int, in ssa.Instruction) {
	if n := len(b.Instrs); i == 0 && poll(b, l.f.program.host.FlagName) {
		l.skip[b.Instrs[n-3]], l.skip[b.Instrs[n-2]] = true, true
	}
	switch in := in.(type) {
	case *ssa.Call:
		l.planCall(in)
		return
	case *ssa.Lookup:
		l.planLookup(in)
		return
	}
	v, ok := in.(ssa.Value)
	if !ok || v.Referrers() == nil || l.skip[in] {
		return
	}
	refs := *v.Referrers()
	switch v := v.(type) {
	case *ssa.BinOp:
		if len(refs) != 1 || refs[0].Block() != b {
			return
		}
		if _, ok := refs[0].(*ssa.If); ok && branches(v) {
			l.skip[v] = true
		}
		if sum, ok := refs[0].(*ssa.BinOp); ok && l.isMulAdd(v, sum) {
			l.skip[v] = true
		}
	case *ssa.IndexAddr:
		if len(refs) != 1 || refs[0].Block() != b || classOf(v.X.Type()) != header || classOf(v.Index.Type()) != number {
			return
		}
		if u, ok := refs[0].(*ssa.UnOp); ok && u == b.Instrs[i+1] && accesses(u, v) {
			l.skip[v] = true
		}
		if s, ok := refs[0].(*ssa.Store); ok && s.Addr == v && setOp(s.Val.Type()) != opInvalid && l.quiet(b.Instrs[i+1:], s) {
			l.fused[s], l.skip[v] = v, true
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
			if _, ok := l.indexes[r]; !ok {
				return
			}
		}
		if first {
			l.fields[v] = true
		}
	}
}

// accesses reports whether an instruction reads or writes the memory at an address.
func accesses(in ssa.Instruction, at ssa.Value) bool {
	switch in := in.(type) {
	case *ssa.UnOp:
		return in.Op == token.MUL && in.X == at && classOf(in.Type()) != boxed
	case *ssa.Store:
		return in.Addr == at && in.Val != at && classOf(in.Val.Type()) != boxed
	}
	return false
}

// quiet reports whether the instructions before end cannot panic and change no
// memory.
func (l *lowering) quiet(list []ssa.Instruction, end ssa.Instruction) bool {
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
func (l *lowering) isMulAdd(product, sum *ssa.BinOp) bool {
	k := kindOf(product.Type())
	_, constant := product.Y.(*ssa.Const)
	other := sum.X
	if other == product {
		other = sum.Y
	}
	if m, ok := other.(*ssa.BinOp); ok && l.skip[m] { // one product a sum
		return false
	}
	return product.Op == token.MUL && sum.Op == token.ADD && !constant && !isStatic(product.X) && !isStatic(other) && other != product &&
		classOf(product.Type()) == number && !isFloat(k) && bitsOf(k) == 64
}

// polled reports whether a block is merged with the block that polls the flag.
func (l *lowering) polled(b *ssa.BasicBlock) bool {
	return len(b.Preds) == 1 && poll(b.Preds[0], l.f.program.host.FlagName) && b.Preds[0].Succs[0] == b && l.pollsFirst(b.Preds[0])
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
func (l *lowering) pollsFirst(b *ssa.BasicBlock) bool {
	for _, in := range b.Instrs {
		switch in := in.(type) {
		case *ssa.Phi, *ssa.BinOp, *ssa.IndexAddr, *ssa.FieldAddr, *ssa.ChangeType, *ssa.If:
		case *ssa.UnOp:
			if in.Op == token.ARROW {
				return false
			}
		case *ssa.Call:
			if fn, ok := in.Call.Value.(*ssa.Function); !ok || fn.String() != l.f.program.host.Enter {
				return false
			}
		default:
			return false
		}
	}
	return isStop(b.Succs[0], b.Succs[1])
}

// pollFirst polls the flag at the start of a block. Loops that jump to the block poll
// together with the jump.
func (l *lowering) pollFirst(stop *ssa.BasicBlock) {
	rest := l.poll()
	l.byEngine(stop.Instrs[0])
	l.escaped--
	l.resume(rest)
}

// poll emits a poll of the flag. The instructions emitted next, up to resume, run only
// if the flag is set.
func (l *lowering) poll() (rest *block) {
	rest, stopped := &block{}, &block{}
	l.order = append(l.order, rest, stopped)
	l.emit(ins{op: opPoll, yes: stopped})
	l.emit(ins{op: opJump, yes: rest})
	l.now = stopped
	return rest
}

func (l *lowering) resume(rest *block) {
	l.emit(ins{op: opJump, yes: rest})
	l.now = rest
}

// begins reports whether a block begins a function or a turn of a loop.
func begins(b *ssa.BasicBlock) bool {
	for _, p := range b.Preds {
		if p.Index >= b.Index {
			return true
		}
	}
	return b.Index == 0
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
	l.emit(ins{op: [...]op{number: opMov, pointer: opMovP, header: opMovH}[k], a: d, b: s})
}
