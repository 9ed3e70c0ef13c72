package programs

import "fmt"

// atomicPrograms update shared and global memory from all threads. Each word is changed
// by one operation whose result does not depend on the order. Old values are stored only
// for words that a single thread changes.
func atomicPrograms() []Program {
	const count = 20
	var all []Program
	for n := range count {
		p := Program{Name: fmt.Sprintf("atomics %d", n), Blocks: 2, Threads: 64}
		c := &code{r: source(p.Name)}
		c.begin(&p)
		c.line(".shared .align 8 .b8 counts[512]; .shared .align 8 .b8 own[512]; .reg .b64 %%own, %%word, %%counts; .reg .b32 %%one, %%half;")
		c.line("mov.b32 %%one, 0x3c003800; mov.b32 %%half, 0x3f803f00;")
		c.line("mov.u64 %%own, own; mul.wide.u32 %%u, %%thread, 8; add.s64 %%own, %%own, %%u; mov.u64 %%counts, counts; add.s64 %%u, %%counts, %%u;")
		c.line("st.shared.b64 [%%own], %%y0; st.shared.b64 [%%u], 0; bar.sync 0;")
		for range 8 {
			c.shared()
			c.lonely()
		}
		c.line("bar.sync 0; mul.wide.u32 %%u, %%thread, 8; add.s64 %%word, %%counts, %%u;")
		c.line("ld.shared.b64 %%y1, [%%word]; ld.shared.b64 %%y2, [%%own];")
		c.finish(&p)
		all = append(all, p)
	}
	return all
}

// orderless are the operations whose order does not matter, with the word of counts for
// each, in 16 bytes.
var orderless = []struct{ op, operand string }{
	{"add.u32", "%x0"}, {"add.s32", "%x1"}, {"add.u64", "%y0"}, {"min.u32", "%x1"}, {"min.s32", "%x2"}, {"min.u64", "%y3"}, {"min.s64", "%y0"},
	{"max.u32", "%x3"}, {"max.s32", "%x4"}, {"max.u64", "%y1"}, {"max.s64", "%y2"}, {"and.b32", "%x5"}, {"and.b64", "%y3"}, {"or.b32", "%x0"}, {"or.b64", "%y0"},
	{"xor.b32", "%x2"}, {"xor.b64", "%y3"}, {"inc.u32", "9"}, {"dec.u32", "11"},
	{"add.f32", "0f3fc00000"}, {"add.f64", "0d4010000000000000"}, {"add.noftz.f16x2", "%one"}, {"add.noftz.bf16x2", "%half"},
}

// shared updates a word that all threads share, if a bit of the thread is set.
func (c *code) shared() {
	k := c.r.IntN(len(orderless))
	o := orderless[k]
	c.line("{ .reg .pred %%q; .reg .b32 %%k; xor.b32 %%k, %%at, %d; and.b32 %%k, %%k, %d; setp.ne.u32 %%q, %%k, 0;", c.r.IntN(64), pick(c.r, 1, 3, 6))
	c.line("@%%q red.shared.%s [%%counts+%d], %s; }", o.op, 16*k, o.operand)
}

// lonely updates the thread's own word and stores its old value.
func (c *code) lonely() {
	switch c.r.IntN(4) {
	case 0:
		c.line("atom.shared.%s %s, [%%own], %s;", pick(c.r, "exch.b32", "add.u32", "xor.b32", "max.s32", "inc.u32", "dec.u32", "min.u32"), c.integer(), c.integer())
	case 1:
		c.line("atom.shared.%s %%y%d, [%%own], %%y%d;", pick(c.r, "exch.b64", "add.u64", "and.b64", "min.s64"), c.r.IntN(4), c.r.IntN(4))
	case 2:
		c.line("{ .reg .b32 o; ld.shared.b32 o, [%%own]; atom.shared.cas.b32 %s, [%%own], o, %s; }", c.integer(), c.integer())
	default:
		c.line("{ .reg .b64 g; cvta.shared.u64 g, %%own; atom.cas.b64 %%y%d, [g], %%y%d, %%y%d; }", c.r.IntN(4), c.r.IntN(4), c.r.IntN(4))
	}
}
