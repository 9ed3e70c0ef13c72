package programs

import "fmt"

// callPrograms call functions, by name and through pointers, with parameters
// of several sizes and a structure, from divergent code too.
func callPrograms() []Program {
	const count = 12
	var all []Program
	for n := range count {
		p := Program{Name: fmt.Sprintf("calls %d", n), Blocks: 1, Threads: 64}
		c := &code{r: source(p.Name)}
		c.header()
		c.functions()
		body := &code{r: c.r}
		body.begin(&p)
		for range 8 {
			switch body.r.IntN(4) {
			case 0:
				body.byName()
			case 1:
				body.choice(1)
			case 2:
				body.throughPointer()
			default:
				body.structure()
			}
			body.instruction("")
		}
		body.finish(&p)
		// The header and the functions stand before the entry.
		p.Text = c.String() + p.Text[len(".version 8.0\n.target sm_90\n.address_size 64\n"):]
		all = append(all, p)
	}
	return all
}

// functions writes four functions of one type and one that takes and returns
// a structure.
func (c *code) functions() {
	for f := range 4 {
		c.line(".func (.param .b32 d) f%d (.param .b32 a, .param .b64 b) {", f)
		c.line(".reg .b32 %%x<6>; .reg .b64 %%y<4>; .reg .f32 %%f<4>; .reg .f64 %%g<3>; .reg .b32 %%at, %%lane; .reg .pred %%done;")
		c.line("mov.u32 %%lane, %%laneid; mov.u32 %%at, %%tid.x; ld.param.b32 %%x0, [a]; ld.param.b64 %%y0, [b];")
		c.line("mov.b32 %%x1, %d; mov.b64 {%%x2, %%x3}, %%y0; add.s32 %%x4, %%x0, %%lane; mov.b32 %%x5, 3;", c.r.Int32())
		c.line("mov.b64 %%y1, {%%x0, %%x1}; not.b64 %%y2, %%y0; mov.b64 %%y3, 5; mov.f32 %%f0, 0f3fc00000; mov.f32 %%f1, %%f0; mov.f32 %%f2, %%f0; mov.f32 %%f3, %%f0;")
		c.line("mov.f64 %%g0, 0d3ff8000000000000; mov.f64 %%g1, %%g0; mov.f64 %%g2, %%g0;")
		c.line("and.b32 %%x5, %%x4, %d; setp.eq.u32 %%done, %%x5, 0; @!%%done bra more; st.param.b32 [d], %%x0; ret;\nmore:", pick(c.r, 1, 2, 7))
		for range 4 {
			c.line("%s", c.plain())
		}
		c.line("xor.b32 %%x0, %%x0, %%x%d; st.param.b32 [d], %%x0; ret;\n}", c.r.IntN(6))
	}
	c.line(".func (.param .align 8 .b8 d[16]) pair (.param .align 8 .b8 s[24]) {")
	c.line(".reg .b32 %%x<4>; .reg .b64 %%y<4>; ld.param.b32 %%x0, [s]; ld.param.b32 %%x1, [s+4]; ld.param.b64 %%y0, [s+8]; ld.param.b64 %%y1, [s+16];")
	c.line("add.s32 %%x0, %%x0, %%x1; sub.s64 %%y0, %%y0, %%y1; st.param.b32 [d], %%x0; st.param.b32 [d+4], %%x1; st.param.b64 [d+8], %%y0; ret;\n}")
	c.line(".global .align 8 .u64 table[4] = {f0, f1, f2, f3};")
}

// plain is an instruction on 32-bit integers alone.
func (c *code) plain() string {
	d, s, t := c.integer(), c.integer(), c.integer()
	return fmt.Sprintf("%s %s, %s, %s;", pick(c.r, "add.s32", "mul.lo.s32", "xor.b32", "min.u32", "sub.s32"), d, s, t)
}

func (c *code) byName() {
	c.line("{ .param .b32 d; .param .b32 a; .param .b64 b; st.param.b32 [a], %s; st.param.b64 [b], %%y%d;", c.integer(), c.r.IntN(4))
	c.line("call.uni (d), f%d, (a, b); ld.param.b32 %s, [d]; }", c.r.IntN(4), c.integer())
}

// throughPointer calls the function of the table that the lane's index names.
func (c *code) throughPointer() {
	c.line("{ .reg .b64 %%p, %%k; .reg .b32 %%i; and.b32 %%i, %s, 3; mul.wide.u32 %%k, %%i, 8; mov.u64 %%p, table; add.s64 %%p, %%p, %%k; ld.global.u64 %%p, [%%p];", c.integer())
	c.line(".param .b32 d; .param .b32 a; .param .b64 b; st.param.b32 [a], %s; st.param.b64 [b], %%y%d;", c.integer(), c.r.IntN(4))
	c.line("type: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);")
	c.line("call (d), %%p, (a, b), type; ld.param.b32 %s, [d]; }", c.integer())
}

func (c *code) structure() {
	c.line("{ .param .align 8 .b8 d[16]; .param .align 8 .b8 s[24]; st.param.b32 [s], %s; st.param.b32 [s+4], %s; st.param.b64 [s+8], %%y0; st.param.b64 [s+16], %%y1;",
		c.integer(), c.integer())
	c.line("call.uni (d), pair, (s); ld.param.b32 %s, [d]; ld.param.b64 %%y%d, [d+8]; }", c.integer(), c.r.IntN(4))
}
