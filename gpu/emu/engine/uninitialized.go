package engine

import (
	"warpbook/gpu"
	"warpbook/gpu/emu/simd"
	"warpbook/gpu/ptx"
)

// watch inserts checks before the ops that access registers which may be unset, so that
// a use is a fault and not a zero. A copy of an unset register is no fault: compilers
// copy values that are never read. Nor is packing it beside another half, and computing
// with each half alone; of a register in halved, each half is tracked.
func (lo *lowering) watch(c *code, unset, halved bitset) {
	index := map[int]tracked{}
	track := func(reg int) tracked {
		t, ok := index[reg]
		if !ok {
			t.low, t.high = uint32(lo.prog.tracked), uint32(lo.prog.tracked)
			if halved.has(reg) {
				t.high++
			}
			index[reg], lo.prog.tracked = t, int(t.high)+1
		}
		return t
	}
	for _, o := range c.ops {
		if o.dropped {
			continue
		}
		var sources []source
		for i, b := range o.binds {
			if b.def || b.kept || b.value.kind != registerValue || !unset.has(b.value.reg) {
				continue
			}
			passes := o.pass || halved.has(b.value.reg) && o.halfwise()
			if t := track(b.value.reg); passes && b != o.guard && b.value.width != predicate {
				sources = append(sources, source{t, i, b.part})
			} else if k := o.stored(b); k >= 0 {
				o.in.mem.unset[k], o.in.mem.tracks = &t, true
			} else {
				o.check(t, lo.fn.Registers[b.value.reg].Name, b == o.guard)
			}
		}
		for _, b := range o.binds {
			if !b.def || !unset.has(b.value.reg) {
				continue
			}
			if t := track(b.value.reg); t.low != t.high {
				o.mark(t.low, sources, lowHalf)
				o.mark(t.high, sources, highHalf)
			} else {
				o.mark(t.low, sources, b.part)
			}
		}
	}
}

// stored is which component of a store in local memory an operand is, or -1: compilers store the
// padding of the arguments of a call.
func (o *op) stored(b *bind) int {
	mem := o.in.mem
	if mem == nil || !mem.plain || mem.kind != store || mem.space != ptx.Local {
		return -1
	}
	for k := range mem.count {
		if b.field == &mem.regs[k] {
			return k
		}
	}
	return -1
}

// source is a source that may be unset and passes through: its number, its operand, and
// the half of the result that it is.
type source struct {
	tracked
	operand int
	part    part
}

// check inserts a check of a register before the op. The guard itself is checked in all
// lanes, other registers in the lanes that the guard selects.
func (o *op) check(t tracked, name string, guard bool) {
	in := instr{flow: checked, src: o.in.src, exec: func(w *warp, in *instr, m uint32) {
		if bad := m &^ (w.set[t.low] & w.set[t.high]); bad != 0 && w.block.checks.Has(gpu.CheckUninitialized) && !w.block.launch.known(in) {
			if v := w.block.launch.unwrittenVariable(in); v != "" {
				w.undefinedUse(in, lowest(bad), gpu.ErrUninitialized, "%s was never written: give it a value where it is declared", v)
				return
			}
			w.undefinedUse(in, lowest(bad), gpu.ErrUninitialized, "register %s was never written", name)
		}
	}}
	if guard {
		o.checks = append([]instr{in}, o.checks...)
		return
	}
	in.sub = guarded
	o.checks = append(o.checks, in)
}

// guarded marks a check that runs under the guard of its op.
const guarded = 1

// mark notes before the op in which lanes it sets a part of its destination: those in which
// all sources of the part that pass through are set, or, for selp, the selected one. The value
// of a shuffle is that of the lane which is read.
func (o *op) mark(r uint32, sources []source, result part) {
	var of []source
	for _, s := range sources {
		switch {
		case s.part != whole && result != whole && s.part != result:
			continue // the other half
		case result == lowHalf:
			s.high = s.low
		case result == highHalf:
			s.low = s.high
		}
		of = append(of, s)
	}
	selp, x := o.in.src.Opcode == "selp", o.in.x
	o.checks = append(o.checks, instr{sub: guarded, src: o.in.src, exec: func(w *warp, in *instr, m uint32) {
		ok := m
		for _, s := range of {
			taken := uint32(all)
			if selp {
				if taken = w.preds[x.p] ^ x.pflip; s.operand == 2 {
					taken = ^taken
				}
			}
			set := w.set[s.low] & w.set[s.high]
			if o.in.src.Opcode == "shfl" && o.binds[s.operand].field == &o.in.a {
				set = w.shuffledSet(&o.in, m, set)
			}
			ok &= set | ^taken
		}
		w.set[r] = w.set[r]&^m | ok
	}})
}

// shuffledSet are the lanes of m that a shuffle gives a value which is set. Values of absent
// lanes are followed on their own, see undefined.go.
func (w *warp) shuffledSet(in *instr, m, set uint32) (ok uint32) {
	b, c := lanes[uint32](w, in.b), lanes[uint32](w, in.c)
	for x := m; x != 0; x &= x - 1 {
		l := lowest(x)
		from, _ := simd.ShuffleSource(in.sub, uint32(l), b[l], c[l])
		if (set|^m)>>from&1 != 0 {
			ok |= 1 << l
		}
	}
	return ok
}
