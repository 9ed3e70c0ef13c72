package programs

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// hopperPrograms multiply fp8 and sparse matrices by mma, and all types by wgmma.
func hopperPrograms() []Program {
	var all []Program
	for _, m := range fp8Products {
		all = append(all, m.program(fmt.Sprintf("mma %s %s", m.shape, m.types)))
	}
	for _, m := range sparseProducts {
		all = append(all, m.program(fmt.Sprintf("mma%s %s %s, selector %d", m.sparse, m.shape, m.types, m.selector)))
	}
	for _, m := range groupProducts {
		all = append(all, m.program())
	}
	return all
}

var fp8Products = []product{
	{shape: "m16n8k32", types: "f32.e4m3.e4m3.f32", d: 4, a: 4, b: 2, version: "8.4"},
	{shape: "m16n8k32", types: "f32.e4m3.e5m2.f32", d: 4, a: 4, b: 2, version: "8.4"},
	{shape: "m16n8k32", types: "f32.e5m2.e4m3.f32", d: 4, a: 4, b: 2, version: "8.4"},
	{shape: "m16n8k32", types: "f32.e5m2.e5m2.f32", d: 4, a: 4, b: 2, version: "8.4"},
	{shape: "m16n8k16", types: "f32.e4m3.e4m3.f32", d: 4, a: 2, b: 1, version: "8.7"},
	{shape: "m16n8k32", types: "f16.e4m3.e4m3.f16", d: 2, a: 4, b: 2, version: "8.7"},
	{shape: "m16n8k32", types: "f16.e5m2.e4m3.f16", d: 2, a: 4, b: 2, version: "8.7"},
}

const anyOrder, ascending = ".sp", ".sp::ordered_metadata"

var sparseProducts = []product{
	{shape: "m16n8k16", types: "f32.f16.f16.f32", d: 4, a: 2, b: 2, sparse: anyOrder, selector: 0},
	{shape: "m16n8k16", types: "f32.f16.f16.f32", d: 4, a: 2, b: 2, sparse: anyOrder, selector: 3},
	{shape: "m16n8k32", types: "f32.f16.f16.f32", d: 4, a: 4, b: 4, sparse: anyOrder, selector: 0},
	{shape: "m16n8k32", types: "f32.f16.f16.f32", d: 4, a: 4, b: 4, sparse: ascending, selector: 1, version: "8.5"},
	{shape: "m16n8k16", types: "f16.f16.f16.f16", d: 2, a: 2, b: 2, sparse: ascending, selector: 2, version: "8.5"},
	{shape: "m16n8k32", types: "f16.f16.f16.f16", d: 2, a: 4, b: 4, sparse: ascending, selector: 0, version: "8.5"},
	{shape: "m16n8k16", types: "f32.bf16.bf16.f32", d: 4, a: 2, b: 2, sparse: ascending, selector: 1, version: "8.5"},
	{shape: "m16n8k32", types: "f32.bf16.bf16.f32", d: 4, a: 4, b: 4, sparse: anyOrder, selector: 1},
	{shape: "m16n8k8", types: "f32.tf32.tf32.f32", d: 4, a: 2, b: 2, sparse: anyOrder, selector: 0},
	{shape: "m16n8k8", types: "f32.tf32.tf32.f32", d: 4, a: 2, b: 2, sparse: ascending, selector: 3, version: "8.5"},
	{shape: "m16n8k16", types: "f32.tf32.tf32.f32", d: 4, a: 4, b: 4, sparse: anyOrder, selector: 1},
	{shape: "m16n8k16", types: "f32.tf32.tf32.f32", d: 4, a: 4, b: 4, sparse: ascending, selector: 0, version: "8.5"},
	{shape: "m16n8k32", types: "s32.s8.s8.s32", d: 4, a: 2, b: 2, sparse: ascending, selector: 1, version: "8.5"},
	{shape: "m16n8k64", types: "s32.u8.s8.s32", d: 4, a: 4, b: 4, sparse: ascending, selector: 0, version: "8.5"},
	{shape: "m16n8k64", types: "f32.e4m3.e4m3.f32", d: 4, a: 4, b: 4, sparse: ascending, selector: 0, version: "8.5"},
	{shape: "m16n8k64", types: "f32.e5m2.e4m3.f32", d: 4, a: 4, b: 4, sparse: anyOrder, selector: 0, version: "8.4"},
}

// metadata makes valid sparsity metadata for each thread: indices of two of four
// elements, or for tf32 of one of two.
func metadata(r *rand.Rand, t string, ordered bool, size int) []uint64 {
	v := make([]uint64, size)
	for i := range v {
		for range 8 {
			n := pick[uint64](r, 0b0100, 0b1110)
			if t != "tf32" {
				n = pick[uint64](r, 0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110)
				if !ordered && r.IntN(2) == 0 {
					n = n>>2 | n&3<<2
				}
			}
			v[i] = v[i]<<4 | n
		}
	}
	return v
}

// groupProduct is a wgmma: 64 rows, n columns, and 32 bytes of each row of A, by
// two warpgroups whose warps have different ranges.
type groupProduct struct {
	types     string // of D, A and B
	n         int
	sparse    bool
	selector  int
	registers bool // A lies in registers
	span      int  // bytes of the swizzle; 0 for none
	trans     bool // A and B are stored by columns
	negative  bool // A and B are negated
	saturated bool
}

var groupProducts = []groupProduct{
	{types: "f32.f16.f16", n: 16}, {types: "f32.f16.f16", n: 16, span: 32}, {types: "f32.f16.f16", n: 16, span: 64, negative: true},
	{types: "f32.f16.f16", n: 16, span: 128}, {types: "f32.f16.f16", n: 64, span: 128, trans: true}, {types: "f32.f16.f16", n: 24, registers: true},
	{types: "f16.f16.f16", n: 16}, {types: "f32.bf16.bf16", n: 32, span: 64}, {types: "f32.bf16.bf16", n: 8, trans: true},
	{types: "f32.tf32.tf32", n: 16}, {types: "f32.tf32.tf32", n: 16, span: 128, negative: true}, {types: "f32.tf32.tf32", n: 8, registers: true},
	{types: "f32.e4m3.e4m3", n: 16}, {types: "f32.e4m3.e5m2", n: 16, span: 32}, {types: "f32.e5m2.e4m3", n: 8, negative: true}, {types: "f32.e5m2.e5m2", n: 16, span: 128},
	{types: "f32.e4m3.e4m3", n: 16, registers: true}, {types: "f16.e4m3.e4m3", n: 16}, {types: "f16.e5m2.e4m3", n: 16, span: 64},
	{types: "s32.s8.s8", n: 16}, {types: "s32.u8.s8", n: 16, span: 64, saturated: true}, {types: "s32.u8.u8", n: 48, registers: true},
	{types: "f32.f16.f16", n: 16, sparse: true}, {types: "f32.f16.f16", n: 16, sparse: true, selector: 1, span: 128}, {types: "f16.f16.f16", n: 16, sparse: true, registers: true},
	{types: "f32.bf16.bf16", n: 16, sparse: true, span: 64, selector: 1}, {types: "f32.tf32.tf32", n: 16, sparse: true}, {types: "f32.tf32.tf32", n: 16, sparse: true, selector: 1, span: 64, registers: true},
	{types: "f32.e4m3.e4m3", n: 16, sparse: true}, {types: "f32.e5m2.e4m3", n: 16, sparse: true, span: 128}, {types: "s32.s8.s8", n: 16, sparse: true},
}

func (m groupProduct) name() string {
	s := fmt.Sprintf("wgmma n%d %s", m.n, m.types)
	if m.sparse {
		s += fmt.Sprintf(" sparse, selector %d", m.selector)
	}
	for _, option := range []struct {
		name string
		set  bool
	}{{", A in registers", m.registers}, {", by columns", m.trans}, {", negated", m.negative}, {", saturated", m.saturated}, {fmt.Sprintf(", swizzle %d", m.span), m.span > 0}} {
		if option.set {
			s += option.name
		}
	}
	return s
}

const (
	groupThreads = 128
	tileAt       = 12288 // where B begins
	tileBytes    = tileAt + 12288
)

func (m groupProduct) program() Program {
	p := Program{Name: m.name(), Blocks: 2, Threads: groupThreads}
	r := source(p.Name)
	t := strings.Split(m.types, ".")
	size := map[string]int{"f16": 2, "bf16": 2, "tf32": 4}[t[1]]
	size = max(size, 1)
	k, sparse, version := 32/size, "", ""
	if m.sparse {
		k, sparse, version = 64/size, ".sp", "8.2"
	} else if t[1] != t[2] {
		version = "8.4"
	}
	d := m.n / 2
	if t[0] == "f16" {
		d = m.n / 4
	}
	var w writer
	w.headerFor(version, "sm_90a")
	w.entry()
	w.line(".shared .align 1024 .b8 tile[%d];", tileBytes)
	w.line(".reg .b32 %%w, %%tile, %%e; .reg .b64 %%da, %%db; .reg .pred %%p; .reg .%s %%d<%d>; .reg .b32 %%a<4>;", fragmentType(t[0]), d)
	row := 0
	read := func(register, typ, of string) {
		p.In = append(p.In, elements(r, of, p.Size())...)
		w.load(register, typ, row, p.Size())
		row++
	}
	// Every word of the tiles is written: the layouts say which are elements.
	w.line("mov.u32 %%tile, tile; mad.lo.u32 %%tile, %%thread, 4, %%tile;")
	for at := 0; at < tileBytes; at += 4 * groupThreads {
		of := t[1]
		if at >= tileAt {
			of = t[2]
		}
		if m.used(at, size, k) {
			read("%w", "b32", of)
		}
		w.line("st.shared.b32 [%%tile+%d], %%w;", at)
	}
	for i := range d {
		read(fmt.Sprintf("%%d%d", i), fragmentType(t[0]), t[0])
	}
	a := "%da"
	if m.registers {
		a = "{%a0, %a1, %a2, %a3}"
		for i := range 4 {
			read(fmt.Sprintf("%%a%d", i), "b32", t[1])
		}
	}
	factors := fmt.Sprintf("%s, %%db", a)
	if m.sparse {
		p.In = append(p.In, metadata(r, t[1], true, p.Size())...)
		w.load("%e", "b32", row, p.Size())
		factors += fmt.Sprintf(", %%e, %d", m.selector)
	}
	w.line("fence.proxy.async.shared::cta; bar.sync 0;")
	w.descriptor("%da", 0, m.layout(64, size))
	w.descriptor("%db", tileAt, m.layout(m.n, size))
	w.line("setp.eq.u32 %%p, 0, 0;")
	saturated := ""
	if m.saturated {
		saturated = ".satfinite"
	}
	w.line("wgmma.fence.sync.aligned;")
	w.line("wgmma.mma_async%s.sync.aligned.m64n%dk%d%s.%s %s, %s, %%p%s;", sparse, m.n, k, saturated, m.types, registers("d", d), factors, m.constants(t, size))
	w.line("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;")
	for i := range d {
		w.store(i, p.Size(), fragmentType(t[0]), fmt.Sprintf("%%d%d", i))
		p.Rows = append(p.Rows, fmt.Sprintf("register %d", i))
	}
	w.end()
	p.Text = w.String()
	return p
}

// used reports whether the words from an offset on may be elements; what lies
// behind them repeats the last.
func (m groupProduct) used(at, size, k int) bool {
	rows, from := 64, 0
	if at >= tileAt {
		rows, from = m.n, tileAt
	}
	bytes := max(m.span, k*size) * rows
	if m.trans {
		bytes = max(bytes, k*max(m.span, size*rows))
	}
	return at-from < bytes
}

// constants are the signs and the orders of storage.
func (m groupProduct) constants(t []string, size int) string {
	s := ", 1, 1"
	switch {
	case t[0] == "s32":
		return ""
	case m.negative:
		s = ", -1, -1"
	}
	if size != 2 {
		return s
	}
	by := map[bool]string{false: ", 0", true: ", 1"}[m.trans]
	if m.registers {
		return s + by
	}
	return s + by + by
}

// layout is the descriptor of a tile of so many rows, without its start.
func (m groupProduct) layout(rows, size int) uint64 {
	var leading, stride int
	switch {
	case m.trans && m.span == 0: // 8 k of 16 bytes of rows; stride to the next rows, leading to the next k
		stride, leading = 128, 128*(rows*size/16)
	case m.trans: // 8 k of a span of rows; leading to the next rows, stride to the next k
		leading, stride = 8*m.span, 8*m.span*max(1, rows*size/m.span)
	case m.span == 0: // 8 rows of 16 bytes of k; stride to the next rows, leading to the next k
		stride, leading = 128, 16*rows
	default:
		stride = 8 * m.span
	}
	return uint64(leading)>>4<<16 | uint64(stride)>>4<<32 | map[int]uint64{0: 0, 128: 1, 64: 2, 32: 3}[m.span]<<62
}

// descriptor makes the descriptor of a tile that begins at an offset.
func (w *writer) descriptor(register string, at int, layout uint64) {
	w.line("mov.u32 %%w, tile; add.u32 %%w, %%w, %d; shr.u32 %%w, %%w, 4; and.b32 %%w, %%w, 0x3fff; cvt.u64.u32 %s, %%w; or.b64 %s, %s, %#x;", at, register, register, register, layout)
}
