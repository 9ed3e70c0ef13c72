package programs

import (
	"fmt"
	"math/rand/v2"
)

// pool is a set of registers of one type that random code reads and writes.
type pool struct {
	letter, typ string // of the registers: %x0, %x1, ...
	data        string // type of the operands that they start with
	n           int
	ops         []string // instructions on it: D, S and T are registers of the pool
}

// pools hold instructions whose results the manual fixes to the bit. Floats
// have no NaN with a payload to begin with, and nothing here makes one.
var pools = []pool{
	{"x", "b32", "b32", 6, []string{
		"add.s32 D, S, T;", "sub.s32 D, S, T;", "mul.lo.s32 D, S, T;", "mul.hi.u32 D, S, T;", "mad.lo.s32 D, S, T, D;", "mad.hi.s32 D, S, T, D;",
		"div.u32 D, S, T;", "rem.s32 D, S, T;", "min.s32 D, S, T;", "max.u32 D, S, T;", "and.b32 D, S, T;", "or.b32 D, S, T;", "xor.b32 D, S, T;",
		"shl.b32 D, S, T;", "shr.u32 D, S, T;", "shr.s32 D, S, 3;", "bfe.u32 D, S, 5, 11;", "bfi.b32 D, S, T, 7, 9;", "lop3.b32 D, S, T, D, 0x6a;",
		"prmt.b32 D, S, T, 0x7514;", "shf.l.wrap.b32 D, S, T, D;", "popc.b32 D, S;", "clz.b32 D, S;", "brev.b32 D, S;", "sad.u32 D, S, T, D;",
		"abs.s32 D, S;", "cvt.s32.s8 D, S;", "cvt.rzi.s32.f32 D, %f0;", "cvt.u32.u64 D, %y1;", "{ .reg .pred p; setp.lt.s32 p, S, T; selp.b32 D, S, T, p; }",
		"dp4a.s32.s32 D, S, T, D;", "not.b32 D, S;", "add.cc.u32 D, S, T; addc.u32 D, D, S;", "mov.b64 {D, _}, %y2;",
	}},
	{"y", "b64", "b64", 4, []string{
		"add.s64 D, S, T;", "sub.s64 D, S, T;", "mul.lo.s64 D, S, T;", "mul.hi.u64 D, S, T;", "div.s64 D, S, T;", "rem.u64 D, S, T;", "min.u64 D, S, T;",
		"xor.b64 D, S, T;", "and.b64 D, S, T;", "shl.b64 D, S, %x0;", "shr.s64 D, S, 9;", "mul.wide.s32 D, %x1, %x2;", "mad.wide.u32 D, %x3, %x4, S;",
		"cvt.s64.s32 D, %x5;", "brev.b64 D, S;", "bfe.s64 D, S, 17, 30;", "cvt.rni.s64.f64 D, %g0;", "mov.b64 D, {%x0, %x3};", "max.s64 D, S, T;", "not.b64 D, S;",
	}},
	{"f", "f32", "f32", 4, []string{
		"add.rn.f32 D, S, T;", "sub.rn.f32 D, S, T;", "mul.rn.f32 D, S, T;", "fma.rn.f32 D, S, T, D;", "fma.rz.f32 D, S, T, D;", "add.rm.f32 D, S, T;",
		"mul.rp.ftz.f32 D, S, T;", "div.rn.f32 D, S, T;", "rcp.rn.f32 D, S;", "sqrt.rn.f32 D, S;", "min.f32 D, S, T;", "max.f32 D, S, T;", "add.rn.sat.f32 D, S, T;",
		"cvt.rn.f32.s32 D, %x1;", "cvt.rn.f32.u64 D, %y0;", "cvt.rn.f32.f64 D, %g1;", "cvt.rni.f32.f32 D, S;",
		"{ .reg .pred p; setp.gt.f32 p, S, T; selp.f32 D, S, T, p; }", "fma.rn.ftz.f32 D, S, T, S;",
	}},
	{"g", "f64", "f64", 3, []string{
		"add.rn.f64 D, S, T;", "sub.rn.f64 D, S, T;", "mul.rn.f64 D, S, T;", "fma.rn.f64 D, S, T, D;", "div.rn.f64 D, S, T;", "sqrt.rn.f64 D, S;",
		"cvt.f64.f32 D, %f1;", "cvt.rn.f64.s32 D, %x2;", "cvt.rz.f64.u64 D, %y1;", "min.f64 D, S, T;", "add.rp.f64 D, S, T;", "mul.rz.f64 D, S, T;",
	}},
	{"h", "b32", "f16x2", 3, []string{
		"add.rn.f16x2 D, S, T;", "mul.rn.f16x2 D, S, T;", "fma.rn.f16x2 D, S, T, D;", "sub.rn.f16x2 D, S, T;", "min.f16x2 D, S, T;", "cvt.rn.f16x2.f32 D, %f0, %f2;",
	}},
}

const randomThreads = 128

// code writes random statements.
type code struct {
	writer
	r      *rand.Rand
	labels int
}

// begin declares the pools and loads their registers.
func (c *code) begin(p *Program) {
	c.header()
	c.entry()
	k := 0
	for _, l := range pools {
		c.line(".reg .%s %%%s<%d>;", l.typ, l.letter, l.n)
		for i := range l.n {
			for range p.Size() {
				p.In = append(p.In, near(c.r, l.data))
			}
			c.load(fmt.Sprintf("%%%s%d", l.letter, i), l.typ, k, p.Size())
			k++
		}
	}
}

// finish stores all registers of the pools.
func (c *code) finish(p *Program) {
	for _, l := range pools {
		for i := range l.n {
			register := fmt.Sprintf("%%%s%d", l.letter, i)
			c.store(len(p.Rows), p.Size(), l.typ, register)
			p.Rows = append(p.Rows, register)
		}
	}
	c.end()
	p.Text = c.String()
}

// instruction writes a random instruction, under a guard if it is not "".
func (c *code) instruction(guard string) {
	l := pools[pick(c.r, 0, 0, 0, 1, 1, 2, 2, 3, 4)]
	register := func() string { return fmt.Sprintf("%%%s%d", l.letter, c.r.IntN(l.n)) }
	d, s, t := register(), register(), register()
	text := pick(c.r, l.ops...)
	if guard != "" && text[0] != '{' && text != "add.cc.u32 D, S, T; addc.u32 D, D, S;" {
		c.WriteString(guard + " ")
	}
	for _, x := range text {
		switch x {
		case 'D':
			c.WriteString(d)
		case 'S':
			c.WriteString(s)
		case 'T':
			c.WriteString(t)
		default:
			c.WriteRune(x)
		}
	}
	c.WriteByte('\n')
}

// block writes statements; depth bounds how deep they nest.
func (c *code) block(statements, depth int) {
	for range statements {
		switch k := c.r.IntN(10); {
		case depth == 0 || k < 5:
			c.instruction("")
		case k == 5:
			c.line("{ .reg .pred %%q; setp.%s.s32 %%q, %s, %s;", pick(c.r, "lt", "ge", "ne"), c.integer(), c.integer())
			c.instruction(pick(c.r, "@%q", "@!%q"))
			c.line("}")
		case k < 8:
			c.choice(depth)
		case k == 8:
			c.loop(depth)
		default:
			c.table(depth)
		}
	}
}

func (c *code) integer() string { return fmt.Sprintf("%%x%d", c.r.IntN(pools[0].n)) }

func (c *code) label() string {
	c.labels++
	return fmt.Sprintf("L%d", c.labels)
}

// choice writes an if with an else; a random bit decides for each lane.
func (c *code) choice(depth int) {
	other, end := c.label(), c.label()
	c.line("{ .reg .pred %%q; .reg .b32 %%k; xor.b32 %%k, %s, %%at; bfe.u32 %%k, %%k, %d, 1; setp.eq.u32 %%q, %%k, 0; @%%q bra %s;",
		c.integer(), c.r.IntN(5), other)
	c.block(1+c.r.IntN(3), depth-1)
	c.line("bra %s;\n%s:", end, other)
	c.block(c.r.IntN(3), depth-1)
	c.line("}\n%s:", end)
}

// loop writes a loop that runs 1 to 4 times in each lane; some lanes leave early.
func (c *code) loop(depth int) {
	head, end := c.label(), c.label()
	c.line("{ .reg .pred %%q; .reg .b32 %%k, %%b; add.s32 %%k, %s, %%lane; and.b32 %%k, %%k, 3;\n%s:", c.integer(), head)
	c.block(1+c.r.IntN(2), depth-1)
	if c.r.IntN(2) == 0 {
		c.line("bfe.u32 %%b, %s, 4, 2; setp.eq.u32 %%q, %%b, %%k; @%%q bra %s;", c.integer(), end)
		c.block(1, depth-1)
	}
	c.line("setp.eq.u32 %%q, %%k, 0; sub.s32 %%k, %%k, 1; @!%%q bra %s;\n}\n%s:", head, end)
}

// table writes a branch to one of four places.
func (c *code) table(depth int) {
	end := c.label()
	places := []string{c.label(), c.label(), c.label(), c.label()}
	c.line("{ .reg .b32 %%k; add.s32 %%k, %s, %%at; and.b32 %%k, %%k, 3;", c.integer())
	c.line("ts: .branchtargets %s, %s, %s, %s; brx.idx %%k, ts;", places[0], places[1], places[2], places[3])
	for _, place := range places {
		c.line("%s:", place)
		c.block(1, depth-1)
		c.line("bra %s;", end)
	}
	c.line("}\n%s:", end)
}

// randomPrograms are straight lines and nested control flow of random
// instructions.
func randomPrograms() []Program {
	const straight, nested = 32, 64
	var all []Program
	for n := range straight + nested {
		name, depth := fmt.Sprintf("straight %d", n), 0
		if n >= straight {
			name, depth = fmt.Sprintf("nested %d", n-straight), 3
		}
		p := Program{Name: name, Blocks: 1, Threads: randomThreads}
		c := &code{r: source(name)}
		c.begin(&p)
		if depth == 0 {
			c.block(40, 0)
		} else {
			c.block(14, depth)
		}
		c.finish(&p)
		all = append(all, p)
	}
	return all
}
