package bytecode

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"
)

// operands calls use and def with the vregs of an instruction.
func (in *ins) operands(use, def func(int)) {
	role := roles[in.op]
	for i, v := range [...]int{in.a, in.b, in.c} {
		switch role[i] {
		case 'u':
			use(v)
		case 'd':
			def(v)
		}
	}
	for _, v := range in.uses {
		use(v)
	}
	for _, v := range in.defs {
		def(v)
	}
}

// maxVregs bounds the time of register assignment.
const maxVregs = 6000

// allocation assigns registers.
type allocation struct {
	l         *lowering
	interfere []bitset
	rep       []int
}

// finish assigns registers and orders the blocks.
func (l *lowering) finish() (*code, error) {
	if len(l.vregs) > maxVregs {
		return nil, fmt.Errorf("bytecode: %v: %d values, at most %d", l.fn, len(l.vregs), maxVregs)
	}
	a := &allocation{l: l, rep: make([]int, len(l.vregs))}
	for i := range a.rep {
		a.rep[i] = i
	}
	l.depths()
	a.liveness()
	if err := a.undefined(); err != nil {
		return nil, err
	}
	a.graph()
	a.coalesce()
	size, constAt := a.assign()
	if size > 60000 {
		return nil, fmt.Errorf("bytecode: %v: %d registers", l.fn, size)
	}
	l.substitute(a)
	c := &code{pfn: l.pfn, engine: slices.Clone(l.pfn.Instrs), size: size, constAt: constAt, flag: l.host.Flag, stop: l.host.Stop, kill: l.host.Kill, overflow: l.host.Overflow, deep: l.host.Deep, debugged: l.host.Debugged,
		entry: l.entry, escapes: l.escapes, calls: l.calls, deferrals: l.deferrals, captured: l.captured, ends: l.ends, returns: l.returns, slices: l.slices, accesses: l.accesses, ranges: l.ranges, appends: l.appends, selections: l.selections, sortings: l.sortings, makings: l.makings, concats: l.concats, assertions: l.assertions, news: l.news, math1: l.math1, math2: l.math2}
	c.probed, c.held, c.wrapper = l.f.probed, l.slots, wraps(l.fn)
	c.alone = l.recovery == nil && !slices.ContainsFunc(l.calls, func(cl call) bool { return cl.native == nil })
	if l.host.Probes != nil {
		c.flags = l.host.Probes.Flags
	}
	c.engine[0], c.functions = l.f.engine, l.f.program.functions
	c.numbers, c.pointers = make([]uint64, size-constAt), make([]unsafe.Pointer, size-constAt)
	onlyNumbers, onlyPointers := true, true
	for _, v := range l.vregs {
		if v.static && v.reg >= 0 {
			c.numbers[v.reg-constAt], c.pointers[v.reg-constAt] = v.number, v.ptr
			if v.class == header {
				c.numbers[v.reg-constAt+1] = v.more
			}
			if v.class == dynamic {
				c.pointers[v.reg-constAt+1] = v.data
			}
			onlyNumbers = onlyNumbers && v.class == number
			onlyPointers = onlyPointers && v.class != number && v.class != header
		}
	}
	if onlyNumbers {
		c.pointers = nil
	}
	if onlyPointers {
		c.numbers = nil
	}
	l.layout(c)
	return c, nil
}

// depths estimates the loop depth of blocks: a loop is the blocks between the target of
// a backward jump and the jump.
func (l *lowering) depths() {
	for _, b := range l.fn.Blocks {
		for _, s := range b.Succs {
			if s.Index <= b.Index {
				for k := s.Index; k <= b.Index; k++ {
					if x := l.blocks[l.fn.Blocks[k]]; x != nil {
						x.depth++
					}
				}
			}
		}
	}
	for _, b := range l.order {
		for i := range b.ins { // of edges, the depth of their target
			if y := b.ins[i].yes; b.depth == 0 && y != nil && b.ins[i].op == opJump {
				b.depth = y.depth
			}
		}
	}
}

func (a *allocation) liveness() {
	n := len(a.l.vregs)
	for _, b := range a.l.order {
		b.live = newBitset(n)
	}
	for changed := true; changed; {
		changed = false
		for i := len(a.l.order) - 1; i >= 0; i-- {
			b := a.l.order[i]
			live := a.liveOut(b)
			for k := len(b.ins) - 1; k >= 0; k-- {
				a.step(&b.ins[k], live)
			}
			if b.live.or(live) {
				changed = true
			}
		}
	}
}

// undefined reports a value that may be read before it is written.
func (a *allocation) undefined() (err error) {
	a.l.order[0].live.all(func(i int) {
		if v := &a.l.vregs[i]; !v.fixed && !v.static {
			err = fmt.Errorf("bytecode: %v: a value is read before it is written", a.l.fn)
		}
	})
	return err
}

func (a *allocation) liveOut(b *block) bitset {
	live := newBitset(len(a.l.vregs))
	if a.l.recovery != nil { // any instruction may panic, and a deferred call recover
		live.or(a.l.recovery.live)
	}
	for i := range b.ins {
		for _, s := range []*block{b.ins[i].yes, b.ins[i].no} {
			if s != nil {
				live.or(s.live)
			}
		}
	}
	return live
}

// step updates live registers backwards across an instruction.
func (a *allocation) step(in *ins, live bitset) {
	in.operands(func(int) {}, live.remove)
	in.operands(live.add, func(int) {})
}

// isMove reports whether an instruction only copies a value of the same class.
func (in *ins) isMove() bool {
	return in.op == opMov || in.op == opMovP || in.op == opMovH || in.op == opMovI
}

func (a *allocation) graph() {
	n := len(a.l.vregs)
	a.interfere = make([]bitset, n)
	for i := range a.interfere {
		a.interfere[i] = newBitset(n)
	}
	for _, b := range a.l.order {
		live := a.liveOut(b)
		for k := len(b.ins) - 1; k >= 0; k-- {
			in := &b.ins[k]
			var defs []int
			in.operands(func(int) {}, func(d int) { defs = append(defs, d) })
			for _, d := range defs {
				live.all(func(v int) {
					if v != d && !(in.isMove() && v == in.b) {
						a.edge(d, v)
					}
				})
				for _, e := range defs {
					if e != d {
						a.edge(d, e)
					}
				}
			}
			a.step(in, live)
		}
	}
	for i := range a.l.vregs { // parameters have values at the entry
		if a.l.vregs[i].fixed {
			a.l.order[0].live.all(func(v int) {
				if v != i {
					a.edge(i, v)
				}
			})
		}
	}
}

func (a *allocation) edge(x, y int) { a.interfere[x].add(y); a.interfere[y].add(x) }

func (a *allocation) find(v int) int {
	for a.rep[v] != v {
		v = a.rep[v]
	}
	return v
}

// coalesce gives both sides of a move one register where it can, those of inner
// loops first.
func (a *allocation) coalesce() {
	type move struct{ d, s, depth int }
	var moves []move
	for _, b := range a.l.order {
		for i := range b.ins {
			if in := &b.ins[i]; in.isMove() {
				moves = append(moves, move{in.a, in.b, b.depth})
			}
		}
	}
	slices.SortStableFunc(moves, func(x, y move) int { return cmp.Compare(y.depth, x.depth) })
	for _, m := range moves {
		d, s := a.find(m.d), a.find(m.s)
		v, w := &a.l.vregs[d], &a.l.vregs[s]
		if d == s || v.class != w.class || v.static || w.static || v.own || w.own || v.fixed && w.fixed || a.interfere[d].has(s) {
			continue
		}
		if w.fixed {
			d, s = s, d
		}
		a.rep[s] = d
		a.interfere[d].or(a.interfere[s])
		a.interfere[s].all(func(x int) { a.interfere[x].add(d) })
	}
}

// assign gives each class of vregs a register: parameters first, constants last.
func (a *allocation) assign() (size, constAt int) {
	size = a.l.first
	for i := range a.l.vregs {
		if v := &a.l.vregs[i]; v.fixed {
			size = max(size, v.reg+width(v.class))
		}
	}
	own := newBitset(size + 2*len(a.l.variables) + 2)
	for i := range a.l.vregs {
		v := &a.l.vregs[i]
		if v.own && !v.fixed {
			v.reg = size
			size += width(v.class)
		}
		if v.own {
			own.add(v.reg)
			own.add(v.reg + width(v.class) - 1)
		}
	}
	for i := range a.l.vregs {
		v := &a.l.vregs[i]
		if a.find(i) != i || v.fixed || v.own || v.static {
			continue
		}
		taken := newBitset(size + 4)
		copy(taken, own)
		a.interfere[i].all(func(x int) {
			x = a.find(x)
			if w := &a.l.vregs[x]; w.reg >= 0 && x != i {
				taken.add(w.reg)
				if width(w.class) == 2 {
					taken.add(w.reg + 1)
				}
			}
		})
		k := a.l.first
		for taken.has(k) || width(v.class) == 2 && taken.has(k+1) {
			k++
		}
		v.reg = k
		size = max(size, k+width(v.class))
	}
	constAt = size
	for i := range a.l.vregs {
		if v := &a.l.vregs[i]; v.static {
			v.reg = size
			size += width(v.class)
		}
	}
	return size, constAt
}

// substitute replaces vregs by registers everywhere.
func (l *lowering) substitute(a *allocation) {
	reg := func(v int) int { return l.vregs[a.find(v)].reg }
	list := func(s []slot) {
		for i := range s {
			if s[i].class != boxed && s[i].reg >= 0 {
				s[i].reg = reg(s[i].reg)
			}
		}
	}
	for _, b := range l.order {
		for i := range b.ins {
			in := &b.ins[i]
			role := roles[in.op]
			for k, at := range []*int{&in.a, &in.b, &in.c} {
				if role[k] != '-' {
					*at = reg(*at)
				}
			}
			if in.condition {
				in.imm = int64(reg(int(in.imm)))
			}
		}
	}
	for i := range l.escapes {
		list(l.escapes[i].boxes)
		one := []slot{l.escapes[i].result}
		list(one)
		l.escapes[i].result = one[0]
	}
	for i := range l.calls {
		cl := &l.calls[i]
		list(cl.args)
		for k := range cl.passed {
			cl.passed[k].from = uint16(cl.args[k].reg)
		}
		list(cl.escape.boxes)
		list(cl.results)
		if cl.value >= 0 {
			cl.value = reg(cl.value)
		}
		if cl.invoked != nil {
			cl.invoked.args = append([]slot{{reg: cl.value + 1}}, cl.args...)
		}
		if len(cl.results) == 1 {
			cl.escape.result.reg = cl.results[0].reg
		}
	}
	for i := range l.deferrals {
		d := &l.deferrals[i]
		list(d.values)
		list(d.escape.boxes)
		if d.value >= 0 {
			d.value = reg(d.value)
		}
		if d.inner != nil {
			for k, v := range d.inner.regs {
				if v >= 0 {
					d.inner.regs[k] = reg(v)
				}
			}
		}
	}
	for i := range l.captured {
		l.captured[i].reg = reg(l.captured[i].reg)
	}
	for i := range l.returns {
		list(l.returns[i].values)
	}
	for v, s := range l.slots {
		s.reg = reg(s.reg)
		l.slots[v] = s
	}
	each := func(places ...*int) {
		for _, at := range places {
			if *at >= 0 {
				*at = reg(*at)
			}
		}
	}
	for i := range l.slices {
		s := &l.slices[i]
		each(&s.lo, &s.hi, &s.max)
	}
	for i := range l.accesses {
		s := &l.accesses[i]
		if each(&s.m, &s.ok, &s.key, &s.elem); s.bare != nil {
			s.bare.reg = s.key
		}
	}
	for i := range l.appends {
		s := &l.appends[i]
		each(&s.from, &s.to, &s.more)
		for k := range s.list {
			each(&s.list[k].reg)
		}
	}
	for i := range l.selections {
		s := &l.selections[i]
		each(&s.index, &s.ok)
		for k := range s.cases {
			each(&s.cases[k].channel, &s.cases[k].value.reg)
		}
	}
	for i := range l.makings {
		k := &l.makings[i]
		each(&k.to, &k.len, &k.cap)
	}
	for _, list := range l.concats {
		for i := range list {
			each(&list[i])
		}
	}
	for i := range l.sortings {
		each(&l.sortings[i].slice, &l.sortings[i].less)
	}
	for i := range l.assertions {
		s := &l.assertions[i]
		each(&s.x, &s.value, &s.ok)
	}
	for i := range l.ranges {
		s := &l.ranges[i]
		each(&s.iterator, &s.of, &s.ok, &s.key, &s.elem)
	}
}
