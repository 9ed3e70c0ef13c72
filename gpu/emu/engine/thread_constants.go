package engine

import (
	"warpbook/gpu/emu/simd"
	"warpbook/gpu/emu/special"
)

// This file finds instructions whose results follow from constants and the place of the
// thread in its block alone, such as the row of a tile that a thread computes. Compilers
// leave them in loops, because a GPU has few registers. They run once for all blocks of a
// worker; they still count as instructions of the text.

// mostThreadConstants bounds the registers that are kept from block to block.
const mostThreadConstants = 64

// findThreadConstants drops such instructions; their results become presets.
func (c *code) findThreadConstants(unset bitset) {
	for _, o := range c.ops {
		if o.product() {
			return // registers of products are checked when they are written
		}
	}
	defs, found := c.definitions(), map[int]bool{}
	for _, o := range c.ops {
		if len(found) == mostThreadConstants {
			break
		}
		if d, ok := o.threadConstant(found); ok && defs[d] == 1 && !unset.has(d) {
			o.dropped, o.constant, found[d] = true, true, true
		}
	}
	for _, o := range c.ops {
		for _, b := range o.binds {
			if b.value.kind == registerValue && found[b.value.reg] {
				b.value.kind = threadValue
			}
		}
	}
}

// threadConstant is the destination of an op that has no effect but one result, which
// follows from values that are known before the program starts.
func (o *op) threadConstant(found map[int]bool) (d int, ok bool) {
	switch v := o.in.vector.op; {
	case o.dropped || !o.unguarded() || len(o.checks) > 0 || o.in.flow != next:
		return 0, false
	case v == simd.Guarded || v >= simd.Branch || v == simd.DivU32 || v == simd.RemU32: // a division may warn of zero
		return 0, false
	}
	defs := 0
	for _, b := range o.binds {
		switch v := b.value; {
		case b.def:
			d = v.reg
			defs++
		case v.kind == constantValue, v.kind == specialValue && special.Lane[v.name] != nil:
		case v.kind == registerValue && found[v.reg]:
		default:
			return 0, false
		}
	}
	return d, defs == 1
}

// definitions are the number of ops that write each register.
func (c *code) definitions() []int {
	defs := make([]int, c.regs)
	for _, o := range c.ops {
		for _, b := range o.binds {
			if b.def {
				defs[b.value.reg]++
			}
		}
	}
	return defs
}
