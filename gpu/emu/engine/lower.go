package engine

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/emu/flow"
	"warpbook/gpu/emu/special"
	"warpbook/gpu/ptx"
)

// program lowers the entry.
func (lo *lowering) program() error {
	if err := lo.layout(); err != nil {
		return err
	}
	fn, g := lo.fn, flow.NewGraph(lo.fn)
	starts := make([]int, len(fn.Code)+1)
	for i := range fn.Code {
		starts[i] = len(lo.ops)
		if err := lo.instruction(&fn.Code[i]); err != nil {
			return err
		}
	}
	starts[len(fn.Code)] = len(lo.ops)
	lo.boundAccesses()
	lo.markUseless()
	c, entries := lo.arrange(g, starts)
	lo.allocate(c)
	lo.assemble(c, entries)
	return nil
}

// instruction lowers one instruction of the text to one op.
func (lo *lowering) instruction(src *ptx.Instruction) error {
	lo.op = &op{}
	lo.op.in.src = src
	if src.Guard >= 0 {
		if src.Negated {
			lo.op.in.flip = all
		}
		if err := lo.bindRegister(&lo.op.in.guard, src.Guard, "the guard", predicate, false); err != nil {
			return err
		}
		lo.op.guard = lo.op.binds[0]
		lo.op.binds = nil
	}
	form, ok := lo.forms[src.Opcode]
	if !ok {
		return lo.noForm()
	}
	if err := lo.target(needs[src.Opcode]); err != nil {
		return err
	}
	if err := lo.misspelt(form(lo)); err != nil {
		return err
	}
	lo.checkDivisor()
	if lo.op.guard != nil {
		// Behind the others: a move's operands come first.
		lo.op.binds = append(lo.op.binds, lo.op.guard)
	}
	lo.ops = append(lo.ops, lo.op)
	return nil
}

// arrange puts the ops in the order of the graph, with jumps where a block does not fall
// through to its successor, and returns the position of each source block.
func (lo *lowering) arrange(g *flow.Graph, starts []int) (*code, map[int]int) {
	c := &code{regs: len(lo.fn.Registers)}
	position := map[int]int{}
	for i, b := range g.Order {
		position[b] = i
	}
	entries := map[int]int{} // index in the text -> op
	for i, b := range g.Order {
		n := &g.Blocks[b]
		s := span{from: len(c.ops)}
		entries[n.From] = s.from
		c.ops = append(c.ops, lo.ops[starts[n.From]:starts[n.To]]...)
		if j, ok := lo.leads(g, b, i); ok {
			c.ops = append(c.ops, j)
		}
		s.to = len(c.ops)
		for _, x := range n.Next {
			s.next = append(s.next, position[x])
		}
		c.blocks = append(c.blocks, s)
	}
	return c, entries
}

// leads is the op that ends a block if control can leave it at its end and the next
// block of the text does not stand next.
func (lo *lowering) leads(g *flow.Graph, b, i int) (*op, bool) {
	n := &g.Blocks[b]
	falls := n.From == n.To
	if !falls {
		last := &lo.fn.Code[n.To-1]
		falls = !flow.Ends(last) || last.Guard >= 0
	}
	if !falls {
		return nil, false
	}
	if b+1 == len(g.Blocks) {
		return &op{in: instr{flow: leave}}, true
	}
	if i+1 < len(g.Order) && g.Order[i+1] == b+1 {
		return nil, false
	}
	return &op{in: instr{flow: jump}, at: g.Blocks[b+1].From, jumps: true}, true
}

// allocate finds the registers to watch and assigns a place to every operand.
func (lo *lowering) allocate(c *code) {
	widths := make([]width, c.regs)
	for r := range widths {
		widths[r] = widthOf(lo.fn.Registers[r].Type)
	}
	unset, halved := c.maybeUnset()
	c.propagate(unset)
	c.dropUnread()
	lo.watch(c, unset, halved)
	lo.watchProducts(c)
	c.findThreadConstants(unset)
	next := lo.placePresets(c)
	place, end, preds := c.slots(widths, next)
	lo.prog.places = place
	lo.prog.slotBytes, lo.prog.preds = end, preds+lo.prog.preds
	for _, o := range c.ops {
		for _, b := range o.binds {
			if b.value.kind == registerValue {
				*b.field = place[b.value.reg]
			}
		}
	}
	for i := range lo.prog.presets { // constant predicates stand after the registers
		if p := &lo.prog.presets[i]; p.value.width == predicate {
			p.offset += uint32(preds)
		}
	}
	for _, o := range c.ops {
		for _, b := range o.binds {
			if b.value.kind != registerValue && b.value.width == predicate {
				*b.field += uint32(preds)
			}
		}
		if o.constant {
			lo.prog.constantOps = append(lo.prog.constantOps, o.in)
		}
	}
}

// placePresets gives every distinct preset a slot and returns the first free offset
// after them.
func (lo *lowering) placePresets(c *code) int {
	p := lo.prog
	places := map[value]uint32{}
	next := 0
	for _, o := range c.ops {
		if o.dropped && !o.constant {
			continue
		}
		for _, b := range o.binds {
			if b.value.kind == registerValue {
				continue
			}
			at, ok := places[b.value]
			if !ok && b.value.width == predicate {
				at = uint32(p.preds)
				p.preds++
			} else if !ok {
				at = uint32(next)
				next += b.value.width.slot()
			}
			if !ok {
				places[b.value] = at
				p.presets = append(p.presets, preset{b.value, at})
			}
			*b.field = at
		}
	}
	for _, s := range p.presets {
		if f := special.OfBlock[s.value.name]; s.value.kind == specialValue && f != nil {
			p.placed = append(p.placed, placed{s, f})
		}
	}
	return next
}

// assemble writes the code and finds the targets of branches.
func (lo *lowering) assemble(c *code, entries map[int]int) {
	p := lo.prog
	at := make([]int32, len(c.ops)+1)
	for _, b := range c.blocks {
		lo.assembleBlock(c, b, at)
	}
	at[len(c.ops)] = int32(len(p.code))
	p.vectorise()
	p.before = append(p.before, p.counted)
	target := func(label string) int32 { return at[entries[lo.fn.Labels[label]]] }
	for i, o := range c.ops {
		if o.dropped {
			continue
		}
		in := &p.code[at[i]+int32(len(o.checks))]
		switch {
		case o.jumps:
			in.target = at[entries[o.at]]
		case o.label != "":
			in.target = target(o.label)
		case o.table != nil:
			for _, label := range o.table {
				in.x.targets = append(in.x.targets, target(label))
			}
		}
	}
	p.findSkips()
	p.findLeaving()
	p.addBranches()
}

// assembleBlock writes the code of a block. A dropped op still counts as an instruction
// of the text: together with the next one, or, if it is the last, with one that does
// nothing.
func (lo *lowering) assembleBlock(c *code, b span, at []int32) {
	p := lo.prog
	var constants []*instr
	emit := func(in instr, counts int32, operands []operand) {
		p.constantsAt = append(p.constantsAt, nil)
		if counts > 0 {
			p.constantsAt[len(p.code)], constants = constants, nil
		}
		p.operands = append(p.operands, operands)
		p.code = append(p.code, in)
		p.before = append(p.before, p.counted)
		p.counted += counts
	}
	dropped := int32(0)
	for i := b.from; i < b.to; i++ {
		o := c.ops[i]
		at[i] = int32(len(p.code))
		if o.dropped {
			if dropped++; o.constant {
				constants = append(constants, &o.in)
			}
			continue
		}
		for _, w := range o.checks {
			if w.sub == guarded {
				w.guard, w.flip = o.in.guard, o.in.flip
			}
			emit(w, 0, nil)
		}
		if o.in.src != nil {
			dropped++
			p.marks = p.marks || needsMarks(o.in.src)
			changesMore(&o.in)
			p.asynchronous = p.asynchronous || o.in.src.Opcode == "cp" || o.in.src.Opcode == "wgmma"
		}
		for _, mem := range o.accesses() {
			mem.pc = int32(len(p.code))
			p.stores = p.stores || mem.kind == store && (mem.space == ptx.Global || mem.space == ptx.Generic)
			p.narrow = p.narrow || mem.bytes < 4 && (mem.space == ptx.Shared || mem.space == ptx.Generic)
		}
		emit(o.in, dropped, operandsOf(o))
		dropped = 0
	}
	if dropped > 0 {
		emit(instr{src: c.ops[b.to-1].in.src, exec: func(*warp, *instr, uint32) {}}, dropped, nil)
	}
}

// accesses are the memory accesses of the op.
func (o *op) accesses() []*access {
	var all []*access
	if o.in.mem != nil {
		all = append(all, o.in.mem)
	}
	for _, part := range o.parts {
		all = append(all, part.mem)
	}
	return all
}

// layout places the entry's parameters and shared and local variables.
func (lo *lowering) layout() error {
	p := lo.prog
	lo.symbols = maps.Clone(lo.module.Symbols)
	for _, v := range p.fn.Params {
		p.paramBytes = align(p.paramBytes, v.Align)
		p.params = append(p.params, v)
		p.paramAt = append(p.paramAt, p.paramBytes)
		lo.symbols[v.Name] = Symbol{Space: ptx.Parameter, Address: uint64(p.paramBytes), at: p.paramBytes}
		p.paramBytes += v.Bytes()
	}
	for _, v := range lo.module.Text.Variables {
		if v.Space == ptx.Const {
			p.constants = append(p.constants, v.Name)
		}
	}
	var dynamic []*ptx.Variable
	for _, v := range slices.Concat(lo.module.Text.Variables, lo.fn.Variables) {
		switch {
		case v.Space == ptx.Shared && v.Count == 0:
			dynamic = append(dynamic, v)
		case v.Space == ptx.Shared && lo.uses(v):
			p.static = align(p.static, v.Align)
			lo.placeShared(v, v.Bytes())
			p.static += v.Bytes()
		case v.Space == ptx.Local, v.Space == ptx.Parameter:
			p.localBytes = align(p.localBytes, v.Align)
			lo.symbols[v.Name] = Symbol{Space: ptx.Local, Address: uint64(p.localBytes)}
			if v.Space == ptx.Local {
				p.locals[v.Name] = uint64(p.localBytes)
			}
			p.localBytes += v.Bytes()
		}
	}
	static := p.static // without the padding that aligns dynamic memory
	for _, v := range dynamic {
		if lo.uses(v) {
			p.static = align(p.static, max(v.Align, 16))
		}
	}
	for _, v := range dynamic {
		lo.placeShared(v, math.MaxInt32)
	}
	if p.localBytes > ptx.MostLocal {
		return fmt.Errorf("emu: entry %s at %s:%d: %w: %d bytes of local memory per thread, expected at most %d: use a buffer with a part for each thread",
			p.name, p.file, p.fn.Pos.Line, gpu.ErrMalformed, p.localBytes, ptx.MostLocal)
	}
	p.localUsed, p.localBytes = p.localBytes, align(p.localBytes, 16)
	p.attributes = gpu.Attributes{SharedBytes: static, MaxThreads: maxThreads(p.fn), Block: dim(p.fn.ReqThread), Cluster: dim(p.fn.Cluster)}
	return nil
}

// placeShared places a shared variable after the earlier ones.
func (lo *lowering) placeShared(v *ptx.Variable, bytes int) {
	at := uint64(lo.prog.static)
	lo.symbols[v.Name] = Symbol{Space: ptx.Shared, Address: at}
	lo.prog.shared = append(lo.prog.shared, sharedVariable{v.Name, strings.TrimPrefix(sourceName(v.Name), lo.prog.name+"_"), at, uint64(bytes)})
}

// sourceName is the name in the source of a variable of a function, which
// compilers write as _ZZ8functionE4name.
func sourceName(symbol string) string {
	at := strings.LastIndex(symbol, "E")
	if !strings.HasPrefix(symbol, "_ZZ") || at < 0 {
		return symbol
	}
	rest := strings.TrimLeft(symbol[at+1:], "0123456789")
	if n, err := strconv.Atoi(symbol[at+1 : len(symbol)-len(rest)]); err == nil && n > 0 && n <= len(rest) {
		return rest[:n]
	}
	return symbol
}

func maxThreads(fn *ptx.Function) int {
	if fn.MaxThread == [3]int{} {
		return 0
	}
	n := 1
	for _, d := range fn.MaxThread {
		n *= max(d, 1)
	}
	return n
}

func dim(d [3]int) gpu.Dim { return gpu.Dim{X: d[0], Y: d[1], Z: d[2]} }

func align(n, to int) int {
	if to < 1 {
		return n
	}
	return (n + to - 1) / to * to
}

// uses reports whether the code names a variable: a module's shared variables take
// memory only in the entries that use them.
func (lo *lowering) uses(v *ptx.Variable) bool {
	for i := range lo.fn.Code {
		for _, o := range lo.fn.Code[i].Operands {
			if o.Symbol == v.Name {
				return true
			}
		}
	}
	return slices.Contains(lo.fn.Variables, v)
}
