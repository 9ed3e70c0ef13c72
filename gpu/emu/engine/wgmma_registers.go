package engine

import (
	"slices"

	"warpbook/gpu"
)

// This file checks the registers and the shared memory that products of a warpgroup
// (wgmma.mma_async) use until wgmma.wait_group has waited for them: sums must not be
// touched, rows of A in registers must not be written, tiles must not be written, and
// wgmma.fence stands between other uses of the registers and a product.
//
// A flow analysis finds the instructions that may touch such a register on some path.
// Only they are checked while the program runs.

func (o *op) product() bool {
	return o.in.src != nil && o.in.src.Opcode == "wgmma" && slices.Contains(o.in.src.Modifiers, "mma_async")
}

func (o *op) wgmma(word string) bool {
	return o.in.src != nil && o.in.src.Opcode == "wgmma" && slices.Contains(o.in.src.Modifiers, word)
}

// productRegisters calls f for the sums and the rows of A in registers of a product.
func (o *op) productRegisters(f func(reg int, sum bool)) {
	for _, b := range o.binds {
		if b.value.kind == registerValue && b != o.guard && (b.def || !b.kept && b.value.width == word) {
			f(b.value.reg, b.def)
		}
	}
}

// watchProducts puts checks before the ops that may touch registers of products under way.
func (lo *lowering) watchProducts(c *code) {
	if !slices.ContainsFunc(c.ops, (*op).product) {
		return
	}
	index := map[int]int{}
	c.flow(func(o *op, busy bitset) {
		if o.dropped {
			return
		}
		for _, b := range o.binds {
			if b.value.kind == registerValue && busy.has(b.value.reg) && !(o.product() && (b.def || b.kept)) {
				index[b.value.reg] = len(index)
			}
		}
		if o.copies(busy) {
			index[o.binds[0].value.reg] = len(index)
		}
	})
	n := 0
	for r := range index {
		index[r] = n
		n++
	}
	lo.prog.flights = n
	touched := c.touchedProducts()
	for _, o := range c.ops {
		if !o.dropped {
			lo.watchProduct(o, index, touched)
		}
	}
}

// copies reports whether an op moves a register of a product under way.
func (o *op) copies(busy bitset) bool { return o.move && !o.product() && o.reads(busy) }

// flow calls f for each op with the registers of products that may be under way before it.
func (c *code) flow(f func(o *op, busy bitset)) {
	// A set has two halves: registers of products under way, and those not committed yet.
	half := len(newBitset(c.regs))
	in := make([]bitset, len(c.blocks))
	for i := range in {
		in[i] = make(bitset, 2*half)
	}
	step := func(o *op, both bitset) {
		busy, open := both[:half], both[half:]
		switch {
		case o.dropped:
		case o.product():
			o.productRegisters(func(reg int, _ bool) { busy.add(reg); open.add(reg) })
		case o.wgmma("commit_group"):
			clear(open)
		case o.wgmma("wait_group") && o.in.sub == 0:
			copy(busy, open)
		case o.copies(busy):
			busy.add(o.binds[0].value.reg)
		}
	}
	for again := true; again; {
		again = false
		for i, b := range c.blocks {
			out := slices.Clone(in[i])
			for _, o := range c.ops[b.from:b.to] {
				step(o, out)
			}
			for _, s := range b.next {
				for j, v := range out {
					if in[s][j]|v != in[s][j] {
						in[s][j] |= v
						again = true
					}
				}
			}
		}
	}
	for i, b := range c.blocks {
		for _, o := range c.ops[b.from:b.to] {
			f(o, in[i][:half])
			step(o, in[i])
		}
	}
}

// touchedProducts are the registers of products, if another op than a move may write one
// without a wgmma.fence before the product.
func (c *code) touchedProducts() bitset {
	registers := newBitset(c.regs)
	for _, o := range c.ops {
		if o.product() {
			o.productRegisters(func(reg int, _ bool) { registers.add(reg) })
		}
	}
	writes := func(o *op) bool {
		return !o.dropped && !o.move && !o.product() && slices.ContainsFunc(o.binds, func(b *bind) bool { return b.def && registers.has(b.value.reg) })
	}
	in, reached := make([]bool, len(c.blocks)), false
	for again := true; again; {
		again = false
		for i, b := range c.blocks {
			touched := in[i]
			for _, o := range c.ops[b.from:b.to] {
				switch {
				case writes(o):
					touched = true
				case o.wgmma("fence"):
					touched = false
				case o.product():
					reached = reached || touched
				}
			}
			for _, s := range b.next {
				if touched && !in[s] {
					in[s], again = true, true
				}
			}
		}
	}
	if !reached {
		clear(registers)
	}
	return registers
}

// watchProduct puts the checks of products before an op, and what it does to their state.
func (lo *lowering) watchProduct(o *op, index map[int]int, touched bitset) {
	before := func(exec func(w *warp, in *instr, m uint32)) {
		o.checks = append(o.checks, instr{flow: checked, sub: guarded, src: o.in.src, exec: exec})
	}
	switch {
	case o.product():
		var sums, rows []int
		o.productRegisters(func(reg int, sum bool) {
			if i, ok := index[reg]; ok && sum {
				sums = append(sums, i)
			} else if ok {
				rows = append(rows, i)
			}
		})
		before(func(w *warp, in *instr, m uint32) { w.startProduct(in, m, sums, rows) })
		return
	case o.wgmma("fence"):
		before(func(w *warp, _ *instr, _ uint32) {
			w.product.began, w.product.fenced, w.product.touched = true, true, false
		})
		return
	}
	from := -1
	for _, b := range o.binds {
		if b.value.kind != registerValue {
			continue
		}
		if b.def && touched.has(b.value.reg) && !o.move {
			before(func(w *warp, _ *instr, _ uint32) { w.product.touched = true })
		}
		i, ok := index[b.value.reg]
		switch name := lo.fn.Registers[b.value.reg].Name; {
		case !ok:
		case o.move && !b.def:
			from = i
		case b.def:
			before(func(w *warp, in *instr, m uint32) { w.writeInFlight(in, m, i, name) })
		default:
			before(func(w *warp, in *instr, m uint32) { w.readInFlight(in, m, i, name) })
		}
	}
	if from < 0 {
		return
	}
	if to, ok := index[o.binds[0].value.reg]; ok {
		before(func(w *warp, _ *instr, _ uint32) {
			f := w.product.flights[from]
			f.copied = true
			w.product.flights[to] = f
		})
	}
}

// underWay is the product under way that has a register, or nil.
func (w *warp) underWay(i int) *flight {
	if f := &w.product.flights[i]; f.group > w.product.done && w.block.checksAsync() {
		return f
	}
	return nil
}

// startProduct checks the registers of a product and notes that it has them.
func (w *warp) startProduct(in *instr, m uint32, sums, rows []int) {
	s := &w.product
	if w.block.checksAsync() {
		switch {
		case !s.began:
			w.fail(in, lowest(m), gpu.ErrRace, "no wgmma.fence was run before the first product: run it between the writes of its registers and the product")
			return
		case s.touched && !s.fenced:
			w.fail(in, lowest(m), gpu.ErrRace, "registers of the product were written since the last wgmma.wait_group, and no wgmma.fence stands between: run it before the product")
			return
		}
	}
	for _, i := range rows {
		if f := w.underWay(i); f != nil && f.sum {
			w.tooEarly(in, m, f, "a register of its A is a sum")
			return
		}
	}
	for _, i := range sums {
		s.flights[i] = flight{group: len(w.products) + 1, src: in.src, sum: true}
	}
	for _, i := range rows {
		if w.underWay(i) == nil || !s.flights[i].sum {
			s.flights[i] = flight{group: len(w.products) + 1, src: in.src}
		}
	}
}

func (w *warp) writeInFlight(in *instr, m uint32, i int, name string) {
	switch f := w.underWay(i); {
	case f == nil:
	case f.copied:
		*f = flight{}
	case f.sum:
		w.tooEarly(in, m, f, "it writes register "+name+", a sum")
	default:
		w.tooEarly(in, m, f, "it writes register "+name+", a factor")
	}
}

func (w *warp) readInFlight(in *instr, m uint32, i int, name string) {
	if f := w.underWay(i); f != nil && f.sum {
		w.tooEarly(in, m, f, "it reads register "+name+", a sum")
	}
}

// tooEarly is the fault of an instruction that touches a register of a product under way.
func (w *warp) tooEarly(in *instr, m uint32, f *flight, what string) {
	b := w.block
	remedy := "run wgmma.wait_group first"
	if f.group > len(w.products) {
		remedy = "run wgmma.commit_group after the product, and wgmma.wait_group before this"
	}
	product := &instr{src: f.src}
	w.fail(in, lowest(m), gpu.ErrRace, "%s of %s at %s, which is under way: %s", what, f.src.Name(), b.prog.placeOf(product), remedy)
	b.raceWith(product, w, lowest(m))
}

// readsProduct notes 16 bytes that a product reads.
func (w *warp) readsProduct(in *instr, at uint64) {
	if r := w.block.races; r != nil {
		w.product.reads = append(w.product.reads, productRead{len(w.products) + 1, in.mem.pc, at, r.Warps.Now + 1})
	}
}

// endProducts records that a wait has waited for groups of products. Their reads of shared
// memory end with the first wait of the warpgroup; a warp that waits later is ordered
// behind that wait.
func (w *warp) endProducts(ended int) {
	s, b := &w.product, w.block
	if ended <= s.done {
		s.fenced = false
		return
	}
	r := b.races
	if r != nil {
		leader := w.index &^ 3
		for len(b.groupEnds) <= leader {
			b.groupEnds = append(b.groupEnds, nil)
		}
		ends := &b.groupEnds[leader]
		if len(*ends) < ended {
			w.productReads(ended)
			now := r.Tick()
			for len(*ends) < ended {
				*ends = append(*ends, groupEnd{w.index, now})
			}
		}
		for _, e := range (*ends)[s.done:ended] {
			if e.warp != w.index {
				r.Warps.Join(1<<e.warp, e.time, 1<<w.index)
			}
		}
	}
	s.done, s.fenced = ended, false
}

// keptUntilRead reports whether 16 bytes are as they were when the product began.
func (w *warp) keptUntilRead(read productRead) bool {
	b, r := w.block, w.block.races
	for at := read.at &^ (r.CellBytes() - 1); at < read.at+16; at += r.CellBytes() {
		c := r.Written(at)
		if c == nil || c.Epoch < read.time {
			continue
		}
		first, by := &b.prog.code[c.PC()], b.warps[c.Warp()]
		w.fail(&b.prog.code[read.pc], 0, gpu.ErrRace, "%s, which this product reads, was written by thread %v with %s at %s before wgmma.wait_group: wait for the product first",
			b.launch.sharedPlace(at), b.thread(by.index*32+c.Lane()), first.src.Name(), b.prog.placeOf(first))
		b.raceWith(first, by, c.Lane())
		return false
	}
	return true
}

// productReads looks for races with the reads of the warpgroup's products that have ended.
func (w *warp) productReads(ended int) {
	for _, other := range w.warpgroup() {
		other.product.reads = slices.DeleteFunc(other.product.reads, func(read productRead) bool {
			if read.group > ended {
				return false
			}
			if w.block.fault == nil && other.keptUntilRead(read) {
				w.addr[0] = read.at
				(search{}).shared(w, &w.block.prog.code[read.pc], 1)
			}
			return true
		})
	}
	w.meet(w.alive)
}
