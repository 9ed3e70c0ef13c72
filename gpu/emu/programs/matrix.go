package programs

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// matrixPrograms multiply matrices and move them between registers and shared
// memory, each with eight warps whose data have different ranges.
func matrixPrograms() []Program {
	var all []Program
	for _, m := range products {
		for n := range 2 {
			all = append(all, m.program(fmt.Sprintf("mma %s %s %d", m.shape, m.types, n)))
		}
	}
	for _, m := range wholes {
		for n, layouts := range []string{"row row row", "row col row", "col row col", "col col col"} {
			all = append(all, m.program(fmt.Sprintf("wmma %s %s %d", m.shape, m.types, n), strings.Fields(layouts)))
		}
	}
	all = append(all, movePrograms()...)
	return append(all, hopperPrograms()...)
}

// product is an mma.sync: its types of d, a, b, c and its registers of each.
type product struct {
	shape, types string
	d, a, b      int // registers; c has as many as d
	options      string
	version      string // of PTX; 8.0 if empty
	sparse       string // the modifier of a sparse product
	selector     int
}

var products = []product{
	{shape: "m16n8k8", types: "f16.f16.f16.f16", d: 2, a: 2, b: 1}, {shape: "m16n8k16", types: "f16.f16.f16.f16", d: 2, a: 4, b: 2},
	{shape: "m16n8k8", types: "f32.f16.f16.f32", d: 4, a: 2, b: 1}, {shape: "m16n8k16", types: "f32.f16.f16.f32", d: 4, a: 4, b: 2},
	{shape: "m16n8k8", types: "f32.bf16.bf16.f32", d: 4, a: 2, b: 1}, {shape: "m16n8k16", types: "f32.bf16.bf16.f32", d: 4, a: 4, b: 2},
	{shape: "m16n8k4", types: "f32.tf32.tf32.f32", d: 4, a: 2, b: 1}, {shape: "m16n8k8", types: "f32.tf32.tf32.f32", d: 4, a: 4, b: 2},
	{shape: "m8n8k4", types: "f64.f64.f64.f64", d: 2, a: 1, b: 1}, {shape: "m16n8k4", types: "f64.f64.f64.f64", d: 4, a: 2, b: 1},
	{shape: "m16n8k8", types: "f64.f64.f64.f64", d: 4, a: 4, b: 2}, {shape: "m16n8k16", types: "f64.f64.f64.f64", d: 4, a: 8, b: 4},
	{shape: "m8n8k16", types: "s32.s8.s8.s32", d: 2, a: 1, b: 1}, {shape: "m16n8k16", types: "s32.s8.s8.s32", d: 4, a: 2, b: 1}, {shape: "m16n8k32", types: "s32.s8.u8.s32", d: 4, a: 4, b: 2},
	{shape: "m16n8k32", types: "s32.u8.s8.s32", d: 4, a: 4, b: 2, options: ".satfinite"}, {shape: "m16n8k16", types: "s32.u8.u8.s32", d: 4, a: 2, b: 1, options: ".satfinite"},
}

const matrixWarps = 8

func (m product) program(name string) Program {
	p := Program{Name: name, Blocks: 1, Threads: 32 * matrixWarps}
	r := source(name)
	t := strings.Split(m.types, ".")
	var w writer
	w.headerFor(m.version, "sm_90")
	w.entry()
	k := 0
	for i, n := range []int{m.d, m.a, m.b, m.d} {
		typ := fragmentType(t[i])
		w.line(".reg .%s %%%c<%d>;", typ, "dabc"[i], n)
		for j := range n {
			if i == 0 {
				continue
			}
			p.In = append(p.In, elements(r, t[i], p.Size())...)
			w.load(fmt.Sprintf("%%%c%d", "dabc"[i], j), typ, k, p.Size())
			k++
		}
	}
	sparse := ""
	if m.sparse != "" {
		sparse = fmt.Sprintf(", %%e, %d", m.selector)
		w.line(".reg .b32 %%e;")
		p.In = append(p.In, metadata(r, t[1], strings.Contains(m.sparse, "ordered"), p.Size())...)
		w.load("%e", "b32", k, p.Size())
	}
	w.line("mma%s.sync.aligned.%s.row.col%s.%s %s, %s, %s, %s%s;", m.sparse, m.shape, m.options, m.types, registers("d", m.d), registers("a", m.a), registers("b", m.b), registers("c", m.d), sparse)
	for j := range m.d {
		w.store(j, p.Size(), fragmentType(t[0]), fmt.Sprintf("%%d%d", j))
		p.Rows = append(p.Rows, fmt.Sprintf("register %d", j))
	}
	w.end()
	p.Text = w.String()
	return p
}

// registers lists %a0 to %a(n-1) in braces.
func registers(letter string, n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("%%%s%d", letter, i))
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// fragmentType is the type of a register of a fragment.
func fragmentType(t string) string {
	if t == "f32" || t == "f64" {
		return t
	}
	return "b32"
}

// elements makes one register of each thread. Its contents depend on the warp: small
// integers, numbers near 1, of any size, corners, subnormal numbers, or some that are
// far larger than the others.
func elements(r *rand.Rand, t string, size int) []uint64 {
	v := make([]uint64, size)
	for i := range v {
		switch t {
		case "f16", "bf16":
			v[i] = element(r, t, i/32) | element(r, t, i/32)<<16
		case "e4m3", "e5m2":
			for range 4 {
				v[i] = v[i]<<8 | element(r, t, i/32)
			}
		case "s8", "u8", "s32":
			if v[i] = uint64(r.Uint32()); i/32 == 3 {
				v[i] = pick[uint64](r, 0x7fffffff, 0x80000000, 0x80808080, 0x7f7f7f7f, 0xffffffff)
			}
		default:
			v[i] = element(r, t, i/32)
		}
	}
	return v
}

// formats are the float types: bits of exponent and fraction, and of the rest below the
// fraction in the register.
var formats = map[string]struct{ exponent, fraction, below int }{
	"f16": {5, 10, 0}, "bf16": {8, 7, 0}, "tf32": {8, 10, 13}, "e4m3": {4, 3, 0}, "e5m2": {5, 2, 0}, "f32": {8, 23, 0}, "f64": {11, 52, 0},
}

func element(r *rand.Rand, t string, warp int) uint64 {
	f := formats[t]
	bias := 1<<(f.exponent-1) - 1
	fraction := r.Uint64() >> (64 - f.fraction)
	sign := uint64(r.IntN(2))
	e := bias - 3 + r.IntN(6)
	switch warp {
	case 0: // a few bits: sums are exact
		fraction = fraction >> max(0, f.fraction-3) << max(0, f.fraction-3)
	case 1, 2:
	case 3: // of any size
		e = r.IntN(2 * bias)
	case 4: // few are large
		if e = bias - 8 + r.IntN(4); r.IntN(8) == 0 {
			e = bias + 4
		}
	case 5: // subnormal, or nearly
		e = r.IntN(3)
		if r.IntN(3) == 0 {
			e = bias
		}
	case 6: // spread over the width of the sum
		e = bias - 12 + r.IntN(20)
	default: // zeros, infinities, NaN and ones
		e = pick(r, 0, bias, bias, bias, bias, bias, bias+1, 2*bias)
		if fraction = 0; r.IntN(40) == 0 {
			e, fraction = 2*bias+1, uint64(r.IntN(4)/3)
		}
	}
	return (sign<<f.exponent|uint64(min(max(e, 0), 2*bias+1)))<<(f.fraction+f.below) | fraction<<f.below
}
