package bytecode

import "unsafe"

// layout orders the blocks and makes the instructions.
func (l *lowering) layout(c *code) {
	for _, b := range l.order {
		b.clean()
	}
	for _, b := range l.order {
		for i := range b.ins {
			b.ins[i].yes, b.ins[i].no = thread(b.ins[i].yes), thread(b.ins[i].no)
		}
	}
	for _, b := range l.order {
		b.invert()
	}
	var placed []*block
	place := func(b *block) {
		for b != nil && !b.placed {
			b.placed = true
			placed = append(placed, b)
			b = b.ins[len(b.ins)-1].next()
		}
	}
	place(l.order[0])
	place(l.recovery)
	for i := 0; i < len(placed); i++ {
		for k := range placed[i].ins {
			place(placed[i].ins[k].yes)
			place(placed[i].ins[k].no)
		}
	}
	pos := 0
	for i, b := range placed {
		b.pos = pos
		n := len(b.ins)
		if last := b.ins[n-1]; last.op == opJump && i+1 < len(placed) && last.yes == placed[i+1] {
			b.ins, n = b.ins[:n-1], n-1
		}
		pos += n
	}
	for _, b := range placed {
		for i := range b.ins {
			c.instrs = append(c.instrs, b.ins[i].final())
			c.checks = append(c.checks, int32(b.ins[i].check))
		}
	}
	if l.recovery != nil {
		c.unwind = uintptr(l.recovery.pos) * unsafe.Sizeof(instr{})
	}
	c.instrs = append(c.instrs, instr{}) // the machine reads one instruction ahead
}

// clean removes moves from a register to itself.
func (b *block) clean() {
	kept := b.ins[:0]
	for _, in := range b.ins {
		if !((in.isMove() || in.op == opMovNum) && in.a == in.b) {
			kept = append(kept, in)
		}
	}
	b.ins = kept
}

// thread returns the final target of a chain of jumps.
func thread(b *block) *block {
	for range 100 {
		if b == nil || len(b.ins) != 1 || b.ins[0].op != opJump {
			break
		}
		b = b.ins[0].yes
	}
	return b
}

// maxTail is how many instructions before a branch are copied to save the jump.
const maxTail = 3

// invert replaces a jump to a block that ends in a branch by a copy of that block, so
// that a loop takes one branch per turn.
func (b *block) invert() {
	for range 4 {
		n := len(b.ins) - 1
		last := b.ins[n]
		if last.op != opJump {
			return
		}
		to := last.yes
		if to == b || len(to.ins) > maxTail+1 || !isBranch(to.ins[len(to.ins)-1].op) {
			return
		}
		b.ins = append(b.ins[:n:n], to.ins...)
		b.count()
	}
}

// count merges i += k and the branch on i < n into one instruction.
func (b *block) count() {
	n := len(b.ins)
	if n < 2 {
		return
	}
	add, br := b.ins[n-2], b.ins[n-1]
	if add.op != opAddI || br.op != opBrLtS || add.a != add.b || add.a != br.a || add.imm != int64(int16(add.imm)) || !polls(br.yes) {
		return
	}
	br.op, br.c = opCountLtS, int(add.imm)
	b.ins = append(b.ins[:n-2], br)
}

// polls reports whether a block begins with a poll of the interrupt flag.
func polls(b *block) bool { return b != nil && b.ins[0].op == opPoll }

// next is the block that is best placed after an instruction.
func (in *ins) next() *block {
	if in.no != nil && !in.no.placed && in.op != opPoll && in.yes.placed {
		return in.no
	}
	return in.yes
}

// final is the instruction as the machine executes it.
func (in *ins) final() instr {
	out := instr{op: in.op, a: uint16(in.a), b: uint16(in.b), c: uint16(in.c), imm: in.imm}
	if in.yes == nil {
		return out
	}
	yes, no := int32(in.yes.pos*int(unsafe.Sizeof(instr{}))), int32(0)
	if in.no != nil {
		no = int32(in.no.pos * int(unsafe.Sizeof(instr{})))
	}
	out.imm = pack(yes, no)
	if o, ok := loopOf[in.op]; ok && polls(in.yes) {
		out.op = o
	}
	return out
}
