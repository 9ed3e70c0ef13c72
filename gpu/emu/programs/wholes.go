package programs

import (
	"fmt"
	"strings"
)

// whole is a multiplication of matrices in memory by wmma.
type whole struct {
	shape, types string // types of d, a, b and c
	m, n, k      int
	d, a, b      int // registers of a fragment
}

var wholes = []whole{
	{"m16n16k16", "f32 f16 f16 f32", 16, 16, 16, 8, 8, 8}, {"m16n16k16", "f16 f16 f16 f16", 16, 16, 16, 4, 8, 8},
	{"m32n8k16", "f32 f16 f16 f32", 32, 8, 16, 8, 8, 8}, {"m8n32k16", "f32 f16 f16 f32", 8, 32, 16, 8, 8, 8},
	{"m16n16k16", "f32 bf16 bf16 f32", 16, 16, 16, 8, 4, 4}, {"m32n8k16", "f32 bf16 bf16 f32", 32, 8, 16, 8, 8, 2},
	{"m8n32k16", "f32 bf16 bf16 f32", 8, 32, 16, 8, 2, 8}, {"m16n16k8", "f32 tf32 tf32 f32", 16, 16, 8, 8, 4, 4},
	{"m16n16k16", "s32 s8 s8 s32", 16, 16, 16, 8, 2, 2}, {"m32n8k16", "s32 u8 u8 s32", 32, 8, 16, 8, 4, 1}, {"m8n32k16", "s32 s8 s8 s32", 8, 32, 16, 8, 1, 4},
	{"m8n8k4", "f64 f64 f64 f64", 8, 8, 4, 2, 1, 1},
}

// program multiplies matrices with the layouts of a, b and c, whose rows or columns have
// gaps between them.
func (m whole) program(name string, layouts []string) Program {
	p := Program{Name: name, Blocks: 1, Threads: 32 * matrixWarps}
	r := source(name)
	t := strings.Fields(m.types)
	stride := [3]int{}
	for i, size := range [][2]int{{m.m, m.k}, {m.k, m.n}, {m.m, m.n}} {
		if stride[i] = size[1] + 16; layouts[i] == "col" {
			stride[i] = size[0] + 16
		}
	}
	// Each warp has 8 KB of input for a, b and c: 128 words of each of its
	// threads, at 0, 2048 and 4096.
	for warp := range matrixWarps {
		for i, typ := range t[1:] {
			p.In = append(p.In, memory(r, typ, warp, []int{2048, 2048, 4096}[i])...)
		}
	}
	var w writer
	w.header()
	w.entry()
	w.line(".reg .b64 %%from, %%to; .reg .b32 %%warp, %%z; shr.u32 %%warp, %%thread, 5; mul.wide.u32 %%u, %%warp, 8192; ld.param.u64 %%from, [in]; add.s64 %%from, %%from, %%u;")
	w.line("ld.param.u64 %%to, [out]; add.s64 %%to, %%to, %%u;")
	for i, n := range []int{m.d, m.a, m.b, m.d} {
		w.line(".reg .%s %%%c<%d>;", fragmentType(t[i]), "dabc"[i], n)
	}
	w.line("add.s64 %%u, %%from, 2048; mov.b32 %%z, %d;", stride[1])
	w.line("wmma.load.a.sync.aligned.%s.%s.global.%s %s, [%%from], %d;", layouts[0], m.shape, t[1], registers("a", m.a), stride[0])
	w.line("wmma.load.b.sync.aligned.%s.%s.global.%s %s, [%%u], %%z;", layouts[1], m.shape, t[2], registers("b", m.b))
	w.line("wmma.load.c.sync.aligned.%s.%s.global.%s %s, [%%from+4096], %d;", layouts[2], m.shape, t[3], registers("c", m.d), stride[2])
	w.line("wmma.mma.sync.aligned.%s.%s.%s.%s %s, %s, %s, %s;", layouts[0], layouts[1], m.shape, m.operands(t),
		registers("d", m.d), registers("a", m.a), registers("b", m.b), registers("c", m.d))
	w.line("wmma.store.d.sync.aligned.%s.%s.global.%s [%%to], %s, %d;", layouts[2], m.shape, t[0], registers("d", m.d), stride[2])
	w.end()
	for row := range 32 {
		p.Rows = append(p.Rows, fmt.Sprintf("memory %d", row))
	}
	p.Text = w.String()
	return p
}

// operands are the types that wmma.mma names: those of a and b only if several are
// possible.
func (m whole) operands(t []string) string {
	if t[1] == "f16" {
		return t[0] + "." + t[3]
	}
	if t[1] == "f64" {
		return "rn.f64.f64.f64.f64"
	}
	return strings.Join(t, ".")
}
