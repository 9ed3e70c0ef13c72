package engine

import "warpbook/gpu"

// watch inserts checks before the ops that access registers which may be unset, so that
// a use is a fault and not a zero. A copy of an unset register is no fault: compilers
// copy values that are never read.
func (lo *lowering) watch(c *code, unset bitset) {
	index := map[int]uint32{}
	track := func(reg int) uint32 {
		if _, ok := index[reg]; !ok {
			index[reg] = uint32(len(index))
		}
		return index[reg]
	}
	for _, o := range c.ops {
		if o.dropped {
			continue
		}
		var sources []tracked
		for i, b := range o.binds {
			if b.def || b.kept || b.value.kind != registerValue || !unset.has(b.value.reg) {
				continue
			}
			if r := track(b.value.reg); o.pass && b != o.guard && b.value.width != predicate {
				sources = append(sources, tracked{r, i})
			} else {
				o.check(r, lo.fn.Registers[b.value.reg].Name, b == o.guard)
			}
		}
		for _, b := range o.binds {
			if b.def && unset.has(b.value.reg) {
				o.mark(track(b.value.reg), sources)
			}
		}
	}
	lo.prog.tracked = len(index)
}

// check inserts a check of a register before the op. The guard itself is checked in all
// lanes, other registers in the lanes that the guard selects.
func (o *op) check(r uint32, name string, guard bool) {
	in := instr{flow: checked, src: o.in.src, exec: func(w *warp, in *instr, m uint32) {
		if bad := m &^ w.set[r]; bad != 0 && w.block.checks.Has(gpu.CheckUninitialized) {
			w.fail(in, lowest(bad), gpu.ErrUninitialized, "register %s was never written", name)
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

// tracked is a source that may be unset: its number and its operand.
type tracked struct {
	register uint32
	operand  int
}

// mark notes before the op which lanes of its destination it sets: those in which all
// sources that pass through are set, or, for selp, the selected one.
func (o *op) mark(r uint32, sources []tracked) {
	selp, x := o.in.src.Opcode == "selp", o.in.x
	o.checks = append(o.checks, instr{sub: guarded, src: o.in.src, exec: func(w *warp, in *instr, m uint32) {
		ok := m
		for _, s := range sources {
			taken := uint32(all)
			if selp {
				if taken = w.preds[x.p] ^ x.pflip; s.operand == 2 {
					taken = ^taken
				}
			}
			ok &= w.set[s.register] | ^taken
		}
		w.set[r] = w.set[r]&^m | ok
	}})
}
