package programs

import "fmt"

// memoryPrograms store and load with every width in every space: a thread has
// 64 bytes of its own in shared, local and global memory, first filled, then
// changed and read back through plain and generic addresses.
func memoryPrograms() []Program {
	const count = 24
	var all []Program
	for n := range count {
		p := Program{Name: fmt.Sprintf("memory %d", n), Blocks: 1, Threads: 64}
		c := &code{r: source(p.Name)}
		c.begin(&p)
		c.spaces(&p)
		for range 24 {
			c.access()
			if c.r.IntN(3) == 0 {
				c.instruction("")
			}
		}
		c.finish(&p)
		for range 8 {
			p.Rows = append(p.Rows, "global memory")
		}
		all = append(all, p)
	}
	return all
}

// memories are the spaces with the register of the thread's address in each.
var memories = []struct{ space, address, generic string }{
	{"shared", "%own", "%gown"}, {"local", "%frame", "%gframe"}, {"global", "%far", "%far"},
}

// spaces declares the memory and fills it.
func (c *code) spaces(p *Program) {
	c.line(".shared .align 16 .b8 block[4096]; .local .align 16 .b8 frame[64];")
	c.line(".reg .b64 %%own, %%gown, %%frame, %%gframe, %%far;")
	c.line("mov.u64 %%own, block; mul.wide.u32 %%u, %%thread, 64; add.s64 %%own, %%own, %%u; cvta.shared.u64 %%gown, %%own;")
	c.line("mov.u64 %%frame, frame; cvta.local.u64 %%gframe, %%frame;")
	// Rows after those of the registers, consecutive for each thread.
	rows := 0
	for _, l := range pools {
		rows += l.n
	}
	c.line("ld.param.u64 %%far, [out]; add.s64 %%far, %%far, %%u; add.s64 %%far, %%far, %d;", 8*rows*p.Size())
	for _, m := range memories {
		for at := 0; at < 64; at += 16 {
			c.line("st.%s.v4.b32 [%s+%d], {%%x0, %%x1, %%x2, %%x3};", m.space, m.address, at)
		}
	}
}

// access writes a store or a load of some width.
func (c *code) access() {
	m := pick(c.r, memories...)
	space, address := "."+m.space, m.address
	if c.r.IntN(3) == 0 {
		space, address = "", m.generic
	}
	if c.r.IntN(2) == 0 {
		c.move("st", space, address)
		return
	}
	c.move("ld", space, address)
}

// move writes a load or store of one, two or four values.
func (c *code) move(op, space, address string) {
	typ := pick(c.r, "u8", "s8", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "f32", "f64")
	size := bytesOf(typ)
	count := pick(c.r, 1, 1, 1, 2, 4)
	for count*size > 16 {
		count /= 2
	}
	letter := map[string]string{"b64": "y", "u64": "y", "f32": "f", "f64": "g"}[typ]
	if letter == "" {
		letter = pick(c.r, "x", "x", "y")
		if op == "st" && typ == "s32" {
			letter = "x"
		}
	}
	n := map[string]int{"x": 6, "y": 4, "f": 4, "g": 3}[letter]
	first := c.r.IntN(n)
	registers, vector := "", ""
	for i := range count {
		if i > 0 {
			registers += ", "
		}
		registers += fmt.Sprintf("%%%s%d", letter, (first+i)%n)
	}
	if count > 1 {
		vector, registers = fmt.Sprintf(".v%d", count), "{"+registers+"}"
	}
	if count > n {
		return
	}
	at := c.r.IntN(64/(count*size)) * count * size
	if op == "ld" {
		c.line("ld%s%s.%s %s, [%s+%d];", space, vector, typ, registers, address, at)
		return
	}
	c.line("st%s%s.%s [%s+%d], %s;", space, vector, typ, address, at, registers)
}
