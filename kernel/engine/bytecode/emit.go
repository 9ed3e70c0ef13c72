package bytecode

import (
	"fmt"
	"go/types"
	"slices"
	"sync"
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

// lowering is a function that is being compiled: its values, the plan of merged
// instructions, and the instructions so far.
type lowering struct {
	*values
	*merging
	f         *Function
	fn        *ssa.Function
	parts     map[ssa.Value][]int       // results of calls with several results
	results   map[ssa.Value][]result    // of other instructions with several results
	iterators map[*ssa.Range]int        // of ranges that the machine executes
	compiled  map[*ssa.Call]*native     // calls of compiled functions
	appended  map[*ssa.Call][]ssa.Value // single elements of calls of append
	spills    map[*ssa.Store]bool       // of records to variables that are only read
	settled   map[ssa.Value]bool        // variables that do not change after the first load
	blocks    map[*ssa.BasicBlock]*block
	recovery  *block // after a recovered panic, nil if the function defers nothing
	order     []*block
	now       *block
	held      []int                       // vregs of the variables of the statement that is lowered
	slots     map[ssa.Value]slot          // of these values, of all statements
	variables map[ssa.Value]int           // vregs of variables, by their addresses
	keys      map[*ssa.MakeInterface]bool // interfaces that are only keys of maps
	updated   map[*ssa.MapUpdate]bool     // elements that were looked up just before
	within    *enclosing                  // nil unless it is a deferred closure that uses the registers of the call that defers it
	leaves    bool                        // it calls interpreted functions through the engine, which needs more stack than the engine alone
	polls     bool                        // it polls at the start of each iteration of a loop, because the code does not

	escapes    []escape
	calls      []call
	deferrals  []deferral
	captured   []captured
	ends       []call // RunDefers
	returns    []results
	slices     []slicing
	accesses   []mapAccess
	ranges     []ranging
	appends    []appending
	selections []selecting
	sortings   []sorting
	makings    []making
	concats    [][]int
	assertions []asserting
	news       []unsafe.Pointer
	math1      []func(float64) float64
	math2      []func(x, y float64) float64
}

// result is the place of one of the results of an instruction.
type result struct {
	reg  int // -1 if it is boxed
	at   int // in the frame, -1 if it is not used
	used *ssa.Extract
}

// emit adds an instruction without a check to the current block. Inlined, its copies take
// 25 KB of code.
//
//go:noinline
func (l *lowering) emit(in ins) *ins {
	in.check = -1
	l.now.ins = append(l.now.ins, in)
	return &l.now.ins[len(l.now.ins)-1]
}

// checked emits an instruction that the engine executes if a check fails: the
// instruction of the function that is being lowered, or another one.
func (l *lowering) checked(in ins, failing ssa.Instruction) {
	l.emit(in).check = l.escape(failing)
	at := &l.now.ins[len(l.now.ins)-1]
	at.uses = append(append(at.uses, l.boxUses(at.check)...), l.held...)
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
		if _, ok := l.variables[v]; ok { // a deferred closure captures it
			return
		}
		if x, ok := v.(*ssa.MakeInterface); ok && l.keys[x] {
			s := l.slot(x.X)
			s.at, _ = l.pfn.at(x)
			seen[v], e.boxes = true, append(e.boxes, s)
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
		if m, ok := (*o).(*ssa.MakeClosure); !ok || !l.skip[m] {
			add(*o)
		}
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
	e := l.escape(in)
	out := ins{op: opEngine, imm: int64(e), uses: append(l.boxUses(e), l.held...)}
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
	if _, ok := in.(*ssa.Defer); ok {
		out.op = opDeferByEngine
	}
	if c, ok := in.(*ssa.Call); ok {
		if f := calledBack(&c.Call); f != nil {
			if at, ok := l.pfn.at(f); ok {
				out.op, l.escapes[e].calledBack, l.escapes[e].lends = opCallBack, at, &sync.Pool{}
			}
		}
		if fn, ok := c.Call.Value.(*ssa.Builtin); ok && fn.Name() == "recover" && l.escapes[e].result.class == dynamic {
			out.op = opRecover
			if next, ok := soleUse(c).(*ssa.Call); ok && l.compiled[next] != nil && next.Call.Value.String() == l.host.Recovered && nextOf(c.Block().Instrs[slices.Index(c.Block().Instrs, in)+1:]) == next {
				out.a, l.vreg[next] = 1, l.reg(c)
			}
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
	case *ssa.Defer: // it makes all that the function defers
		return true
	}
	return false
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
