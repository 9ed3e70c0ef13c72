package engine

import (
	"slices"

	"warpbook/gpu/emu/simd"
)

// dropUnread drops the predicates of shuffles that no instruction reads: NVRTC writes one
// in every shuffle, and a shuffle without it can be a step.
func (c *code) dropUnread() {
	read := map[int]bool{}
	for _, o := range c.ops {
		for _, b := range o.binds {
			if !b.def && b.value.kind == registerValue && b.value.width == predicate {
				read[b.value.reg] = true
			}
		}
	}
	for _, o := range c.ops {
		if op := o.in.vector.op; op < simd.StepDown || op > simd.StepIndex || !o.in.x.hasD2 {
			continue
		}
		o.binds = slices.DeleteFunc(o.binds, func(b *bind) bool {
			unread := b.field == &o.in.x.d2 && !read[b.value.reg]
			if unread {
				o.in.x.hasD2 = false
			}
			return unread
		})
	}
}
