package programs

import (
	"fmt"
	"math/bits"
)

// warpPrograms exchange values between lanes, also in branches that only some lanes
// take: a mask names whole segments of 4 lanes, and shuffles stay inside of a segment,
// so that every lane reads from an active one.
func warpPrograms() []Program {
	const count = 32
	var all []Program
	for n := range count {
		p := Program{Name: fmt.Sprintf("warp %d", n), Blocks: 2, Threads: 96}
		c := &code{r: source(p.Name)}
		c.begin(&p)
		for range 6 {
			if c.r.IntN(3) == 0 {
				c.exchanges(0xffffffff, 5)
			} else {
				c.partial()
			}
			c.instruction("")
		}
		c.finish(&p)
		all = append(all, p)
	}
	return all
}

// partial exchanges one set of values in some lanes, and another set in the others.
func (c *code) partial() {
	var mask uint32
	for mask == 0 || mask == 0xffffffff {
		mask = 0
		for s := range 8 {
			mask |= uint32(c.r.IntN(2)) * 0xf << (4 * s)
		}
	}
	other, end := c.label(), c.label()
	c.line("{ .reg .pred %%q; .reg .b32 %%k; shr.u32 %%k, %#x, %%lane; and.b32 %%k, %%k, 1; setp.eq.u32 %%q, %%k, 0; @%%q bra %s;", mask, other)
	c.exchanges(mask, 2)
	c.line("bra %s;\n%s:", end, other)
	c.exchanges(^mask, 2)
	c.line("}\n%s:", end)
}

// exchanges writes a few .sync operations of the lanes of a mask, whose
// segments have 2^width lanes.
func (c *code) exchanges(mask uint32, width int) {
	for range 1 + c.r.IntN(3) {
		d, a := c.integer(), c.integer()
		switch c.r.IntN(7) {
		case 0, 1, 2:
			c.shuffle(d, a, mask, width)
		case 3:
			c.line("{ .reg .pred p; .reg .b32 v; setp.%s.s32 p, %s, %s; vote.sync.ballot.b32 v, p, %#x; xor.b32 %s, %s, v; }",
				pick(c.r, "lt", "ne", "ge"), d, a, mask, d, d)
		case 4:
			c.line("{ .reg .pred p; .reg .b32 v; setp.gt.s32 p, %s, %d; vote.sync.%s.pred p, p, %#x; selp.b32 v, 77, 5, p; add.s32 %s, %s, v; }",
				a, c.r.Int32(), pick(c.r, "all", "any", "uni"), mask, d, d)
		case 5:
			c.line("redux.sync.%s %s, %s, %#x;", pick(c.r, "add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32", "xor.b32"), d, a, mask)
		default:
			c.match(d, a, mask)
		}
	}
}

func (c *code) shuffle(d, a string, mask uint32, width int) {
	size := 1 << width
	clamp := (32-size)<<8 | size - 1
	mode := pick(c.r, "up", "down", "bfly", "idx")
	if mode == "up" {
		clamp = (32 - size) << 8
	}
	by := fmt.Sprint(c.r.IntN(size))
	if mode == "idx" {
		by = c.integer()
	}
	c.line("{ .reg .pred p; .reg .b32 v; shfl.sync.%s.b32 v|p, %s, %s, %#x, %#x; selp.b32 %s, v, %s, p; add.s32 %s, %s, v; }",
		mode, a, by, clamp, mask, d, a, d, d)
}

// match compares values of which many are equal.
func (c *code) match(d, a string, mask uint32) {
	t := pick(c.r, "b32", "b64")
	c.line("{ .reg .pred p; .reg .b32 v; .reg .%s k; .reg .b32 low; and.b32 low, %s, %d;", t, a, pick(c.r, 0, 1, 3))
	if t == "b64" {
		c.line("cvt.u64.u32 k, low;")
	} else {
		c.line("mov.b32 k, low;")
	}
	if c.r.IntN(2) == 0 {
		c.line("match.any.sync.%s v, k, %#x; xor.b32 %s, %s, v; }", t, mask, d, d)
		return
	}
	c.line("match.all.sync.%s v|p, k, %#x; selp.b32 low, %d, 0, p; add.s32 %s, v, low; }", t, mask, bits.OnesCount32(mask), d)
}
